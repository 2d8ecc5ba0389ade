import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrderStatus, orderStatuses, parseCreateBody } from '@tillgate/protocol'
import { content, minuteMs, nowMs, order } from '../../../../test/support/order-value.ts'
import { isOverdue, orderAt } from './expiry.ts'
import { differingField, makeOrder, refusalOfTimes, writeContent } from './order.ts'
import { cancelOrder, confirmOrder, endPayment, expireOrder } from './status-change.ts'

const statuses = Object.keys(orderStatuses) as OrderStatus[]

test('a new order is pending and has the merchant’s fields and the gateway’s', () => {
  const create = {
    order: content,
    channel: 'APP',
    paymentAmountMinor: 1250n,
    currency: 'USD',
    paymentTimeMs: nowMs,
    paymentExpiryTimeMs: nowMs + 1,
    callbackUrl: 'https://shop.example/cb',
    redirectUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/basket',
    attach: 'basket 7',
  } as const
  const given = { merchantId: 'm', paymentId: 'P1', nowMs: nowMs + 2 }
  assert.deepEqual(makeOrder(create, given), {
    merchantId: 'm',
    paymentId: 'P1',
    orderNo: 'n1',
    status: 'pending',
    channel: 'APP',
    paymentAmountMinor: 1250n,
    currency: 'USD',
    paymentTimeMs: nowMs,
    paymentExpiryTimeMs: nowMs + 1,
    expiresAtMs: nowMs + 1,
    callbackUrl: 'https://shop.example/cb',
    redirectUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/basket',
    attach: 'basket 7',
    content: writeContent(content),
    createdAtMs: nowMs + 2,
    transactionId: undefined,
    walletId: undefined,
    railId: undefined,
    openAttempt: undefined,
    fee: undefined,
    authorization: undefined,
    completedAtMs: undefined,
    message: undefined,
    refundedMinor: 0n,
    disputedMinor: 0n,
    refundHeldMinor: 0n,
    contentHash: undefined,
    link: undefined,
    topsUp: undefined,
    refundCount: 0,
  })
})

test('content is serialized with a fixed field order and without omitted fields', () => {
  assert.equal(
    writeContent(content),
    '{"orderNo":"n1","orderAmountMinor":"1250","goods":[{"referenceGoodsId":"g","goodsName":"Tea",' +
      '"goodsAmountMinor":"1250","goodsQuantity":1}]}',
  )
})

test('the content contains every field that a merchant can send', () => {
  const body = {
    order: {
      orderNo: 'n1',
      orderAmount: 1,
      tips: 2,
      discount: 3,
      totalTax: 1,
      insurance: 5,
      handlingFee: 6,
      shipping: { shipType: 'SHIPPING', amount: 7, name: 'A', address: 'B' },
      shippingDiscount: 8,
      orderDescription: 'C',
      goods: [
        { referenceGoodsId: 'g', goodsName: 'Tea', goodsDesc: 'D', goodsAmount: 1, tax: 1, goodsQuantity: 1 },
      ],
    },
    channel: 'WEB',
    paymentAmount: 1,
    currency: 'JPY',
    paymentTime: nowMs,
    paymentExpiryTime: nowMs + 30 * minuteMs,
  }
  const parsed = parseCreateBody(JSON.stringify(body)).order
  const plain = JSON.parse(
    JSON.stringify(parsed, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
  )
  assert.deepEqual(JSON.parse(writeContent(parsed)), plain)
  assert.equal(Object.keys(plain).length, 11)
})

test('two orders are the same request regardless of the gateway’s fields and of times that the sandbox moved', () => {
  const stored = order({ paymentId: 'P2', createdAtMs: 0, status: 'success', expiresAtMs: 1 })
  assert.equal(differingField(order(), stored), undefined)
})

for (const [field, value, name] of [
  ['channel', 'APP', 'channel'],
  ['paymentAmountMinor', 1n, 'paymentAmount'],
  ['currency', 'EUR', 'currency'],
  ['paymentTimeMs', 1, 'paymentTime'],
  ['paymentExpiryTimeMs', 1, 'paymentExpiryTime'],
  ['callbackUrl', undefined, 'callbackUrl'],
  ['redirectUrl', 'https://x.example', 'redirectUrl'],
  ['cancelUrl', 'https://x.example', 'cancelUrl'],
  ['content', writeContent({ ...content, tipsMinor: 1n }), 'order.tips'],
  ['content', writeContent({ ...content, goods: [...content.goods, ...content.goods] }), 'order.goods'],
  [
    'content',
    writeContent({ ...content, goods: content.goods.map((good) => ({ ...good, goodsName: 'Coffee' })) }),
    'order.goods[0].goodsName',
  ],
] as const) {
  test(`another ${name} is another request, and is named`, () => {
    assert.equal(differingField(order(), order({ [field]: value })), name)
    assert.equal(differingField(order({ [field]: value }), order()), name)
  })
}

test('a differing time is reported only if nothing else differs, and empty text equals omitted text', () => {
  assert.equal(
    differingField(order(), order({ paymentTimeMs: 1, redirectUrl: 'https://x.example' })),
    'redirectUrl',
  )
  const described = order({ content: writeContent({ ...content, orderDescription: '' }) })
  assert.equal(differingField(order(), described), undefined)
})

test('an order is overdue from the millisecond of its expiry, and only while it is pending', () => {
  const { expiresAtMs } = order()
  assert.ok(!isOverdue(order(), expiresAtMs - 1))
  assert.ok(isOverdue(order(), expiresAtMs))
  for (const status of statuses) {
    if (status !== 'pending') assert.equal(orderAt(order({ status }), expiresAtMs).status, status)
  }
  assert.equal(orderAt(order(), expiresAtMs).status, 'timeout')
})

test('an order that is not overdue does not expire', () => {
  assert.throws(() => expireOrder(order(), { nowMs, callbackId: 'c' }), /overdue/)
})

test('expiry and its callback are one change', () => {
  const { expiresAtMs } = order()
  const change = expireOrder(order(), { nowMs: expiresAtMs + 5, callbackId: 'c' })
  assert.deepEqual(
    [change.merchantId, change.paymentId, change.from, change.to, change.actor, change.changedAtMs],
    ['m', 'P1', 'pending', 'timeout', 'gateway', expiresAtMs + 5],
  )
  assert.deepEqual(change.order, {
    ...order(),
    status: 'timeout',
    completedAtMs: expiresAtMs,
    message: 'The order was not paid in time.',
  })
  assert.equal(change.callback?.eventName, 'payment.order.timeout')
  assert.equal(JSON.parse(change.callback?.body ?? '').completeTime, expiresAtMs)
})

test('without a callbackUrl, the event has no URL but endpoints may receive it', () => {
  const { expiresAtMs } = order()
  const change = expireOrder(order({ callbackUrl: undefined }), { nowMs: expiresAtMs, callbackId: 'c' })
  assert.equal(change.callback?.callbackUrl, undefined)
  assert.equal(change.callback?.eventName, 'payment.order.timeout')
})

test('only a pending order can be cancelled; a cancelled order does not change; other statuses are reported', () => {
  for (const status of statuses) {
    const cancel = () => cancelOrder(order({ status }), { nowMs, actor: 'merchant', callbackId: 'c' })
    if (status === 'pending') {
      const change = cancel()
      assert.deepEqual(change?.order, { ...order(), status: 'cancelled', completedAtMs: nowMs })
      assert.deepEqual(
        [change.from, change.actor, change.callback?.isAnswered],
        ['pending', 'merchant', true],
      )
    } else if (status === 'cancelled') assert.equal(cancel(), undefined)
    else assert.throws(cancel, { failure: 'status_does_not_allow', message: whyNot[status] })
  }
})

test('an operator’s cancellation is reported to the merchant as a failed payment with the reason', () => {
  const change = cancelOrder(order(), { nowMs, actor: 'operator', reason: 'Fraud.', callbackId: 'c' })
  assert.deepEqual(change?.order, {
    ...order(),
    status: 'cancelled',
    completedAtMs: nowMs,
    message: 'Fraud.',
  })
  assert.deepEqual([change.actor, change.callback?.eventName], ['operator', 'payment.order.failed'])
  const { status, msg, completeTime, paidTime } = JSON.parse(change.callback?.body ?? '')
  assert.deepEqual([status, msg, completeTime, paidTime], ['cancelled', 'Fraud.', nowMs, undefined])
})

const whyNot = {
  confirming: /being paid and cannot be cancelled/,
  success: /Refund it instead/,
  failed: /payment of this order failed/,
  timeout: /not paid in time/,
} as const

const payment = { walletId: 'w', transactionId: 'T1', callbackId: 'c', nowMs }

test('a submitted payment makes the order confirming, with its wallet and transaction', () => {
  const change = confirmOrder(order(), payment)
  assert.deepEqual(change.order, {
    ...order(),
    status: 'confirming',
    walletId: 'w',
    transactionId: 'T1',
  })
  assert.deepEqual([change.from, change.to, change.actor], ['pending', 'confirming', 'consumer'])
  assert.equal(change.callback?.eventName, 'payment.order.confirming')
})

test('an overdue order cannot be paid', () => {
  assert.throws(() => confirmOrder(order({ expiresAtMs: nowMs }), payment), /an overdue order is not paid/)
})

test('a payment succeeds, or fails with the reason', () => {
  const paying = order({ status: 'confirming', walletId: 'w', transactionId: 'T1' })
  for (const [failure, status] of [
    [undefined, 'success'],
    ['No.', 'failed'],
  ] as const) {
    const change = endPayment(paying, { failure, callbackId: 'c', nowMs: nowMs + 9 })
    assert.deepEqual(change.order, { ...paying, status, completedAtMs: nowMs + 9, message: failure })
    assert.deepEqual([change.from, change.to, change.actor], ['confirming', status, 'gateway'])
    assert.equal(change.callback?.eventName, `payment.order.${status}`)
  }
})

test('an order never moves to a status that the table does not allow', () => {
  for (const status of statuses.filter((each) => each !== 'confirming'))
    assert.throws(
      () => endPayment(order({ status }), { failure: undefined, callbackId: 'c', nowMs }),
      new RegExp(`${status} does not become success`),
    )
})

test('an overdue order cannot be cancelled, even while it is stored as pending', () => {
  const overdue = order({ expiresAtMs: nowMs })
  assert.throws(() => cancelOrder(overdue, { nowMs, actor: 'merchant', callbackId: 'c' }), /not paid in time/)
})

test('the times of a new order are accepted at their limits and rejected beyond', () => {
  const times = (paymentTimeMs: number, expiresAtMs: number) => {
    const refusal = refusalOfTimes(order({ paymentTimeMs, expiresAtMs }), nowMs)
    if (refusal) assert.equal(refusal.failure, 'times_out_of_range')
    return refusal?.field
  }
  assert.equal(times(nowMs, nowMs + 5 * minuteMs), undefined)
  assert.equal(times(nowMs, nowMs + 5 * minuteMs - 1), 'paymentExpiryTime')
  assert.equal(times(nowMs, nowMs + 1440 * minuteMs), undefined)
  assert.equal(times(nowMs, nowMs + 1440 * minuteMs + 1), 'paymentExpiryTime')
  assert.equal(times(nowMs + 5 * minuteMs, nowMs + 60 * minuteMs), undefined)
  assert.equal(times(nowMs + 5 * minuteMs + 1, nowMs + 60 * minuteMs), 'paymentTime')
  assert.equal(times(nowMs - 60 * minuteMs, nowMs + 1), undefined)
  assert.equal(times(nowMs - 60 * minuteMs, nowMs), 'paymentExpiryTime')
})

test('invalid times are rejected with the difference and the gateway’s clock', () => {
  const words = (paymentTimeMs: number, expiresAtMs: number) =>
    refusalOfTimes(order({ paymentTimeMs, expiresAtMs }), nowMs)?.message
  assert.match(
    words(nowMs + 7, nowMs + 9) ?? '',
    /is 2 ms after paymentTime\. Send a time between 5 minutes and 24 hours/,
  )
  const aheadMs = 5 * minuteMs + 1
  assert.match(
    words(nowMs + aheadMs, nowMs + 60 * minuteMs) ?? '',
    /paymentTime is 5 minutes 1 ms in the future \(gateway clock: \d\d:\d\d:\d\d UTC\)/,
  )
  assert.match(words(nowMs - 60 * minuteMs, nowMs - 3) ?? '', /paymentExpiryTime is 3 ms in the past/)
})
