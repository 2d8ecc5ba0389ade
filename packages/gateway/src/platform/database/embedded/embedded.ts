// The embedded PostgreSQL: found or started under DATA_DIR, kept alive, shared by all gateways on that folder, and
// stopped by the last of them.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf } from '../../runtime/errors.ts'
import type { ConnectionOptions } from '../connection.ts'
import { findBinaries } from './binaries.ts'
import { type Cluster, prepareCluster } from './cluster-folder.ts'
import { ensureRunning, presenceLock, type Running, type WaitEvent } from './ensure-running.ts'
import type { Settings } from './postmaster.ts'
import { isAlive, readPostmasterFile } from './postmaster-file.ts'

const pollMs = 10
const fastStopMaxMs = 10_000
const forcedStopMaxMs = 5_000
const retryFirstMs = 100
const retryMaxMs = 5_000

export type EmbeddedEvent =
  | WaitEvent
  | { readonly kind: 'creating'; readonly dataDir: string }
  | { readonly kind: 'running'; readonly pid: number; readonly startedByUs: boolean; readonly tookMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'recovered'; readonly pid: number; readonly tookMs: number }
  | { readonly kind: 'recovery_failed'; readonly reason: string; readonly retryInMs: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'stop_forced' }
  | { readonly kind: 'left_running' }

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly report?: (event: EmbeddedEvent) => void
  /** Override the defaults; only the gateway that starts the server applies them. */
  readonly settings?: Settings
  readonly signal?: AbortSignal
}

export interface Embedded {
  readonly connection: ConnectionOptions
  postmasterPid(): Promise<number | undefined>
  stop(): Promise<void>
}

export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, report = () => {}, settings = {} } = options
  const began = performance.now()
  const binaries = await findBinaries()
  const { fsync } = settings
  const cluster = await prepareCluster(dataDir, {
    binaries,
    durable: fsync !== 'off',
    onCreate: () => report({ kind: 'creating', dataDir }),
  })
  const stopping = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal
  const running = await ensureRunning(cluster, { settings, report, signal })
  if (signal.aborted) {
    await leave(running.presence, { cluster, report })
    throw signal.reason
  }
  const { pid, startedByUs } = running
  report({ kind: 'running', pid, startedByUs, tookMs: since(began) })
  const supervision = supervise(running, { cluster, settings, report, signal: stopping.signal })
  let stopped: Promise<void> | undefined
  return {
    connection: running.connection,
    postmasterPid: async () => (await readPostmasterFile(cluster.folder))?.pid,
    stop() {
      stopped ??= (async () => {
        stopping.abort()
        const presence = await supervision
        if (presence !== undefined) await leave(presence, { cluster, report })
      })()
      return stopped
    },
  }
}

async function supervise(
  first: Running,
  options: {
    cluster: Cluster
    settings: Settings
    signal: AbortSignal
    report: (event: EmbeddedEvent) => void
  },
): Promise<pg.Client | undefined> {
  const { cluster, settings, signal, report } = options
  let presence = first.presence
  let retryInMs = retryFirstMs
  for (;;) {
    const isLost = await endOf(presence, signal)
    if (!isLost) return presence
    report({ kind: 'lost' })
    const began = performance.now()
    for (;;) {
      try {
        const running = await ensureRunning(cluster, { settings, report, signal })
        presence = running.presence
        retryInMs = retryFirstMs
        report({ kind: 'recovered', pid: running.pid, tookMs: since(began) })
        break
      } catch (error) {
        if (signal.aborted) return undefined
        const reason = error instanceof Error ? error.message : String(error)
        report({ kind: 'recovery_failed', reason, retryInMs })
        await pause(retryInMs, undefined, { signal }).catch(() => {})
        if (signal.aborted) return undefined
        retryInMs = Math.min(retryInMs * 2, retryMaxMs)
      }
    }
  }
}

async function endOf(client: pg.Client, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onEnd = () => resolve(true)
  const onAbort = () => resolve(false)
  client.once('end', onEnd)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  // A session that ended before the listener was added fails its first query.
  client.query('select').catch(onEnd)
  try {
    return await promise
  } finally {
    client.removeListener('end', onEnd)
    signal.removeEventListener('abort', onAbort)
  }
}

// Two gateways that stop at once both release their shared lock before they request the exclusive lock, so the server
// never stays without an owner. A gateway that starts meanwhile waits for the server to stop and starts it again.
async function leave(
  presence: pg.Client,
  { cluster, report }: { cluster: Cluster; report: (event: EmbeddedEvent) => void },
): Promise<void> {
  try {
    await presence.query('select pg_advisory_unlock_shared($1)', [presenceLock])
    const { rows } = await presence.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
      presenceLock,
    ])
    // While our session lives, the file describes the server of this session.
    const postmaster = rows[0]?.alone ? await readPostmasterFile(cluster.folder) : undefined
    if (postmaster === undefined) {
      report({ kind: 'left_running' })
      return
    }
    process.kill(postmaster.pid, 'SIGINT')
    if (!(await isGone(postmaster.pid, fastStopMaxMs))) {
      // PostgreSQL recovers from an immediate stop as it does from a power failure.
      report({ kind: 'stop_forced' })
      process.kill(postmaster.pid, 'SIGQUIT')
      await isGone(postmaster.pid, forcedStopMaxMs)
    }
    report({ kind: 'stopped' })
  } catch (error) {
    // The server may already have stopped.
    const code = codeOf(error)
    const isServersEnd = code === 'ESRCH' || (await readPostmasterFile(cluster.folder)) === undefined
    report(isServersEnd ? { kind: 'stopped' } : { kind: 'left_running' })
  } finally {
    await presence.end().catch(() => {})
  }
}

async function isGone(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false
    await pause(pollMs)
  }
  return true
}

function since(began: number): number {
  return Math.round(performance.now() - began)
}
