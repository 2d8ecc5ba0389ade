// What the database can say about itself and about the work that waits in it.
import type { Pool } from '../../database/pool.ts'

export interface SystemState {
  readonly databaseVersion: string
  readonly databaseBytes: number
  readonly migrations: number
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number }
  readonly settlementsWaiting: number
  readonly oldestSettlementDueAtMs: number | undefined
  /** The longest overdue order that is still pending; the worker that expires orders keeps this empty. */
  readonly oldestExpiryAtMs: number | undefined
}

export async function readSystemState(database: Pool, nowMs: number): Promise<SystemState> {
  const { rows } = await database.query<{
    version: string
    bytes: string
    migrations: string
    settlements: string
    oldest_settlement: string | null
    oldest_expiry: string | null
  }>({
    text: `
select current_setting('server_version') as version,
       pg_database_size(current_database()) as bytes,
       (select count(*) from migrations) as migrations,
       (select count(*) from settlements) as settlements,
       (select min(due_at) from settlements where due_at <= $1) as oldest_settlement,
       (select min(expires_at) from orders where status = 'pending' and expires_at <= $1) as oldest_expiry`,
    values: [nowMs],
  })
  const [row] = rows
  if (!row) throw new Error('a count answers one row')
  return {
    databaseVersion: row.version,
    databaseBytes: Number(row.bytes),
    migrations: Number(row.migrations),
    pool: database.counts(),
    settlementsWaiting: Number(row.settlements),
    oldestSettlementDueAtMs: row.oldest_settlement === null ? undefined : Number(row.oldest_settlement),
    oldestExpiryAtMs: row.oldest_expiry === null ? undefined : Number(row.oldest_expiry),
  }
}
