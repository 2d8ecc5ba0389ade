// Separates a temporarily unavailable database, which is reported as 50300 and retried, from a wrong statement, which
// is a bug or a Failure.
import pg from 'pg'
import { codeOf } from '../runtime/errors.ts'
import { isRefusedByWorker } from './data-error.ts'

/** The connection was lost after COMMIT was sent. Only reading shows whether the transaction committed. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while the transaction committed', { cause })
    this.name = 'CommitUnknown'
  }
}

export class PoolBusy extends Error {
  constructor(maxWaiting: number) {
    super(`${maxWaiting} callers wait for a database connection already`)
    this.name = 'PoolBusy'
  }
}

export const tooManyConnections = '53300'
export const deadlock = '40P01'
/** A server with a non-English locale words a panic differently; most panics have this code. */
const ioError = '58030'

/** The server ends the connection with these codes and with 08…. */
const endingSqlStates = new Set([
  '57P01', // terminated by an administrator, or the server stops
  '57P02', // another session crashed, all are reset
  '57P03', // starting up or shutting down
  '57P04', // the database was dropped
  '57P05', // idle session timeout
  '25P03', // idle in transaction timeout
  '25P04', // transaction timeout
  tooManyConnections,
])

export const readOnly = '25006'

/** Behind a pooler, the prepared statement is missing or belongs to another client. */
const notPreparedSqlStates = new Set(['26000', '42P05'])

const ownSqlStates = new Set([
  '40001', // serialization failure
  deadlock,
  '55P03', // lock not available
  '57014', // statement timeout
  '57P05', // idle session timeout
  '25P03', // idle in transaction timeout
  '25P04', // transaction timeout
  '53100', // disk full: reading works
  '53200', // out of memory
  tooManyConnections,
])

/** Nothing happened, and the same statement may succeed shortly. */
const passingSqlStates = new Set([
  '40001',
  deadlock,
  '53100', // disk full
  '53200', // out of memory
  '55P03', // lock not available
  '57014', // statement timeout
  readOnly, // another server is about to take over
])

const transientSystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENOENT', // the unix socket of a server that is not up
  'ENOTFOUND', // a name that is not known yet: containers start in any order
  'EAI_AGAIN',
])

// The driver gives these errors no code.
const transientMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|read ECONNRESET)/

/** Messages of a Citus coordinator while a worker is away or a shard moves. They have no codes of their own. */
const clusterMessages =
  /failure on connection marked as essential|could not find valid entry for shard|failed to COPY to shard|failed to execute task/
/** Without a code from the worker, its connection was lost. */
const clusterContext = /while executing command on/

function isOfCluster(error: Error): boolean {
  const context = error instanceof pg.DatabaseError ? (error.where ?? '') : ''
  return !isRefusedByWorker(error) && (clusterMessages.test(error.message) || clusterContext.test(context))
}

/** The disk fails and the server restarts. The transaction may have committed. */
function isPanic(error: Error): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'PANIC'
}

export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof CommitUnknown || error instanceof PoolBusy || isPanic(error)) return true
  // A name with several addresses fails with one error per address.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isTransient)
  const code = codeOf(error)
  if (code === undefined) return transientMessages.test(error.message)
  if (code === 'XX000' || code === ioError) return isOfCluster(error)
  // 08P01 is a protocol violation and therefore permanent.
  if (/^08[0-9A-Z]{3}$/.test(code)) return code !== '08P01'
  return (
    endingSqlStates.has(code) ||
    passingSqlStates.has(code) ||
    notPreparedSqlStates.has(code) ||
    transientSystemCodes.has(code)
  )
}

/** The failure affects more than one statement. */
export function isAway(error: unknown): boolean {
  if (!isTransient(error) || error instanceof PoolBusy) return false
  const code = codeOf(error)
  return code === undefined || !(notPreparedSqlStates.has(code) || ownSqlStates.has(code))
}

export function isNotPrepared(error: unknown): boolean {
  return error instanceof pg.DatabaseError && notPreparedSqlStates.has(error.code ?? '')
}

/** The server rejected a statement, and the connection stays usable. */
export function isStatementError(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined || isPanic(error)) return false
  return !endingSqlStates.has(error.code) && !error.code.startsWith('08') && error.code !== ioError
}
