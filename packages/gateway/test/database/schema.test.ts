// The baseline schema compared with the code that uses it, read from the catalog of a real database: no column without
// a use, no foreign key that would scan its table, no amount of money that nothing checks.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { drawnModules } from '../../../../scripts/documentation/database-drawing.ts'
import { freshDatabase } from '../support/database.ts'
import { migrationsFolder } from '../support/server.ts'

const source = join(import.meta.dirname, '../../src')
const { pool } = await freshDatabase()

/** The two kinds of account have tables of one shape, and the statements in this folder name them by a prefix. */
const accountTable = /^(operator|member)(s|_accounts|_sessions|_tries|_totp|_recovery_codes)$/
const accountStore = 'identity/accounts/store/'

/** The key that allows one row at most: no statement needs to name it. */
const unnamed = ['database_mode.is_only']
/** Kept for an auditor who reads the database; no page shows them. */
const evidence = ['reconciliation_days.audit_id']
/** Rows of these tables are never deleted and never get another key, so no constraint looks for their children. */
const permanent = ['bank_accounts', 'callback_endpoints', 'operators']

let files: readonly { readonly path: string; readonly text: string }[] = []
before(() => {
  files = globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts'] }).map((path) => ({
    path,
    text: readFileSync(join(source, path), 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, ''),
  }))
})

async function columns(): Promise<readonly string[]> {
  const { rows } = await pool.query<{ place: string }>(`
select c.relname || '.' || a.attname as place
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relnamespace = current_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
 order by c.relname, a.attnum`)
  return rows.map(({ place }) => place)
}

/** Columns that no file names beside their table; `text` is what is looked at of each file. */
async function unused(text: (file: string) => string): Promise<string[]> {
  const looked = files.map((file) => ({ path: file.path, words: new Set(text(file.text).match(/\w+/g)) }))
  return (await columns()).filter((place) => {
    const [table = '', column = ''] = place.split('.')
    const isShared = accountTable.test(table)
    return !looked.some(
      ({ path, words }) =>
        words.has(column) && (words.has(table) || (isShared && path.startsWith(accountStore))),
    )
  })
}

test('every column has a use', async () => {
  assert.deepEqual(await unused((text) => text), unnamed)
})

test('every column that is written is also read, or is evidence', async () => {
  const withoutInserts = (text: string) =>
    text.replaceAll(/\binsert into (\w+)[^(;`]*\([^)]*\)/g, 'insert into $1')
  assert.deepEqual(await unused(withoutInserts), [...unnamed, ...evidence].sort())
})

test('a foreign key has an index that begins with its columns, or its parents are permanent', async () => {
  const { rows } = await pool.query<{ child: string; parent: string }>(`
select f.conrelid::regclass::text as child, f.confrelid::regclass::text as parent
  from pg_constraint f
 where f.contype = 'f' and f.connamespace = current_schema::regnamespace
   and not exists (
     select from pg_index i
      where i.indrelid = f.conrelid and i.indpred is null
        and (i.indkey::smallint[])[0:cardinality(f.conkey) - 1] @> f.conkey)`)
  assert.deepEqual(
    rows.filter(({ parent }) => !permanent.includes(parent)),
    [],
  )
  for (const table of permanent) {
    const deletes = new RegExp(`delete\\s+from\\s+${table}\\b`)
    assert.deepEqual(
      files.filter(({ text }) => deletes.test(text)).map(({ path }) => path),
      [],
      `rows of ${table} are deleted: index the foreign keys that point at it`,
    )
  }
})

test('every amount of money has a CHECK', async () => {
  const { rows } = await pool.query<{ place: string }>(`
select a.attrelid::regclass || '.' || a.attname as place
  from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
 where t.relnamespace = current_schema::regnamespace and t.relkind in ('r', 'p')
   and a.atttypid = 'numeric'::regtype
   and not exists (
     select from pg_constraint c where c.contype = 'c' and c.conrelid = t.oid and a.attnum = any (c.conkey))`)
  assert.deepEqual(rows, [])
  const { rows: ofOtherTypes } = await pool.query(`
select table_name, column_name from information_schema.columns
 where table_schema = current_schema and column_name like '%\\_minor' and data_type <> 'numeric'`)
  assert.deepEqual(ofOtherTypes, [])
})

test('a new database comes from fewer than 1,300 lines of SQL', () => {
  const baseline = globSync('00{0[1-9],1[0-5]}-*.sql', { cwd: migrationsFolder })
  assert.equal(baseline.length, 15)
  const lines = baseline.map(
    (name) => readFileSync(join(migrationsFolder, name), 'utf8').split('\n').length - 1,
  )
  const sum = lines.reduce((total, count) => total + count, 0)
  assert(sum < 1_300, `${sum} lines`)
})

test('the drawing of the tables shows every table and every foreign key', async () => {
  const { rows } = await pool.query<{ name: string; references: string[] }>(`
select c.relname as name,
       array(select distinct f.confrelid::regclass::text collate "C" from pg_constraint f
              where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid order by 1) as references
  from pg_class c
 where c.relnamespace = current_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   and c.relname <> 'migrations'
 order by c.relname collate "C"`)
  const drawn = drawnModules()
    .flatMap(({ tables }) => tables)
    .map(({ name, references }) => ({ name, references: references.toSorted() }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  assert.deepEqual(drawn, rows)
})
