// Progress of callbacks is read through one view, because their own rows know only a part of it.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { freshDatabase } from '../support/database.ts'

const root = join(import.meta.dirname, '../../../..')
/** What the row of a callback that was acknowledged at once does not say. */
const progressColumns =
  /\b(attempts_made|first_attempt_at|last_attempt_at|next_attempt_at|last_outcome|last_http_status|delivered_at)\b/
const bareTable = /\b(from|join|update)\s+callbacks\b/
const writers = [
  'packages/gateway/src/core/callbacks/store/',
  'packages/gateway/src/sandbox/store/sandbox.ts',
  'packages/gateway/src/sandbox/store/sandbox-listens.ts',
  // Fills tables.
  'bench/past-rows.ts',
]

test('nobody but those who write it reads progress from the table of callbacks', () => {
  const readers = ['packages/gateway/src', 'reliability', 'bench']
    .flatMap((folder) => sourcesIn(join(root, folder)))
    .filter((path) => !writers.some((writer) => path.startsWith(writer)))
    .filter((path) => readsProgress(readFileSync(join(root, path), 'utf8')))
  assert.deepEqual(readers, [], 'read callbacks_with_progress instead')
})

test('a text that reads progress from the table is seen, and one that reads the view is not', () => {
  assert(readsProgress('const sql = `select callback_id\n  from callbacks\n where delivered_at is null`'))
  assert(
    readsProgress("const columns = 'attempts_made'\nconst sql = 'select ' + columns + ' from callbacks'"),
  )
  assert(!readsProgress('const sql = `select delivered_at from callbacks_with_progress`'))
  assert(!readsProgress('const sql = `select callback_id from callbacks`'))
})

test('the view has every column of the table', async () => {
  const { pool } = await freshDatabase()
  const { rows } = await pool.query<{ table_name: string; columns: string[] }>(
    `select table_name, array_agg(column_name::text order by column_name) as columns
       from information_schema.columns
      where table_schema = current_schema and table_name in ('callbacks', 'callbacks_with_progress')
      group by table_name
      order by table_name`,
  )
  assert.equal(rows.length, 2)
  assert.deepEqual(rows[1]?.columns, rows[0]?.columns)
})

function readsProgress(source: string): boolean {
  return bareTable.test(source) && progressColumns.test(source)
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => relative(root, join(folder, name)))
}
