// Cancel, payment and expiry of one order at the same instant, as several processes with clocks that differ a
// little would do it: whatever the order of events, one of them wins and the rest see that it did.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { freshDatabase } from '../support/database.ts'
import { callbacksOf, heldClock, openMoney } from '../support/money.ts'

const races = 300
const lifeMs = 600_000
/** As many as a payment takes to be decided and stored. */
const headStartTrips = 8

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
    // Another one goes first each time, every other time by some round trips, so that each of them wins now and then.
    const lead = Math.floor(race / 2) % started.length
    const [first, ...rest] = [...started.slice(lead), ...started.slice(0, lead)]
    const leading = first?.()
    for (let trips = 0; race % 2 === 0 && trips < headStartTrips; trips++) await pool.query('select')
    const asked = JSON.stringify({ paymentId: order.paymentId })
    const racing = rest.map((start) => start())
    const told = await Promise.all([after.queryOrder(merchant, asked), before.queryOrder(merchant, asked)])
    await Promise.all([leading, ...racing])
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
    // Whoever was told a final status was told the one that it kept.
    for (const { paymentStatus } of told) if (isFinal(paymentStatus)) assert.equal(paymentStatus, status)
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

function isFinal(status: string): boolean {
  return status !== 'pending' && status !== 'confirming'
}

/** Being paid, or timed out by the other clock: cancel says so. */
function expected(error: unknown): void {
  assert.ok(error instanceof Failure && error.failure === 'status_does_not_allow', String(error))
}

test('a payment that is on its way when the order expires either comes through or was never told to be too late', async () => {
  const { pool } = await freshDatabase()
  const clock = heldClock()
  const money = openMoney(pool, { clock })
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(10_000n)
  const order = await money.addOrder(merchant, { lifeMs })
  clock.advance(lifeMs - 1)
  // The wallet's account is locked by somebody else, so the payment that was decided in time waits.
  const isHeld = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const locked = pool.transaction(async (transaction) => {
    await transaction.query('select from accounts where owner_id = $1 for update', [walletId])
    isHeld.resolve()
    await isOver.promise
  })
  await isHeld.promise
  const paying = money.submitPayment({ ...order, walletId })
  while (!(await isWaiting(pool)));
  clock.advance(1)
  const seen = await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
  isOver.resolve()
  await locked
  const outcome = await paying
  while ((await money.settle()) > 0);
  const end = await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
  assert.equal(seen.paymentStatus, 'timeout')
  assert.equal(end.paymentStatus, 'timeout')
  assert.deepEqual(outcome, { kind: 'order_not_payable', status: 'timeout' })
  assert.equal(await money.balanceOf(walletId), 10_000n)
  assert.deepEqual(await money.verify(), [])
})

async function isWaiting(pool: Awaited<ReturnType<typeof freshDatabase>>['pool']): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return (rowCount ?? 0) > 0
}
