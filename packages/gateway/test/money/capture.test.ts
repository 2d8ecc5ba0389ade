// Captures against the real database: by both numbers, at the moment at which the authorization ends, twice at once, with
// fees, callbacks and the consumer's limit of the day.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { maxCaptures } from '../../src/core/orders/captures/rules/capture.ts'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const day = 24 * 60 * 60_000
const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const merchant = await money.addMerchant()
const { merchantId } = merchant
await actingAs(money.operations, 'test').prices.setPrice(
  {
    merchantId,
    railId: undefined,
    currency: 'USD',
    fromMs: undefined,
    terms: {
      fixedMinor: 30n,
      basisPoints: 290,
      leastMinor: undefined,
      mostMinor: undefined,
      returnsFee: true,
    },
  },
  'test',
)
clock.advance(priceLeadMs)

async function authorized(amountMinor = 1_000n) {
  const walletId = await money.addWallet(amountMinor)
  const order = await money.addOrder(merchant, { amountMinor, isManual: true })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  return { ...order, walletId }
}

const capture = (paymentId: string, referCaptureNo: string, given: object = {}) =>
  money.captureOrder(merchant, JSON.stringify({ paymentId, referCaptureNo, ...given }))
const query = (paymentId: string) => money.queryOrder(merchant, JSON.stringify({ paymentId }))

async function codeOf(work: Promise<unknown>): Promise<number> {
  try {
    await work
    return 20000
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}

async function callbacksOf(paymentId: string): Promise<{ event_name: string; body: string }[]> {
  const { rows } = await pool.query<{ event_name: string; body: string }>(
    'select event_name, body from callbacks where payment_id = $1 order by created_at, event_name',
    [paymentId],
  )
  return rows
}

test('several captures charge what one capture of their sum would, and the last sends the callback', async () => {
  const { paymentId, walletId, orderNo } = await authorized()
  await capture(paymentId, '1', { amount: '1.00' })
  assert.equal((await callbacksOf(paymentId)).length, 1, 'a capture that is not the last has no callback')
  await money.captureOrder(
    merchant,
    JSON.stringify({ orderNo, referCaptureNo: '2', amount: '6.00', final: true }),
  )
  const answer = await query(paymentId)
  // 30 cents and 2.9 % of 7.00.
  assert.deepEqual([answer.payAmount, answer.fee, answer.netAmount], [7, 0.5, 6.5])
  assert.deepEqual(
    answer.authorization?.captures.map(({ referCaptureNo, captureAmount }) => [
      referCaptureNo,
      captureAmount,
    ]),
    [
      ['1', 1],
      ['2', 6],
    ],
  )
  assert.equal(await money.balanceOf(walletId), 300n)
  const told = (await callbacksOf(paymentId)).map(({ event_name, body }) => [event_name, JSON.parse(body)])
  assert.deepEqual(
    told.map(([name, { status, paymentAmount, authorizedAmount, capturedAmount }]) => [
      name,
      status,
      paymentAmount,
      authorizedAmount,
      capturedAmount,
    ]),
    [
      ['payment.order.confirming', 'confirming', 10, 10, 0],
      ['payment.order.success', 'success', 7, 10, 7],
    ],
  )
})

test('the same capture sent ten times at once is one capture', async () => {
  const { paymentId } = await authorized()
  const answers = await Promise.all(Array.from({ length: 10 }, () => capture(paymentId, '1', { amount: 4 })))
  assert.deepEqual(new Set(answers.map(({ transactionId }) => transactionId)).size, 1)
  assert.equal((await query(paymentId)).authorization?.capturedAmount, 4)
})

test('ten captures at once take no more than was authorized', async () => {
  const { paymentId } = await authorized()
  const codes = await Promise.all(
    Array.from({ length: 10 }, (_, index) => codeOf(capture(paymentId, `${index}`, { amount: '3.00' }))),
  )
  assert.equal(codes.filter((code) => code === 20000).length, 3)
  assert.equal((await query(paymentId)).authorization?.remainingAmount, 1)
})

test('an authorization can be captured until the millisecond at which it ends', async () => {
  const [early, late] = [await authorized(), await authorized()]
  clock.advance(7 * day - 1)
  await capture(early.paymentId, '1', { amount: 4 })
  clock.advance(1)
  assert.equal(await codeOf(capture(late.paymentId, '1')), 40901)
  await money.expireOrders()
  await money.settle()
  const [captured, expired] = [await query(early.paymentId), await query(late.paymentId)]
  assert.deepEqual([captured.paymentStatus, captured.payAmount], ['success', 4])
  assert.deepEqual([expired.paymentStatus, expired.msg], ['failed', 'The authorization expired.'])
  assert.deepEqual(
    [await money.balanceOf(early.walletId), await money.balanceOf(late.walletId)],
    [600n, 1_000n],
  )
})

test('an order has a limited number of captures, and the rest can be released', async () => {
  const { paymentId } = await authorized()
  for (let index = 1; index <= maxCaptures; index++) await capture(paymentId, `${index}`, { amount: '0.01' })
  assert.equal(await codeOf(capture(paymentId, 'more', { amount: '0.01' })), 40901)
  const { status } = await money.releaseOrder(merchant, JSON.stringify({ paymentId }))
  assert.equal(status, 'success')
})

test('what is released does not count toward the limit of the day', async () => {
  const { paymentId, walletId } = await authorized()
  const spent = async () =>
    (await pool.query<{ spent: string }>('select spent from accounts where owner_id = $1', [walletId]))
      .rows[0]?.spent
  assert.equal(await spent(), '1000')
  await capture(paymentId, '1', { amount: 4, final: true })
  assert.equal(await spent(), '400')
})

test('an authorized order is neither cancelled nor refunded, nor captured without captureMode manual', async () => {
  const { paymentId } = await authorized()
  const body = JSON.stringify({ paymentId, referRefundNo: paymentId, refundAmount: 1 })
  assert.equal(await codeOf(money.cancelOrder(merchant, JSON.stringify({ paymentId }))), 40901)
  assert.equal(await codeOf(money.refundOrder(merchant, body)), 40901)
  const automatic = await money.addOrder(merchant)
  assert.equal(await codeOf(capture(automatic.paymentId, '1')), 40901)
})

test('a list of authorized orders has those whose money is held', async () => {
  const [held, captured] = [await authorized(), await authorized()]
  await capture(captured.paymentId, '1')
  const found = async (of: { merchantId?: string }) => {
    const { orders } = await money.orderList.listOrders({ ...of, status: 'authorized' }, { limit: 50 })
    return orders.map(({ paymentId }) => paymentId)
  }
  for (const scope of [{ merchantId }, {}]) {
    const ids = await found(scope)
    assert.deepEqual([ids.includes(held.paymentId), ids.includes(captured.paymentId)], [true, false])
  }
  await money.releaseOrder(merchant, JSON.stringify({ paymentId: held.paymentId }))
})

test('the books balance', async () => {
  assert.deepEqual(money.troubles, [])
  assert.deepEqual(await money.verify(), [])
})
