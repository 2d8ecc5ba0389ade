// Cancel, payment and expiry of one order at the same instant, as several processes with clocks that differ a
// little would do it: whatever the order of events, one of them wins and the rest see that it did.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { freshDatabase } from './support/database.ts'
import { callbacksOf, heldClock, openMoney } from './support/money.ts'

const races = 300
const lifeMs = 600_000

test(`cancel against two payments against expiry: one final status, ${races} times`, async () => {
  const { pool } = await freshDatabase()
  const early = heldClock()
  const late = heldClock()
  const before = openMoney(pool, { clock: early })
  const after = openMoney(pool, { clock: late })
  const merchant = await before.addMerchant()
  const wallets = [await before.addWallet(10_000_000n), await before.addWallet(10_000_000n)]
  const ends: Record<string, number> = {}

  for (let race = 0; race < races; race++) {
    const order = await before.addOrder(merchant, { lifeMs })
    // One clock is a millisecond before the expiry, the other is there.
    early.advance(lifeMs - 1)
    late.advance(lifeMs)
    const started = [
      () => before.cancelOrder(merchant, JSON.stringify({ paymentId: order.paymentId })).catch(expected),
      ...wallets.map((walletId) => () => before.submitPayment({ ...order, walletId })),
      () => after.expireOrders(),
    ]
    // Another one goes first each time, so that each of them wins now and then.
    const turn = race % started.length
    await Promise.all([...started.slice(turn), ...started.slice(0, turn)].map((start) => start()))
    early.advance(1)
    while ((await after.settle()) > 0);

    const stored = await before.orders.findOrder(order)
    const status = stored?.status ?? 'none'
    ends[status] = (ends[status] ?? 0) + 1
    const { rows } = await pool.query<{ from_status: string; to_status: string }>(
      'select from_status, to_status from order_history where payment_id = $1 order by changed_at, from_status desc',
      [order.paymentId],
    )
    const events = (await callbacksOf(pool, order)).map(({ eventName }) => eventName)
    assert.deepEqual({ history: rows.map((row) => row.to_status), events }, endings[status], status)
  }

  assert.deepEqual(
    Object.keys(ends).sort(),
    ['cancelled', 'success', 'timeout'],
    'each of them wins now and then',
  )
  assert.deepEqual(await after.verify(), [])
  const paid = BigInt(ends['success'] ?? 0) * 1_000n
  const left = (await before.balanceOf(wallets[0] ?? '')) + (await before.balanceOf(wallets[1] ?? ''))
  assert.equal(left, 20_000_000n - paid)
})

const endings: Record<string, { history: string[]; events: string[] }> = {
  cancelled: { history: ['cancelled'], events: [] },
  timeout: { history: ['timeout'], events: ['payment.order.timeout'] },
  success: {
    history: ['confirming', 'success'],
    events: ['payment.order.confirming', 'payment.order.success'],
  },
}

/** Being paid, or timed out by the other clock: cancel says so. */
function expected(error: unknown): void {
  assert.ok(error instanceof Failure && error.failure === 'status_does_not_allow', String(error))
}
