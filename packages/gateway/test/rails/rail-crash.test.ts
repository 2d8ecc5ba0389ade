// A payment through a rail and its refund, killed or cut off at every single statement: after a restart the order is paid
// once, refunded once, the bank holds one payment for it, and the books are proved.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaseMs } from '../../src/finance/rails/ask-rails.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { heldClock } from '../support/money.ts'
import { approved, openRails } from '../support/rails.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const good = await openRails(pool, { clock })
const merchant = await good.money.addMerchant()
const bank = await good.addBank('bank')

type Order = Awaited<ReturnType<typeof good.money.addOrder>>

/** As far as it comes; what is there already is gone on with. */
async function pay(of: typeof good, order: Order): Promise<void> {
  await of.operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  for (const { transactionId } of startsOf(order)) bank.payments.set(transactionId, approved)
  clock.advance(10 * 60_000)
  await of.turn()
  const body = { paymentId: order.paymentId, referRefundNo: order.paymentId, refundAmount: '4.00' }
  await of.operations.refundOrder(merchant, JSON.stringify(body))
  await of.turn()
}

function startsOf({ paymentId }: Order) {
  return bank.asked.flatMap((asked) =>
    asked.type === 'payment.start' && asked.paymentId === paymentId ? [asked] : [],
  )
}

/** True: the scenario has no such point. */
async function survives(atPoint: number, dies: 'process' | 'connection'): Promise<boolean> {
  bank.asked.length = 0
  const order = await good.money.addOrder(merchant, { lifeMs: 20 * 60 * 60_000 })
  const { pool: broken, hasFailed } = faultyPool(pool, { atPoint, dies })
  const { post } = good
  await pay(await openRails(broken, { clock, post }), order).catch(() => {})
  if (!hasFailed()) return true
  await actingAs(good.operations, 'test').rails.resumeRail('bank', 'test')
  const restarted = await openRails(pool, { clock, post })
  for (let turns = 0; turns < 4; turns++) {
    clock.advance(leaseMs)
    await restarted.turn()
  }
  const where = `${dies} at ${atPoint}`
  const found = async () => good.money.orders.findOrder(order)
  if ((await found())?.status === 'pending') await pay(restarted, order)
  else {
    const body = { paymentId: order.paymentId, referRefundNo: order.paymentId, refundAmount: '4.00' }
    await restarted.operations.refundOrder(merchant, JSON.stringify(body))
    await restarted.turn()
  }
  const paid = await found()
  assert.deepEqual([paid?.status, paid?.refundedMinor, paid?.refundHeldMinor], ['success', 400n, 0n], where)
  const started = new Set(startsOf(order).map(({ transactionId }) => transactionId))
  assert.equal(started.size, 1, where)
  const refunds = bank.asked.flatMap((asked) => (asked.type === 'refund.start' ? asked.refundId : []))
  assert.equal(new Set(refunds).size, 1, where)
  assert.deepEqual((await good.operations.verifyLedger()).findings, [], where)
  return false
}

for (const dies of ['process', 'connection'] as const)
  test(`whatever statement the ${dies} dies at, the order is paid once and refunded once`, async () => {
    let points = 0
    while (!(await survives(points + 1, dies))) points += 1
    assert(points > 20, `${points} points`)
  })
