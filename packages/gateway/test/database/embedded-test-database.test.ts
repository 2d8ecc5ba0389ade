// The test databases themselves: what every other suite stands on.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { migrationsFolder } from '../support/server.ts'

const { pool, connection } = await freshDatabase()

test('a fresh database has all migrations applied', async () => {
  const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql'))
  const { rows } = await pool.query<{ number: number }>('select number from migrations')
  assert.equal(rows.length, files.length)
})

test('two fresh databases know nothing of each other', async () => {
  const other = await freshDatabase()
  await other.pool.query('create table only_here ()')
  await assert.rejects(pool.query('select from only_here'), { code: '42P01' })
})

test('the databases that tests asked for are dropped when they are done', async (t) => {
  const client = new pg.Client(connection)
  await client.connect()
  t.after(() => client.end())
  const names = async () =>
    (await client.query<{ datname: string }>('select datname from pg_database')).rows.map(
      (row) => row.datname,
    )
  let name: string | undefined
  await t.test('a test with a database of its own', async () => {
    const own = await freshDatabase()
    name = (await own.pool.query<{ name: string }>('select current_database() as name')).rows[0]?.name
    assert.ok(name !== undefined && (await names()).includes(name))
  })
  assert.ok(name !== undefined && !(await names()).includes(name))
})
