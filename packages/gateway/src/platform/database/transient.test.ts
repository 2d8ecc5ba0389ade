import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { isDataError } from './data-error.ts'
import { CommitUnknown, isStatementError, isTransient, PoolBusy } from './transient.ts'

function sqlError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('words', 5, 'error'), { code })
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code })
}

test('a database that is unreachable, restarting, full or busy is a transient failure', () => {
  const codes = [
    '57P01',
    '57P02',
    '57P03',
    '08000',
    '08006',
    '53300',
    '53100',
    '57014',
    '40P01',
    '40001',
    '25006',
  ]
  for (const code of codes) assert.equal(isTransient(sqlError(code)), true, code)
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT']) {
    assert.equal(isTransient(systemError(code)), true, code)
  }
  const driverWords = [
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ]
  for (const words of driverWords) assert.equal(isTransient(new Error(words)), true, words)
  assert.equal(isTransient(new CommitUnknown(new Error())), true)
  assert.equal(isTransient(new PoolBusy(1)), true)
  const both = [systemError('ECONNREFUSED'), systemError('ECONNREFUSED')]
  assert.equal(isTransient(new AggregateError(both)), true)
})

test('after a server panic, the database is unreachable, the session ends, and the outcome is unknown', () => {
  for (const code of ['58030', '53100', 'XX000']) {
    const panic = Object.assign(sqlError(code), { severity: 'PANIC' })
    assert.equal(isTransient(panic), true, code)
    assert.equal(isStatementError(panic), false, code)
  }
  assert.equal(isStatementError(sqlError('58030')), false)
})

test('an unreachable cluster worker or a moving shard is transient, other internal errors are not', () => {
  const internal = (message: string, more: object = {}) =>
    Object.assign(new pg.DatabaseError(message, 5, 'error'), { code: 'XX000', ...more })
  for (const message of [
    'failure on connection marked as essential: 10.0.0.2:5432',
    'could not find valid entry for shard 102008',
  ])
    assert.equal(isTransient(internal(message)), true, message)
  assert.equal(isTransient(internal('failed to COPY to shard 102044', { code: '58030' })), true)
  const where = 'while executing command on 10.0.0.2:5432'
  assert.equal(isTransient(internal('SSL SYSCALL error: EOF detected', { where })), true)
  assert.equal(isTransient(internal('could not read block 3', { code: '58030' })), false)
  // A worker's rejection of a batch has no code. It is an error of the data.
  const duplicate = internal('duplicate key value violates unique constraint "orders_pkey_102047"', { where })
  assert.deepEqual([isTransient(duplicate), isDataError(duplicate)], [false, true])
  assert.equal(isTransient(internal('cache lookup failed for type 1')), false)
})

test('an invalid statement, a violated constraint and a bug are not transient', () => {
  for (const code of ['23505', '23514', '42P01', '42601', '22003', '28P01', '3D000', '08P01']) {
    assert.equal(isTransient(sqlError(code)), false, code)
  }
  for (const error of [
    new TypeError('x is not a function'),
    systemError('EACCES'),
    'ECONNREFUSED',
    undefined,
  ]) {
    assert.equal(isTransient(error), false, String(error))
  }
  assert.equal(isTransient(new AggregateError([])), false)
  assert.equal(isTransient(new AggregateError([systemError('ECONNREFUSED'), new TypeError('bug')])), false)
})

test('a connection survives an error of a statement, and no other error', () => {
  for (const code of ['23505', '42601', '40001', '57014'])
    assert.equal(isStatementError(sqlError(code)), true)
  for (const code of ['57P01', '57P05', '25P03', '08006'])
    assert.equal(isStatementError(sqlError(code)), false)
  assert.equal(isStatementError(new Error('Query read timeout')), false)
  assert.equal(isStatementError(systemError('ECONNRESET')), false)
})
