// Returns a session on a running server, whatever the folder's state: no server, a starting or stopping one, one that
// another gateway is starting, or a killed one.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { codeOf } from '../../runtime/errors.ts'
import { exitCodes, StartFailure } from '../../runtime/start-failure.ts'
import type { ConnectionOptions } from '../connection.ts'
import { isTransient } from '../transient.ts'
import { type Cluster, superuser } from './cluster-folder.ts'
import { type Settings, type StartAttempt, startPostmaster } from './postmaster.ts'
import { isServed, readPostmasterFile, removeStrayLocks } from './postmaster-file.ts'
import { fatalLines, isLockedOut } from './server-words.ts'
import { socketFolderFor } from './socket-folder.ts'

/** Every gateway holds this lock shared. A gateway that gets the lock exclusively may stop the server. */
export const presenceLock = 7_455_001

export const databaseName = 'tillgate'

const pollMs = 10
/** A server that hangs accepts connections without responding. */
const connectMaxMs = 5_000
const reportEveryMs = 5_000
/** Limits how long an unresponsive server may neither start nor stop. Recovery is not limited. */
const silenceMaxMs = 30_000
const giveUpMaxMs = 5_000

export interface Running {
  readonly presence: pg.Client
  readonly connection: ConnectionOptions
  readonly pid: number
  readonly startedByUs: boolean
}

export type WaitEvent =
  | { readonly kind: 'starting' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly waitedMs: number }

export async function ensureRunning(
  cluster: Cluster,
  {
    settings,
    signal,
    report,
  }: { settings: Settings; signal: AbortSignal; report: (event: WaitEvent) => void },
): Promise<Running> {
  const began = performance.now()
  let answeredAt = began
  let attemptedAt = began
  let reportedAt = began
  let attempt: StartAttempt | undefined
  let startedByUs = false
  for (;;) {
    // A server that this process started is returned even if the wait was aborted, so that the caller can stop it.
    const isOurs = attempt !== undefined && attempt.exited() === undefined
    if (signal.aborted && !(isOurs && performance.now() - attemptedAt < giveUpMaxMs)) throw signal.reason
    const postmaster = await readPostmasterFile(cluster.folder)
    let reason = 'it does not answer'
    if (postmaster !== undefined) {
      const connection = connectionTo(postmaster.socketFolder)
      const outcome = await takePresence(connection)
      if (outcome.kind === 'present') {
        return { presence: outcome.client, connection, pid: postmaster.pid, startedByUs }
      }
      reason = outcome.reason
      if (outcome.kind === 'busy') answeredAt = performance.now()
    }

    const exited = attempt?.exited()
    if (attempt !== undefined && exited !== undefined) {
      const words = await attempt.words()
      // Another gateway's server holds the folder, or processes of a killed server are still exiting.
      if (!isLockedOut(words) || performance.now() - answeredAt > silenceMaxMs) {
        const reason = fatalLines(words) || `It wrote no reason to ${cluster.logFile}; is the disk full?`
        throw unavailable(`PostgreSQL did not start (${exited.reason}):\n${reason}`)
      }
      attempt = undefined
      startedByUs = false
    }
    if (attempt === undefined && !(await isServed(cluster.folder))) {
      await removeStrayLocks(cluster.folder, await socketFolderFor(cluster.folder, cluster))
      attempt = await startPostmaster(cluster, settings)
      report({ kind: 'starting' })
      startedByUs = true
      attemptedAt = performance.now()
    }

    const now = performance.now()
    if (now - answeredAt > silenceMaxMs) {
      throw unavailable(
        `A PostgreSQL (process ${postmaster?.pid ?? attempt?.pid ?? 'unknown'}) holds ${cluster.folder} but cannot be used: ${reason}.\n` +
          `Its log is ${cluster.logFile}. Stop that process, then start again.`,
      )
    }
    if (now - reportedAt > reportEveryMs) {
      reportedAt = now
      report({ kind: 'waiting', reason, waitedMs: Math.round(now - began) })
    }
    await pause(pollMs)
  }
}

function unavailable(message: string): StartFailure {
  return new StartFailure(message, { exitCode: exitCodes.unavailable })
}

export function connectionTo(socketFolder: string): ConnectionOptions {
  return { host: socketFolder, port: 5432, user: superuser, database: databaseName, ssl: false }
}

type Presence =
  | { readonly kind: 'present'; readonly client: pg.Client }
  | { readonly kind: 'busy'; readonly reason: string }
  | { readonly kind: 'silent'; readonly reason: string }

async function takePresence(connection: ConnectionOptions): Promise<Presence> {
  const client = new pg.Client({
    ...connection,
    application_name: 'tillgate presence',
    connectionTimeoutMillis: connectMaxMs,
  })
  // Without a listener, a lost idle connection would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    // Waits while a stopping gateway holds the lock exclusively. The server then stops, and this session ends.
    await client.query('select pg_advisory_lock_shared($1)', [presenceLock])
    return { kind: 'present', client }
  } catch (error) {
    await client.end().catch(() => {})
    const code = codeOf(error)
    if (code === '3D000') return createDatabase(connection)
    const reason = error instanceof Error ? error.message : String(error)
    if (code === 'EACCES') return { kind: 'silent', reason: `this user may not use its socket (${reason})` }
    if (!isTransient(error))
      throw new StartFailure(`PostgreSQL refused the gateway: ${reason}`, { cause: error })
    // An SQLSTATE means that a server responded: it is starting, stopping or full.
    return {
      kind: code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? 'busy' : 'silent',
      reason,
    }
  }
}

async function createDatabase(connection: ConnectionOptions): Promise<Presence> {
  const client = new pg.Client({ ...connection, database: 'postgres', application_name: 'tillgate' })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`create database ${databaseName}`)
  } catch (error) {
    const code = codeOf(error)
    // 42P04 and 23505: another gateway created the database concurrently. 55006: another gateway is copying the
    // template.
    const isRivals = code === '42P04' || code === '23505' || code === '55006'
    if (!isRivals && !isTransient(error)) throw error
  } finally {
    await client.end().catch(() => {})
  }
  return { kind: 'busy', reason: 'its database is being made' }
}
