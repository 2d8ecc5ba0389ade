// On a Citus cluster: a node is killed again and again under load, a worker or the coordinator. Nothing that was
// acknowledged is lost, and the books are proved. TEST_CITUS_CYCLES: how often, 3 times each unless said.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isTransient } from '../../src/platform/database/transient.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { killNode } from '../support/cluster.ts'
import { clusterNodes, freshDatabase } from '../support/database.ts'
import { openMoney } from '../support/money.ts'

const cycles = Number(process.env['TEST_CITUS_CYCLES'] ?? 3)
const shoppers = 6

for (const [who, index] of [
  ['a worker', 1],
  ['the coordinator', 0],
] as const) {
  test(`${who} is killed ${cycles} times: nothing acknowledged is lost, and the books are right`, async () => {
    const { pool } = await freshDatabase()
    const nodes = clusterNodes()
    const money = openMoney(pool, { clock: systemClock })
    const merchants = await Promise.all(Array.from({ length: 8 }, () => money.addMerchant()))
    const wallets = await Promise.all(Array.from({ length: shoppers }, () => money.addWallet(10n ** 9n)))
    const created = new Map<string, string>()
    const submitted = new Set<string>()
    const wrong: unknown[] = []
    let isOver = false
    const shop = async (walletId: string, first: number) => {
      for (let turn = first; !isOver; turn += shoppers) {
        const merchant = merchants[turn % merchants.length]
        if (!merchant) continue
        try {
          const order = await money.addOrder(merchant, { amountMinor: 100n })
          created.set(order.paymentId, merchant.merchantId)
          await money.submitPayment({ ...order, walletId })
          submitted.add(order.paymentId)
        } catch (error) {
          // What a gateway answers with 50300; the rest would be a 50000.
          if (!isTransient(error)) wrong.push(error)
          await pause(20)
        }
      }
    }
    const settle = async () => {
      while (!isOver) {
        const claimed = await money.settle().catch((error) => {
          if (!isTransient(error)) wrong.push(error)
          return 0
        })
        if (claimed === 0) await pause(20)
      }
    }
    const load = Promise.all([...wallets.map(shop), settle()])
    try {
      for (let cycle = 0; cycle < cycles; cycle++) {
        const before = submitted.size
        const victim = index === 0 ? nodes[0] : nodes[1 + (cycle % (nodes.length - 1))]
        assert.ok(victim)
        await killNode(victim)
        while (submitted.size < before + 5 && wrong.length === 0) await pause(20)
      }
    } finally {
      isOver = true
      await load
    }
    assert.deepEqual(wrong, [])
    const isTrouble = (error: unknown) => !isTransient(error)
    assert.deepEqual(money.troubles.filter(isTrouble), [])
    // What a node had prepared when it died is ended by the coordinator, once a minute unless it is asked to.
    await pool.query('select recover_prepared_transactions()')
    // What was claimed when a node died comes back with the end of its lease.
    await pool.query('update authorizations set due_at = 0')
    while ((await money.settle()) > 0);
    const { rows } = await pool.query<{ payment_id: string; status: string }>(
      'select payment_id, status from orders',
    )
    const stored = new Map(rows.map((row) => [row.payment_id, row.status]))
    assert.deepEqual(
      [...created.keys()].filter((paymentId) => !stored.has(paymentId)),
      [],
    )
    assert.deepEqual(
      [...submitted].filter((paymentId) => stored.get(paymentId) !== 'success'),
      [],
    )
    assert.deepEqual(await money.verify(), [])
  })
}
