#!/usr/bin/env node
// The program `till`: hands the real world to the command line.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
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
    if (!force) return writeFileSync(path, text, { mode, flag: 'wx' })
    // Whoever is killed in the middle leaves the old one or the new one, never half of either.
    const temporary = `${path}.${process.pid}`
    writeFileSync(temporary, text, { mode })
    renameSync(temporary, path)
  },
  now: Date.now,
  randomBytes,
  client: {},
})
