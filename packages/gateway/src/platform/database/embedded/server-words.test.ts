import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fatalLines, isLockedOut } from './server-words.ts'

const stamp = '2026-11-15 01:29:11.957 UTC [4728] '

test('the reason is the last message of the highest severity, without times and numbers', () => {
  const words = [
    `${stamp}LOG:  starting PostgreSQL 18.4`,
    `${stamp}FATAL:  could not write lock file "postmaster.pid": No space left on device`,
    `${stamp}HINT:  Check free disk space.`,
    `${stamp}LOG:  database system is shut down`,
  ]
  assert.equal(
    fatalLines(words.join('\n')),
    'FATAL:  could not write lock file "postmaster.pid": No space left on device\nHINT:  Check free disk space.',
  )
})

test('messages about clients and competing servers are not the reason', () => {
  const words = [
    `${stamp}FATAL:  the database system is starting up`,
    `${stamp}FATAL:  lock file "postmaster.pid" already exists`,
    `${stamp}HINT:  Is another postmaster (PID 1) running in data directory "/data"?`,
    `${stamp}PANIC:  could not locate a valid checkpoint record`,
  ]
  assert.equal(fatalLines(words.join('\n')), 'PANIC:  could not locate a valid checkpoint record')
  assert.equal(isLockedOut(words.join('\n')), true)
  assert.equal(isLockedOut(words[3] ?? ''), false)
})

test('without a severity, the last line is the reason', () => {
  assert.equal(
    fatalLines('postgres: could not access directory "/x"\n'),
    'postgres: could not access directory "/x"',
  )
  assert.equal(fatalLines('1\n2\n3\n4\n5\n6\n'), '2\n3\n4\n5\n6')
  assert.equal(fatalLines('\n'), '')
})
