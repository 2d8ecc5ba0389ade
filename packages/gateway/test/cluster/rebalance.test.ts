// On a Citus cluster: shards move to a new worker under load. Nothing fails but what a gateway answers with 50300, and of
// that next to nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distribute, prepareDistribution } from '../../src/platform/database/cluster/distribute.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { isTransient } from '../../src/platform/database/transient.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { until } from '../support/callbacks.ts'
import { clusterDatabase } from '../support/database.ts'
import { openMoney } from '../support/money.ts'
import { migrationsFolder } from '../support/server.ts'

const shoppers = 4

test('shards move to a new worker while payments go on', async (t) => {
  const { pool } = await clusterDatabase()
  await migrate(pool, migrationsFolder)
  const { rows: workers } = await pool.query<{ name: string; port: number }>(
    'select nodename as name, nodeport as port from pg_dist_node where groupid > 0 order by nodeid',
  )
  const added = workers.at(-1)
  assert.ok(added && workers.length > 1, 'it takes two workers')
  await pool.query('select citus_remove_node($1, $2)', [added.name, added.port])
  await distribute(pool, await prepareDistribution(pool, { withinSeconds: 600 }))
  const money = openMoney(pool, { clock: systemClock })
  const merchants = await Promise.all(Array.from({ length: 20 }, () => money.addMerchant()))
  const wallets = await Promise.all(Array.from({ length: shoppers }, () => money.addWallet(10n ** 9n)))

  let isOver = false
  let answers = 0
  const away: unknown[] = []
  const wrong: unknown[] = []
  const answer = async (work: Promise<unknown>) => {
    answers += 1
    await work.catch((error: unknown) => (isTransient(error) ? away : wrong).push(error))
  }
  const shop = async (walletId: string, first: number) => {
    for (let turn = first; !isOver; turn += shoppers) {
      const merchant = merchants[turn % merchants.length]
      assert.ok(merchant)
      await answer(
        money.addOrder(merchant, { amountMinor: 100n }).then(async (order) => {
          await answer(money.submitPayment({ ...order, walletId }))
          await answer(money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId })))
        }),
      )
      if (turn % 10 === first) await answer(money.settle())
    }
  }
  const load = Promise.all(wallets.map(shop))
  const shardsOn = async (port?: number) => {
    const { rowCount } = await pool.query(
      `select 1 from citus_shards where table_name = 'orders'::regclass and nodeport = coalesce($1, nodeport)`,
      [port],
    )
    return rowCount
  }
  try {
    const shards = await shardsOn()
    await pool.query('select citus_add_node($1, $2)', [added.name, added.port])
    await pool.query('select citus_rebalance_start($1)', ['by_shard_count'])
    const isMoving = async () => {
      const { rowCount } = await pool.query(
        `select 1 from pg_dist_background_job where state not in ('finished', 'failed', 'cancelled')`,
      )
      return rowCount > 0
    }
    await until(async () => !(await isMoving()))
    assert.ok((await shardsOn(added.port)) >= Math.floor(shards / workers.length))
  } finally {
    isOver = true
    await load
  }
  t.diagnostic(`${answers} answers, ${away.length} of them 50300`)
  assert.deepEqual(wrong, [])
  assert.ok(away.length <= Math.max(1, answers / 1000), `${away.length} of ${answers}: ${away.join('\n')}`)
  await pool.query('update authorizations set due_at = 0')
  while ((await money.settle()) > 0);
  assert.deepEqual(await money.verify(), [])
})
