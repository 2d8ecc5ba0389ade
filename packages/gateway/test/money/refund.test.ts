// service.trade.refund and what query and callbacks say of it: spec 2.12 and 3.2, row by row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RailAnswer } from '../../src/core/orders/payments/rules/rail.ts'
import { walletRail } from '../../src/finance/rails/wallet-rail.ts'
import { freshDatabase } from '../support/database.ts'
import { callbacksOf, heldClock, openMoney } from '../support/money.ts'
import { payOutWholly } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const merchant = await money.addMerchant()
let numbers = 0

async function paidOrder({ amountMinor = 1_000n, currency = 'USD', of = merchant } = {}) {
  const walletId = await money.addWallet(amountMinor, { currency })
  const order = await money.addOrder(of, { amountMinor, currency })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  return { ...order, walletId }
}

const newNumber = () => `refund-${++numbers}`
const ask = (body: object, of = merchant) => money.refundOrder(of, JSON.stringify(body))
const query = (body: object, of = merchant) => money.queryOrder(of, JSON.stringify(body))

test('a refund is refunding at once and refund_success afterwards, with every field of its callback', async () => {
  const { paymentId, orderNo, walletId, ...order } = await paidOrder()
  const referRefundNo = newNumber()
  const answer = await ask({ paymentId, referRefundNo, refundAmount: 2.5, refundReason: 'broken' })
  assert.deepEqual(answer, {
    refundId: answer.refundId,
    paymentId,
    referRefundNo,
    refundAmount: 2.5,
    currency: 'USD',
    status: 'refunding',
  })
  const refundTime = clock.now()
  const underWay = await query({ paymentId })
  assert.deepEqual([underWay.status, underWay.referOrderNo], ['refunding', referRefundNo])
  assert.deepEqual([underWay.paymentStatus, underWay.orderNo, underWay.payAmount], ['success', orderNo, 10])
  assert.deepEqual(await callbackEvents(paymentId), ['payment.order.confirming', 'payment.order.success'])

  clock.advance(25)
  await money.settle()
  const { refunds, status } = await query({ paymentId })
  const [refund] = refunds
  assert.equal(status, 'refund_success')
  assert.deepEqual(refunds, [
    {
      refundId: answer.refundId,
      referRefundNo,
      refundAmount: 2.5,
      status: 'refund_success',
      refundTime,
      completeTime: clock.now(),
      transactionId: refund?.transactionId,
      msg: '',
    },
  ])
  const callback = (await callbacksOf(pool, { paymentId })).find((each) => each.refundId !== '')
  assert.equal(callback?.eventName, 'payment.refund.success')
  assert.deepEqual(callback.body, {
    merchantId: order.merchantId,
    refundId: answer.refundId,
    paymentId,
    referRefundNo,
    transactionId: refund?.transactionId,
    refundAmount: 2.5,
    currency: 'USD',
    refundTime,
    completeTime: clock.now(),
    status: 'refund_success',
    msg: '',
  })
  assert.equal(await money.balanceOf(walletId), 250n)
})

async function callbackEvents(paymentId: string): Promise<string[]> {
  return (await callbacksOf(pool, { paymentId })).map(({ eventName }) => eventName)
}

test('a refund that the rail declines fails with the reason, and its share can be refunded again', async () => {
  const declined: RailAnswer = { kind: 'declined', reason: 'The account is closed.' }
  const declining = openMoney(pool, { clock, rail: { ...walletRail, refund: async () => declined } })
  const { paymentId, walletId } = await paidOrder()
  const { refundId } = await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '10.00' })
  await declining.settle()
  const { status, msg, refunds } = await query({ refundId })
  assert.deepEqual([status, msg, refunds[0]?.msg], ['refund_failed', declined.reason, declined.reason])
  assert.equal(typeof refunds[0]?.completeTime, 'number')
  assert.equal(await money.balanceOf(walletId), 0n)
  const failed = (await callbacksOf(pool, { paymentId })).find((each) => each.refundId === refundId)
  assert.deepEqual([failed?.eventName, failed?.body.msg], ['payment.refund.failed', declined.reason])

  await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '10.00' })
  await money.settle()
  assert.equal(await money.balanceOf(walletId), 1_000n)
  assert.deepEqual(await money.verify(), [])
})

test('a merchant without the money: accepted as refunding, then refund_failed with the reason', async () => {
  const poor = await money.addMerchant()
  const { paymentId, walletId } = await paidOrder({ of: poor })
  await payOutWholly(money, { merchantId: poor.merchantId, amountMinor: 501n })
  const { refundId, status } = await ask(
    { paymentId, referRefundNo: newNumber(), refundAmount: '5.00' },
    poor,
  )
  assert.equal(status, 'refunding')
  await money.settle()
  const answer = await query({ refundId }, poor)
  assert.equal(answer.status, 'refund_failed')
  assert.match(answer.msg, /balance is too low/)
  assert.equal(answer.refunds[0]?.transactionId, undefined)
  assert.equal(await money.balanceOf(walletId), 0n)
  assert.deepEqual(await money.verify(), [])
  await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '4.99' }, poor)
  await money.settle()
  assert.equal(await money.balanceOf(walletId), 499n)
})

test('partial refunds add up to the payment and not a minor unit more, which 40902 says with what is left', async () => {
  const { paymentId } = await paidOrder()
  await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '3.33' })
  await money.settle()
  await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '3.33' })
  await assert.rejects(ask({ paymentId, referRefundNo: newNumber(), refundAmount: '3.35' }), {
    code: 40902,
    field: 'refundAmount',
    message: /3\.34 USD/,
  })
  await ask({ paymentId, referRefundNo: newNumber(), refundAmount: '3.34' })
  await assert.rejects(ask({ paymentId, referRefundNo: newNumber(), refundAmount: '0.01' }), { code: 40902 })
  await money.settle()
  assert.deepEqual(
    (await query({ paymentId })).refunds.map(({ refundAmount }) => refundAmount),
    [3.33, 3.33, 3.34],
  )
})

test('the same referRefundNo with the same content answers the refund that is there, in its current status', async () => {
  const { paymentId, walletId } = await paidOrder()
  const body = { paymentId, referRefundNo: newNumber(), refundAmount: '4.00', refundReason: 'broken' }
  const first = await ask(body)
  await money.settle()
  const again = await ask({ ...body, refundAmount: 4 })
  assert.deepEqual(again, { ...first, status: 'refund_success' })
  assert.equal(await money.settle(), 0)
  assert.equal(await money.balanceOf(walletId), 400n)
})

test('the same referRefundNo with other content is 40900, which names the field that differs', async () => {
  const { paymentId } = await paidOrder()
  const { paymentId: other } = await paidOrder()
  const body = { paymentId, referRefundNo: newNumber(), refundAmount: '4.00', refundReason: 'broken' }
  await ask(body)
  for (const change of [{ refundAmount: '4.01' }, { refundReason: 'late' }, { paymentId: other }]) {
    const [field] = Object.keys(change)
    await assert.rejects(ask({ ...body, ...change }), { code: 40900, field })
  }
  const { refundReason: _, ...withoutReason } = body
  await assert.rejects(ask(withoutReason), { code: 40900, field: 'refundReason' })
})

test('two merchants may use the same referRefundNo', async () => {
  const second = await money.addMerchant()
  const [mine, theirs] = [await paidOrder(), await paidOrder({ of: second })]
  const referRefundNo = newNumber()
  const a = await ask({ paymentId: mine.paymentId, referRefundNo, refundAmount: 1 })
  const b = await ask({ paymentId: theirs.paymentId, referRefundNo, refundAmount: 1 }, second)
  assert.notEqual(a.refundId, b.refundId)
})

test('another merchant’s order is 40400 to refund, and its refund to query', async () => {
  const { paymentId } = await paidOrder()
  const { refundId } = await ask({ paymentId, referRefundNo: newNumber(), refundAmount: 1 })
  const stranger = await money.addMerchant()
  await assert.rejects(ask({ paymentId, referRefundNo: newNumber(), refundAmount: 1 }, stranger), {
    code: 40400,
  })
  await assert.rejects(query({ refundId }, stranger), { code: 40400 })
})

test('only a paid order is refunded; each other status says why not', async () => {
  const walletId = await money.addWallet(5_000n)
  const [pending, confirming, cancelled, late] = [
    await money.addOrder(merchant),
    await money.addOrder(merchant),
    await money.addOrder(merchant),
    await money.addOrder(merchant, { lifeMs: 300_000 }),
  ]
  await money.submitPayment({ ...confirming, walletId })
  await money.cancelOrder(merchant, JSON.stringify({ paymentId: cancelled.paymentId }))
  clock.advance(300_000)
  for (const [{ paymentId }, words] of [
    [pending, /not paid yet/],
    [confirming, /being paid/],
    [cancelled, /cancelled/],
    [late, /not paid in time/],
  ] as const) {
    const body = { paymentId, referRefundNo: newNumber(), refundAmount: 1 }
    await assert.rejects(ask(body), { code: 40901, message: words })
  }
  await money.settle()
})

test('the refund’s amount is exact in the currency of its payment', async () => {
  const [yen, dinar] = [
    await paidOrder({ amountMinor: 500n, currency: 'JPY' }),
    await paidOrder({ amountMinor: 1_500n, currency: 'TND' }),
  ]
  await assert.rejects(ask({ paymentId: yen.paymentId, referRefundNo: newNumber(), refundAmount: '0.5' }), {
    code: 40002,
  })
  await ask({ paymentId: yen.paymentId, referRefundNo: newNumber(), refundAmount: 499 })
  await ask({ paymentId: dinar.paymentId, referRefundNo: newNumber(), refundAmount: '1.499' })
  await money.settle()
  assert.equal(await money.balanceOf(yen.walletId, 'JPY'), 499n)
  assert.equal(await money.balanceOf(dinar.walletId, 'TND'), 1_499n)
})

test('query speaks of the newest refund, or of the one that was asked for, and lists them all', async () => {
  const { paymentId, orderNo } = await paidOrder()
  const [first, second] = [newNumber(), newNumber()]
  const { refundId } = await ask({ paymentId, referRefundNo: first, refundAmount: 1 })
  await money.settle()
  clock.advance(1)
  await ask({ paymentId, referRefundNo: second, refundAmount: 2 })
  for (const body of [{ paymentId }, { orderNo }]) {
    const answer = await query(body)
    assert.deepEqual([answer.status, answer.referOrderNo], ['refunding', second])
    assert.deepEqual(
      answer.refunds.map(({ referRefundNo, status }) => [referRefundNo, status]),
      [
        [first, 'refund_success'],
        [second, 'refunding'],
      ],
    )
  }
  const answer = await query({ refundId })
  assert.deepEqual([answer.status, answer.referOrderNo, answer.refunds.length], ['refund_success', first, 2])
  await money.settle()
})

test('the database itself refuses to hand back more than was paid', async () => {
  const { paymentId } = await paidOrder()
  for (const set of [
    'refunded_minor = 1001',
    'refund_held_minor = 1001',
    'refunded_minor = 1, refund_held_minor = 1000',
  ])
    await assert.rejects(
      pool.query(`update orders set refund_count = 1, ${set} where payment_id = $1`, [paymentId]),
      {
        code: '23514',
      },
    )
})

test('after all of this the books are clean', async () => {
  assert.deepEqual(await money.verify(), [])
})
