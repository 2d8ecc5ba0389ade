import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrderContent, type OrderStatus, orderStatuses, parseCreateBody } from '@tillgate/protocol'
import {
  cancelOrder,
  expireOrder,
  hasSameContent,
  isOverdue,
  makeOrder,
  type Order,
  orderAt,
  refusalOfTimes,
  writeContent,
} from './order.ts'

const nowMs = 1_800_000_000_000
const minuteMs = 60_000
const statuses = Object.keys(orderStatuses) as OrderStatus[]
const content: OrderContent = {
  orderNo: 'n1',
  orderAmountMinor: 1250n,
  goods: [{ referenceGoodsId: 'g', goodsName: 'Tea', goodsAmountMinor: 1250n, goodsQuantity: 1 }],
}

function order(changes: Partial<Order> = {}): Order {
  const create = {
    order: content,
    channel: 'WEB',
    paymentAmountMinor: 1250n,
    currency: 'USD',
    paymentTimeMs: nowMs,
    paymentExpiryTimeMs: nowMs + 30 * minuteMs,
    callbackUrl: 'https://shop.example/cb',
  } as const
  return { ...makeOrder(create, { merchantId: 'm', paymentId: 'P1', checkoutToken: 't', nowMs }), ...changes }
}

test('content is written with its fields in a fixed order, left-out fields left out', () => {
  assert.equal(
    writeContent(content),
    '{"orderNo":"n1","orderAmountMinor":"1250","goods":[{"referenceGoodsId":"g","goodsName":"Tea",' +
      '"goodsAmountMinor":"1250","goodsQuantity":1}]}',
  )
})

test('every field that a merchant can send is in the content', () => {
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

test('two orders are the same request whatever we added ourselves', () => {
  assert.ok(
    hasSameContent(
      order(),
      order({ paymentId: 'P2', checkoutToken: 'u', createdAtMs: 0, status: 'success' }),
    ),
  )
})

for (const [field, value] of Object.entries({
  orderNo: 'n2',
  channel: 'APP',
  paymentAmountMinor: 1n,
  currency: 'EUR',
  paymentTimeMs: 1,
  expiresAtMs: 1,
  callbackUrl: undefined,
  redirectUrl: 'https://x.example',
  content: '{}',
})) {
  test(`another ${field} is another request`, () => {
    assert.ok(!hasSameContent(order(), order({ [field]: value })))
  })
}

test('an order is overdue from the millisecond of its expiry on, and only while it is pending', () => {
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

test('expiry and its callback are one value', () => {
  const { expiresAtMs } = order()
  const change = expireOrder(order(), { nowMs: expiresAtMs + 5, callbackId: 'c' })
  assert.deepEqual(
    [change.from, change.to, change.actor, change.changedAtMs],
    ['pending', 'timeout', 'gateway', expiresAtMs + 5],
  )
  assert.equal(change.callback?.eventName, 'payment.order.timeout')
  assert.equal(JSON.parse(change.callback?.body ?? '').completeTime, expiresAtMs)
})

test('without a callbackUrl there is no callback', () => {
  const { expiresAtMs } = order()
  const change = expireOrder(order({ callbackUrl: undefined }), { nowMs: expiresAtMs, callbackId: 'c' })
  assert.equal(change.callback, undefined)
})

test('only a pending order is cancelled; a cancelled one needs no change; the rest say why not', () => {
  for (const status of statuses) {
    const cancel = () => cancelOrder(order({ status }), { nowMs, actor: 'merchant' })
    if (status === 'pending') assert.equal(cancel()?.to, 'cancelled')
    else if (status === 'cancelled') assert.equal(cancel(), undefined)
    else assert.throws(cancel, { failure: 'status_does_not_allow' })
  }
})

test('an overdue order is not cancelled, though the store still calls it pending', () => {
  const overdue = order({ expiresAtMs: nowMs })
  assert.throws(() => cancelOrder(overdue, { nowMs, actor: 'merchant' }), /not paid in time/)
})

test('the times of a new order are right at their edges and wrong one past them', () => {
  const times = (paymentTimeMs: number, expiresAtMs: number) =>
    refusalOfTimes(order({ paymentTimeMs, expiresAtMs }), nowMs)?.field
  assert.equal(times(nowMs, nowMs + 5 * minuteMs), undefined)
  assert.equal(times(nowMs, nowMs + 5 * minuteMs - 1), 'paymentExpiryTime')
  assert.equal(times(nowMs, nowMs + 1440 * minuteMs), undefined)
  assert.equal(times(nowMs, nowMs + 1440 * minuteMs + 1), 'paymentExpiryTime')
  assert.equal(times(nowMs + 5 * minuteMs, nowMs + 60 * minuteMs), undefined)
  assert.equal(times(nowMs + 5 * minuteMs + 1, nowMs + 60 * minuteMs), 'paymentTime')
  assert.equal(times(nowMs - 60 * minuteMs, nowMs + 1), undefined)
  assert.equal(times(nowMs - 60 * minuteMs, nowMs), 'paymentExpiryTime')
})
