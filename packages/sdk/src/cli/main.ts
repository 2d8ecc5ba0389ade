#!/usr/bin/env node
// The program `till`: connects the command line to the process.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { runTill } from './till.ts'

// `till … | head` closes the pipe early; that is not an error.
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
    if (!force) return writeFileSync(path, text, { mode, flag: 'wx' })
    // Written to a temporary file first, so that a killed process leaves the old or the new file, never a part.
    const temporary = `${path}.${process.pid}`
    writeFileSync(temporary, text, { mode })
    renameSync(temporary, path)
  },
  now: Date.now,
  randomBytes,
  client: {},
})
