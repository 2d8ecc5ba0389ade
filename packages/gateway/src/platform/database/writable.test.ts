import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../../../test/support/database.ts'
import { withDatabase } from './connection.ts'
import { openPool } from './pool.ts'
import { checkWritable } from './writable.ts'

const { pool, connection } = await freshDatabase()
const { rows } = await pool.query<{ newest: number | null }>('select max(number) as newest from migrations')
const newest = rows[0]?.newest ?? 0
await pool.query(`insert into migrations values ($1, 'next', '', 0)`, [newest + 1])

test('a database with this schema or a newer one is writable', async () => {
  assert.deepEqual(await checkWritable(pool, newest + 1), { kind: 'writable' })
  assert.deepEqual(await checkWritable(pool, newest), { kind: 'writable' })
})

test('a database without this schema is not writable', async () => {
  assert.deepEqual(await checkWritable(pool, newest + 2), { kind: 'schema_missing' })
  await pool.transaction(async (client) => {
    await client.query('alter table migrations rename to elsewhere')
  })
  assert.deepEqual(await checkWritable(pool, newest), { kind: 'schema_missing' })
  await pool.query('alter table elsewhere rename to migrations')
})

test('a read-only database is not writable', async (t) => {
  const name = (await pool.query<{ name: string }>('select current_database() as name')).rows[0]?.name ?? ''
  await pool.query(`alter database ${name} set default_transaction_read_only = on`)
  const readOnly = openPool(withDatabase(connection, name), { max: 1 })
  t.after(() => readOnly.close())
  const outcome = await checkWritable(readOnly, newest)
  assert.ok(outcome.kind === 'not_writable' && /read-only/.test(outcome.reason), JSON.stringify(outcome))
  await pool.query(`alter database ${name} reset default_transaction_read_only`)
})

test('an unreachable database is not writable, and does not throw', async (t) => {
  const away = openPool({ host: '/no/such', port: 5432, user: 'x', database: 'x', ssl: false })
  t.after(() => away.close())
  assert.equal((await checkWritable(away, newest)).kind, 'not_writable')
})

test('a running migration does not delay the result', async () => {
  await pool.transaction(async (client) => {
    await client.query('lock table migrations in share row exclusive mode')
    assert.deepEqual(await checkWritable(pool, newest), { kind: 'writable' })
  })
})

test('the check writes to disk, so that a full disk fails it', async (t) => {
  const alone = openPool(connection, { max: 1 })
  t.after(() => alone.close())
  const temporaryBytes = async () => {
    // A session's counts are visible, even to itself, only from its next statement.
    await alone.query('select pg_stat_force_next_flush()')
    const { rows: counted } = await alone.query<{ bytes: string }>(
      'select temp_bytes as bytes from pg_stat_database where datname = current_database()',
    )
    return Number(counted[0]?.bytes)
  }
  const before = await temporaryBytes()
  assert.deepEqual(await checkWritable(alone, newest), { kind: 'writable' })
  assert.ok((await temporaryBytes()) >= before + 100_000)
})
