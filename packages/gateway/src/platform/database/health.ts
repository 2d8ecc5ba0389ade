// What `tillgate doctor` wants to know of a database beyond being reachable.
import type { Pool } from './pool.ts'

export interface DatabaseHealth {
  readonly version: string
  readonly encoding: string
  /** Settings that are off although committed money depends on them. */
  readonly unsafe: readonly string[]
  readonly freeConnections: number
  readonly canCreateTables: boolean
  readonly nowMs: number
  /** Zero: none was noted. Undefined: the schema is not there yet. */
  readonly lastBackupMs: number | undefined
}

export async function readHealth(pool: Pool): Promise<DatabaseHealth> {
  const { rows } = await pool.query<
    Omit<DatabaseHealth, 'lastBackupMs' | 'nowMs'> & { nowMs: string; hasBackups: boolean }
  >(`
select current_setting('server_version')                                  as version,
       current_setting('server_encoding')                                 as encoding,
       array(select name from pg_settings
              where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
              order by name)                                               as unsafe,
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
         - (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer as "freeConnections",
       coalesce(has_schema_privilege(current_schema(), 'create'), false)   as "canCreateTables",
       (extract(epoch from clock_timestamp()) * 1000)::bigint              as "nowMs",
       to_regclass('backups') is not null                                  as "hasBackups"`)
  const [row] = rows
  if (!row) throw new Error('a select without from has one row')
  const { hasBackups, nowMs, ...health } = row
  const { rows: backups } = hasBackups
    ? await pool.query<{ last: string }>('select coalesce(max(taken_at), 0) as last from backups')
    : { rows: [] }
  return { ...health, nowMs: Number(nowMs), lastBackupMs: backups[0] && Number(backups[0].last) }
}
