// Opens the configured database, embedded or external: running, reachable, and migrated.
import { type ConnectionOptions, parseDatabaseUrl } from './connection.ts'
import type { EarlyEmbedded } from './embedded/early-embedded.ts'
import { type EmbeddedEvent, startEmbedded } from './embedded/embedded.ts'
import type { Settings } from './embedded/postmaster.ts'
import { migrate } from './migrate.ts'
import { openPool, type Pool } from './pool.ts'
import { type DatabaseAway, insist, waitForDatabase } from './wait-for-database.ts'

export type DatabaseEvent =
  | EmbeddedEvent
  | DatabaseAway
  | { readonly kind: 'connection_lost'; readonly reason: string }
  | { readonly kind: 'statements_not_kept' }
  | { readonly kind: 'migration_blocked' }
  | { readonly kind: 'migrated'; readonly applied: readonly string[] }

export interface ConnectOptions {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly poolMax: number
  /** How many processes share the embedded server (default 1). */
  readonly processes?: number
  /** The embedded server, if it is already being started. */
  readonly early?: EarlyEmbedded | undefined
  readonly isPreparing?: boolean
  /** 0 means no limit. Defaults to the pool's own limit. */
  readonly statementTimeoutMs?: number
  readonly report: (event: DatabaseEvent) => void
  readonly signal: AbortSignal
}

export interface DatabaseOptions extends ConnectOptions {
  readonly migrationsFolder: string
}

export interface ConnectedDatabase {
  readonly pool: Pool
  readonly connection: ConnectionOptions
  close(): Promise<void>
}

export interface OpenDatabase extends ConnectedDatabase {
  readonly schemaNumber: number
  /** Repeats a step of the start while the database is away. */
  insist<Result>(begin: () => Promise<Result>): Promise<Result>
}

export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { pool, connection, close } = await connectDatabase(options)
  const insistHere: OpenDatabase['insist'] = (begin) => insist(connection, options, begin)
  try {
    const { schemaNumber, applied } = await insistHere(() =>
      migrate(pool, options.migrationsFolder, {
        onBlocked: () => options.report({ kind: 'migration_blocked' }),
      }),
    )
    if (applied.length > 0) options.report({ kind: 'migrated', applied })
    return { pool, connection, schemaNumber, insist: insistHere, close }
  } catch (error) {
    await close()
    throw error
  }
}

export async function connectDatabase(options: ConnectOptions): Promise<ConnectedDatabase> {
  const { connection, leave } = await reach(options)
  let closing = false
  const { statementTimeoutMs } = options
  const pool = openPool(connection, {
    max: options.poolMax,
    ...(options.isPreparing !== undefined && { isPreparing: options.isPreparing }),
    onNotPrepared: () => options.report({ kind: 'statements_not_kept' }),
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    onConnectionLost: (error) => {
      if (!closing) options.report({ kind: 'connection_lost', reason: error.message })
    },
  })
  return {
    pool,
    connection,
    async close() {
      closing = true
      await pool.close()
      await leave()
    },
  }
}

async function reach({
  databaseUrl,
  dataDir,
  poolMax,
  processes,
  early,
  report,
  signal,
}: ConnectOptions): Promise<{ connection: ConnectionOptions; leave: () => Promise<void> }> {
  if (databaseUrl !== undefined) {
    const connection = parseDatabaseUrl(databaseUrl)
    await waitForDatabase(connection, { report, signal })
    return { connection, leave: async () => {} }
  }
  const embedded = await (early?.take({ report, signal }) ??
    startEmbedded({ dataDir, settings: embeddedSettings({ processes, poolMax }), report, signal }))
  return { connection: embedded.connection, leave: () => embedded.stop() }
}

/** PostgreSQL's default. */
const leastConnections = 100
/** Left for the command line and for another gateway on the same folder. */
const spareConnections = 20

/**
 * Each process has a pool, a listening session, and a session for its presence lock. One of these may be
 * reconnecting.
 */
export function embeddedSettings({
  processes = 1,
  poolMax,
}: {
  processes: number | undefined
  poolMax: number
}): Settings {
  const connections = Math.max(leastConnections, (processes + 1) * (poolMax + 2) + spareConnections)
  return { max_connections: String(connections) }
}
