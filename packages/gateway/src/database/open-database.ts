// The database that the configuration asks for, private or one's own, ready to use: running, reachable, and with
// the schema that this program knows.
import { type ConnectionOptions, parseDatabaseUrl } from './connection.ts'
import { type EmbeddedEvent, startEmbedded } from './embedded.ts'
import { migrate } from './migrate.ts'
import { openPool, type Pool } from './pool.ts'
import { type DatabaseAway, waitForDatabase } from './wait-for-database.ts'

export type DatabaseEvent =
  | EmbeddedEvent
  | DatabaseAway
  | { readonly kind: 'connection_lost'; readonly reason: string }
  | { readonly kind: 'migrated'; readonly applied: readonly string[] }

export interface DatabaseOptions {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly poolMax: number
  readonly migrationsFolder: string
  readonly tell: (event: DatabaseEvent) => void
  readonly signal: AbortSignal
}

export interface OpenDatabase {
  readonly pool: Pool
  readonly connection: ConnectionOptions
  readonly schemaNumber: number
  close(): Promise<void>
}

export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { connection, leave } = await reach(options)
  let closing = false
  const pool = openPool(connection, {
    max: options.poolMax,
    onConnectionLost: (error) => {
      if (!closing) options.tell({ kind: 'connection_lost', reason: error.message })
    },
  })
  const close = async () => {
    closing = true
    await pool.close()
    await leave()
  }
  try {
    const { schemaNumber, applied } = await migrate(pool, options.migrationsFolder)
    if (applied.length > 0) options.tell({ kind: 'migrated', applied })
    return { pool, connection, schemaNumber, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function reach({
  databaseUrl,
  dataDir,
  tell,
  signal,
}: DatabaseOptions): Promise<{ connection: ConnectionOptions; leave: () => Promise<void> }> {
  if (databaseUrl !== undefined) {
    const connection = parseDatabaseUrl(databaseUrl)
    await waitForDatabase(connection, { tell, signal })
    return { connection, leave: async () => {} }
  }
  const embedded = await startEmbedded({ dataDir, tell, signal })
  return { connection: embedded.connection, leave: () => embedded.stop() }
}
