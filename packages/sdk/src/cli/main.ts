#!/usr/bin/env node
// The program `till`: hands the real world to the command line.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { runTill } from './till.ts'

// `till … | head` closes the pipe before all is written; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runTill(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true,
  environment: process.env,
  readFile: (path) => readFileSync(path === '-' ? 0 : path),
  fileExists: existsSync,
  writeFile: (path, text, { mode, force }) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode, flag: force ? 'w' : 'wx' })
  },
  now: Date.now,
  randomBytes,
  client: {},
})
