#!/usr/bin/env node
// The merchant's command line.
import { run } from './run.js'

run('dist/till.js')
