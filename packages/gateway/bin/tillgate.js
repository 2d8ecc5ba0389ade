#!/usr/bin/env node
// Starts the gateway, or runs a command of the operator's command line when one is given.
import { run } from './run.js'

const [command, ...rest] = process.argv.slice(2)
if (command === undefined || command === 'start')
  run('packages/gateway/start.js', { options: ['--max-semi-space-size=8'], args: rest })
else run('packages/gateway/tillgate.js')
