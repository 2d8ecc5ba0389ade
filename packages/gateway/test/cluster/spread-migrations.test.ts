// On a Citus cluster: a database that was spread at an early version takes every later migration, and is then as one that
// was migrated first and spread afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf, readCatalog } from '../../src/platform/database/catalog.ts'
import { spreadTables } from '../../src/platform/database/cluster/distribute.ts'
import { spreadTable } from '../../src/platform/database/cluster/migration-statements.ts'
import { readSpread } from '../../src/platform/database/cluster/spread-state.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { clusterDatabase, freshDatabase } from '../support/database.ts'
import { migrationsFolder } from '../support/server.ts'

/** Every column and every constraint of all tables but the partitions, as text; `not valid` apart, for a check that was added by itself is checked at once. */
async function shapeOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(`
select t.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
         || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as line
  from pg_class t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
 where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p', 'v') and not t.relispartition and t.relname !~ '^citus_'
 union all
select t.relname || ' ' || replace(pg_get_constraintdef(c.oid), ' NOT VALID', '')
  from pg_constraint c join pg_class t on t.oid = c.conrelid
 where c.connamespace = 'public'::regnamespace and not t.relispartition
 order by 1`)
  return rows.map(({ line }) => line)
}

test('a spread database takes every migration, and new tables of merchants are spread with it', async () => {
  const { pool } = await clusterDatabase()
  await migrate(pool, migrationsFolder, { upTo: 4 })
  const { tables } = await readCatalog(pool)
  for (const name of spreadTables.filter((each) => tables.some((table) => table.name === each)))
    await pool.query(spreadTable(name))
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at) values ('100000000000000001', 'Shop', 'active', 1)`,
  )
  const { applied } = await migrate(pool, migrationsFolder)
  assert.ok(applied.length > 8)
  assert.deepEqual([...(await readSpread(pool))].sort(), spreadTables.toSorted())
  assert.deepEqual(faultsOf(await readCatalog(pool)), [])
  const { pool: usual } = await freshDatabase()
  assert.deepEqual(await shapeOf(pool), await shapeOf(usual))
})
