// Time passes for an order while a worker locks its rows in another order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway()
const { merchantId, paidOrder, call } = await gateway.addMerchant()

test('a deadlock with a worker is repeated, and time passes once', async () => {
  const paymentId = await paidOrder()
  const createdAt = async () => {
    const { rows } = await gateway.pool.query<{ created_at: string }>(
      'select created_at from orders where payment_id = $1',
      [paymentId],
    )
    return Number(rows[0]?.created_at)
  }
  const before = await createdAt()
  let advanced: Promise<{ code: number; msg: string }> | undefined
  await gateway.pool.transaction(async (worker) => {
    const lock = (table: string) =>
      worker.query(`select from ${table} where merchant_id = $1 and payment_id = $2 for update`, [
        merchantId,
        paymentId,
      ])
    await lock('orders')
    advanced = call('service.sandbox.advance', { paymentId, milliseconds: 60_000 })
    await untilOneWaits()
    await lock('order_history')
  })
  assert.deepEqual((await advanced)?.code, 20000)
  assert.equal(before - (await createdAt()), 60_000)
})

/** The advance has moved the order's history, and waits for the order. */
async function untilOneWaits(): Promise<void> {
  for (;;) {
    const { rows } = await gateway.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rows.length > 0) return
  }
}
