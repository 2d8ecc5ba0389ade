// On a Citus cluster: spreading says what is missing, does all or nothing, and is met by payments as a moment in which the
// database is away.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import {
  databaseSettings,
  distribute,
  prepareDistribution,
  spreadTables,
} from '../../src/platform/database/cluster/distribute.ts'
import { readSpread } from '../../src/platform/database/cluster/spread-state.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { isTransient } from '../../src/platform/database/transient.ts'
import { clusterDatabase, emptyDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { migrationsFolder } from '../support/server.ts'

test('without the extension, without workers and without rights it says what to do, and changes nothing', async () => {
  const { pool } = await emptyDatabase()
  await assert.rejects(prepareDistribution(pool), /not switched on in this database.*create extension citus/s)
  await pool.query('create extension citus')
  await migrate(pool, migrationsFolder)
  await assert.rejects(prepareDistribution(pool), /no worker: select citus_add_node/)
  assert.equal((await readSpread(pool)).size, 0)
})

test('a worker that is not active is named, with what brings it back', async () => {
  const { pool } = await clusterDatabase()
  await migrate(pool, migrationsFolder)
  await pool.query(`select citus_disable_node(nodename, nodeport, true) from pg_dist_node where groupid = 1`)
  await assert.rejects(prepareDistribution(pool), /is not active: select citus_activate_node/)
})

test('a role that owns the database may distribute it, whoever owns the views of the extension', async () => {
  const { pool, nodes } = await clusterDatabase()
  const { host, port, database, user } = new pg.Client(nodes[0])
  assert(database)
  const role = `owner_${randomUUID().replaceAll('-', '')}`
  await pool.query(`create role ${role} login`)
  await pool.query(`alter database ${database} owner to ${role}`)
  const asOwner = openPool({ host, port, database, user: role, ssl: false }, { max: 1 })
  try {
    await pool.query(`grant all on schema public to ${role}`)
    await migrate(asOwner, migrationsFolder)
    assert.ok((await prepareDistribution(asOwner)).steps.length > 0)
  } finally {
    await asOwner.close()
    // By name: Citus 13.2.2 crashes on `to current_user`.
    await pool.query(`reassign owned by ${role} to ${pg.escapeIdentifier(user ?? '')}`)
    await pool.query(`drop owned by ${role}`)
    await pool.query(`drop role ${role}`)
  }
})

test('given too little time it leaves everything as it was; with enough all is spread, every key checked', async () => {
  const { pool } = await clusterDatabase()
  await migrate(pool, migrationsFolder)
  const clock = heldClock()
  const money = openMoney(pool, { clock })
  const merchant = await money.addMerchant()
  const key = 'order_history_merchant_id_payment_id_fkey'
  await pool.query(`alter table order_history drop constraint ${key}`)
  await pool.query(
    `alter table order_history add constraint ${key} foreign key (merchant_id, payment_id) references orders not valid`,
  )
  const plan = await prepareDistribution(pool)
  assert.equal(plan.steps.length, spreadTables.length + 1 + databaseSettings.length)
  await assert.rejects(distribute(pool, { ...plan, withinSeconds: 0.05 }), /Nothing was changed/)
  assert.equal((await readSpread(pool)).size, 0)

  // Payments go on meanwhile; what fails, fails as a database that is away does.
  let isOver = false
  const wrong: unknown[] = []
  let paid = 0
  const paying = (async () => {
    while (!isOver) {
      try {
        const walletId = await money.addWallet(1_000n)
        const order = await money.addOrder(merchant)
        await money.submitPayment({ ...order, walletId })
        await money.settle()
        paid += 1
      } catch (error) {
        if (!isTransient(error) && !isTransient((error as Error).cause)) wrong.push(error)
      }
    }
  })()
  await distribute(pool, { ...plan, withinSeconds: 600 })
  isOver = true
  await paying
  assert.deepEqual(wrong, [])
  assert.ok(paid > 0)
  assert.deepEqual([...(await readSpread(pool))].sort(), spreadTables.toSorted())
  assert.deepEqual((await prepareDistribution(pool)).steps, [])
  const { rowCount } = await pool.query(
    `select 1 from pg_constraint where contype = 'f' and not convalidated and connamespace = 'public'::regnamespace`,
  )
  assert.equal(rowCount, 0)
  assert.deepEqual(await money.verify(), [])
})
