// The state of the database and of waiting work.
import type { Pool } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'

export interface SystemState {
  readonly databaseVersion: string
  readonly databaseBytes: number
  readonly migrations: number
  readonly pool: { readonly total: number; readonly idle: number; readonly waiting: number }
  readonly authorizationsWaiting: number
  readonly oldestAuthorizationDueAtMs: number | undefined
  /** The longest overdue pending order. The expiry job keeps this empty. */
  readonly oldestExpiryAtMs: number | undefined
}

const shape = rowShape<Omit<SystemState, 'pool' | 'oldestExpiryAtMs'>>('state', {
  databaseVersion: "current_setting('server_version')",
  databaseBytes: number('pg_database_size(current_database())'),
  migrations: number('(select count(*) from migrations)'),
  authorizationsWaiting: number("(select count(*) from authorizations where kind <> 'held')"),
  oldestAuthorizationDueAtMs: number('(select min(due_at) from authorizations where due_at <= now_ms)'),
})

export async function readSystemState(database: Pool, nowMs: number): Promise<SystemState> {
  const { rows } = await database.query(
    sql`select ${shape.columns} from (select ${nowMs}::bigint as now_ms) as now`,
  )
  // A separate query, because orders may be on other machines.
  const { rows: overdue } = await database.query<{ oldest: string | null }>(sql`
select min(expires_at) as oldest from orders where status = 'pending' and expires_at <= ${nowMs}`)
  if (!rows[0]) throw new Error('a count answers one row')
  const oldest = overdue[0]?.oldest
  return {
    ...shape.read(rows[0]),
    oldestExpiryAtMs: oldest ? Number(oldest) : undefined,
    pool: database.counts(),
  }
}
