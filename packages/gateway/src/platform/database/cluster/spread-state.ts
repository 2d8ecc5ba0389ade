// Lists the distributed tables according to Citus; empty on PostgreSQL without Citus.
import type { Queryable } from '../pool.ts'

export async function readSpread(database: Queryable): Promise<ReadonlySet<string>> {
  const { rows: citus } = await database.query<{ there: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as there`,
  )
  if (!citus[0]?.there) return new Set()
  const { rows } = await database.query<{ name: string }>(
    `select c.oid::regclass::text as name
       from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where p.partmethod = 'h' and not c.relispartition`,
  )
  return new Set(rows.map(({ name }) => name))
}
