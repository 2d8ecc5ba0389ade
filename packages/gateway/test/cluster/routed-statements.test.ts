// On a Citus cluster: what a payment, a refund, a query and a callback send goes to one shard each, by Citus's own word.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { makeUuid } from '@tillgate/protocol'
import { destinationIdOf } from '../../src/core/callbacks/store/destination-id.ts'
import { statementChannel } from '../../src/platform/database/pool.ts'
import { tablePlans } from '../../src/platform/database/tables.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })

interface Sent {
  readonly text: string
  readonly values?: readonly unknown[]
}

const spread = new RegExp(
  `\\b(callbacks_with_progress|${Object.keys(tablePlans)
    .filter((name) => tablePlans[name]?.place === 'spread')
    .join('|')})\\b`,
)

/** Statements over spread tables, each once, with the values of its first time. */
async function statementsOf(work: () => Promise<void>): Promise<Sent[]> {
  const sent = new Map<string, Sent>()
  const note = (message: unknown) => {
    const statement = message as Sent
    if (spread.test(statement.text) && !sent.has(statement.text)) sent.set(statement.text, statement)
  }
  statementChannel.subscribe(note)
  try {
    await work()
  } finally {
    statementChannel.unsubscribe(note)
  }
  return [...sent.values()]
}

async function taskCounts({ text, values = [] }: Sent): Promise<number[]> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values)
  return rows.flatMap((row) => {
    const [, count] = /Task Count: (\d+)/.exec(row['QUERY PLAN']) ?? []
    return count === undefined ? [] : Number(count)
  })
}

after(() => assert.deepEqual(money.troubles, []))

test('every statement of a payment, its refund, its query and its callbacks goes to one shard', async () => {
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(1_000n)
  const statements = await statementsOf(async () => {
    const order = await money.addOrder(merchant)
    await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
    await money.submitPayment({ ...order, walletId })
    await money.settle()
    const refund = { paymentId: order.paymentId, referRefundNo: 'refund-1', refundAmount: 1 }
    await money.refundOrder(merchant, JSON.stringify(refund))
    clock.advance(1_000)
    await money.settle()
    await money.queryOrder(merchant, JSON.stringify({ orderNo: order.orderNo }))
    const destinationId = destinationIdOf({ callbackUrl: 'https://shop.example/callback', endpointId: '' })
    const claimed = await money.callbackQueue.claim({
      lanes: [{ merchantId: merchant.merchantId, host: 'shop.example', destinationId, most: 10 }],
      nowMs: clock.now(),
      claimId: makeUuid(clock.now(), randomBytes),
      claimedUntilMs: clock.now() + 60_000,
      probeUntilMs: clock.now() + 60_000,
    })
    assert.ok(claimed.callbacks.length > 0)
    const cancelled = await money.addOrder(merchant)
    await money.cancelOrder(merchant, JSON.stringify({ paymentId: cancelled.paymentId }))
    await money.merchants.findMerchant(merchant.merchantId)
  })
  assert.ok(statements.length >= 12, `${statements.length} statements`)
  let counted = 0
  for (const statement of statements) {
    const counts = await taskCounts(statement)
    assert.deepEqual(
      counts.filter((count) => count !== 1),
      [],
      statement.text,
    )
    counted += counts.length
  }
  assert.ok(counted >= 8, `${counted} tasks were counted`)
  assert.deepEqual(await money.verify(), [])
})
