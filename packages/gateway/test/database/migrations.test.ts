// The migration runner on a real database: order, races, and everything that must stop a start.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { withDatabase } from '../../src/platform/database/connection.ts'
import {
  developmentChecksum,
  MigrationFailure,
  type MigrationTrouble,
  migrate,
} from '../../src/platform/database/migrate.ts'
import { openPool, type Pool, type PoolOptions } from '../../src/platform/database/pool.ts'
import { freshDatabase } from '../support/database.ts'
import { migrationsFolder } from '../support/server.ts'

const { connection } = await freshDatabase()
const home = await mkdtemp(path.join(os.tmpdir(), 'tillgate-migrations-'))
after(() => rm(home, { recursive: true, force: true }))

type Files = Readonly<Record<string, string>>
type Cleanup = { after(step: () => Promise<void>): void }
let count = 0

/** An empty database on the run's server, without the gateway's own tables. */
async function emptyDatabase(t: Cleanup, pools = 1, options: PoolOptions = {}): Promise<readonly Pool[]> {
  const name = `migrations_${process.pid}_${count++}`
  const admin = new pg.Client(connection)
  await admin.connect()
  await admin.query(`create database ${name} template template0`)
  const opened = Array.from({ length: pools }, () =>
    openPool(withDatabase(connection, name), { max: 2, ...options }),
  )
  t.after(async () => {
    for (const pool of opened) await pool.close()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  return opened
}

async function folderWith(files: Files): Promise<string> {
  const folder = await mkdtemp(path.join(home, 'set-'))
  for (const [name, sql] of Object.entries(files)) await writeFile(path.join(folder, name), sql)
  return folder
}

async function rows(pool: Pool, sql: string): Promise<unknown[]> {
  return (await pool.query(sql)).rows
}

async function refuses(pool: Pool, folder: string, trouble: MigrationTrouble, words: RegExp): Promise<void> {
  await assert.rejects(migrate(pool, folder), (error) => {
    assert.ok(error instanceof MigrationFailure, String(error))
    assert.equal(error.trouble, trouble)
    assert.match(error.message, words)
    return true
  })
}

const one = { '0001-first.sql': 'create table first (id integer); insert into first values (1);' }
const two = { ...one, '0002-second-step.sql': 'alter table first add column name text;' }

test('migrations are applied in order, once, and remembered', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  const folder = await folderWith(two)
  const now = () => 1_794_700_000_000
  assert.deepEqual(await migrate(pool, folder, { now }), {
    schemaNumber: 2,
    applied: ['0001-first.sql', '0002-second-step.sql'],
  })
  assert.deepEqual(await migrate(pool, folder), { schemaNumber: 2, applied: [] })
  assert.deepEqual(await rows(pool, 'select id, name from first'), [{ id: 1, name: null }])
  assert.deepEqual(await rows(pool, 'select number, name, applied_at, length(checksum) from migrations'), [
    { number: 1, name: 'first', applied_at: '1794700000000', length: 64 },
    { number: 2, name: 'second-step', applied_at: '1794700000000', length: 64 },
  ])
})

test('a database from an older release gets the new ones only', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  await migrate(pool, await folderWith(one))
  const { applied } = await migrate(pool, await folderWith(two))
  assert.deepEqual(applied, ['0002-second-step.sql'])
  assert.deepEqual(await rows(pool, 'select count(*)::integer as n from first'), [{ n: 1 }])
})

test('gateways that start at once take turns: each migration is applied by exactly one', async (t) => {
  const pools = await emptyDatabase(t, 6)
  const folder = await folderWith({
    ...two,
    '0003-slow.sql': 'create table third (); select pg_sleep(0.2);',
    '0004-fourth.sql': 'create table fourth ();',
  })
  const all = await Promise.all(pools.map((pool) => migrate(pool, folder)))
  assert.ok(all.every(({ schemaNumber }) => schemaNumber === 4))
  const applied = all.flatMap((outcome) => outcome.applied).sort()
  assert.deepEqual(applied, await readdir(folder).then((names) => names.sort()))
})

test('a gateway waits while another one migrates, past the usual limit of a statement', async (t) => {
  const [pool, other] = (await emptyDatabase(t, 2, { statementTimeoutMs: 1 })) as [Pool, Pool]
  await migrate(pool, await folderWith(one))
  const holds = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const holding = other.transaction(
    async (client) => {
      await client.query('lock table migrations in share row exclusive mode')
      holds.resolve()
      await letGo.promise
    },
    { statementTimeoutMs: 0 },
  )
  await holds.promise
  const migrating = migrate(pool, await folderWith(two))
  // It waits for the lock, as the server itself tells; that is no time span of ours.
  const isWaiting = `select count(*)::integer as n from pg_locks
                     where not granted and relation = 'migrations'::regclass`
  while ((await rows(other, isWaiting)).some((row) => (row as { n: number }).n === 0));
  letGo.resolve()
  await holding
  assert.deepEqual((await migrating).applied, ['0002-second-step.sql'])
})

test('a migration that waits for a table lets others pass meanwhile, as during a backup', async (t) => {
  const [pool, other] = (await emptyDatabase(t, 2)) as [Pool, Pool]
  await migrate(pool, await folderWith(one))
  const blocked = Promise.withResolvers<void>()
  const holds = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const reading = other.transaction(
    async (client) => {
      await client.query('select id from first')
      holds.resolve()
      await letGo.promise
    },
    { statementTimeoutMs: 0 },
  )
  await holds.promise
  const migrating = migrate(pool, await folderWith(two), { onBlocked: blocked.resolve })
  await blocked.promise
  // Behind a lock that is waited for without an end it would wait as long.
  assert.deepEqual(await rows(other, 'select id from first'), [{ id: 1 }])
  letGo.resolve()
  await reading
  assert.deepEqual((await migrating).applied, ['0002-second-step.sql'])
})

test('a migration that fails leaves nothing behind, names the line, and can be mended', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  const bad = { ...one, '0002-bad.sql': 'create table half ();\nalter table first\n  add colum name text;' }
  await refuses(
    pool,
    await folderWith(bad),
    'failed',
    /^Migration 0002-bad\.sql failed: syntax error.*line 3/,
  )
  assert.deepEqual(await rows(pool, `select to_regclass('half') as half`), [{ half: null }])
  assert.deepEqual(await rows(pool, 'select number from migrations'), [{ number: 1 }])
  const mended = { ...one, '0002-bad.sql': 'create table half ();' }
  assert.deepEqual((await migrate(pool, await folderWith(mended))).applied, ['0002-bad.sql'])
})

test('an applied migration that was edited refuses to start, by a single byte', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  await migrate(pool, await folderWith(one))
  const edited = { ...two, '0001-first.sql': `${one['0001-first.sql']} ` }
  await refuses(pool, await folderWith(edited), 'edited', /0001-first\.sql is not the one that was applied/)
  assert.deepEqual(await rows(pool, 'select number from migrations'), [{ number: 1 }])
})

test('a database newer than the program refuses to start', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  await migrate(pool, await folderWith(two))
  await refuses(
    pool,
    await folderWith(one),
    'newer',
    /newer than this program: it has migration 0002-second-step/,
  )
})

test('a database of a development version from before 1.0 is rejected with the commit that can export it', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  await migrate(pool, await folderWith(two))
  await pool.query('update migrations set checksum = $1 where number = 1', [developmentChecksum])
  await refuses(
    pool,
    await folderWith(one),
    'development',
    /before 1\.0.*\nStart commit [0-9a-f]{8} to export/,
  )
})

test('a table of migrations with a hole refuses to start', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  await migrate(pool, await folderWith(two))
  await pool.query('delete from migrations where number = 1')
  await refuses(pool, await folderWith(two), 'unknown', /lacks migration 1/)
})

test('files with a missing, double or unreadable number refuse to start', async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  const wrong: readonly (readonly [Files, RegExp])[] = [
    [{ ...one, '0003-third.sql': '' }, /number 0002 is missing/],
    [{ '0002-second.sql': '' }, /number 0001 is missing/],
    [{ ...one, '0001-other.sql': '' }, /number 0001 is there twice/],
    [{ ...one, '2-second.sql': '' }, /not named like/],
    [{ ...one, '0002-Second.sql': '' }, /not named like/],
  ]
  for (const [files, words] of wrong) await refuses(pool, await folderWith(files), 'files', words)
})

test('a restart of the database in the middle of a migration is waited out', async (t) => {
  const [pool, admin] = (await emptyDatabase(t, 2)) as [Pool, Pool]
  const folder = await folderWith({ ...one, '0002-slow.sql': 'create table slow (); select pg_sleep(0.3);' })
  const migrating = migrate(pool, folder)
  const inTheMiddle = `select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and query like '%pg_sleep(0.3)%' and pid <> pg_backend_pid()`
  while ((await rows(admin, inTheMiddle)).length === 0);
  assert.equal((await migrating).schemaNumber, 2)
  assert.deepEqual(await rows(admin, 'select number from migrations order by number'), [
    { number: 1 },
    { number: 2 },
  ])
})

test("the gateway's own migrations apply to an empty database", async (t) => {
  const [pool] = (await emptyDatabase(t)) as [Pool]
  const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql'))
  assert.deepEqual((await migrate(pool, migrationsFolder)).applied, files.sort())
})
