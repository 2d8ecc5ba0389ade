import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nowMs, order, paidOrder } from '../../../../test/support/order-value.ts'
import type { Refund } from '../refunds/rules/refund.ts'
import { refundCallback } from '../refunds/rules/refund.ts'
import { cancelOrder, orderCallback } from './status-change.ts'

const given = { nowMs: nowMs + 1, callbackId: 'c' }

test('the event of a paid order has its transaction and time', () => {
  const callback = orderCallback(paidOrder({ completedAtMs: nowMs + 7 }), given)
  assert.deepEqual(
    { ...callback, body: JSON.parse(callback?.body ?? '') },
    {
      merchantId: 'm',
      callbackId: 'c',
      paymentId: 'P1',
      refundId: undefined,
      eventName: 'payment.order.success',
      callbackUrl: 'https://shop.example/cb',
      body: {
        merchantId: 'm',
        paymentId: 'P1',
        referOrderNo: 'n1',
        outOrderNo: 'n1',
        transactionId: 'T1',
        paymentAmount: 12.5,
        currency: 'USD',
        paymentTime: nowMs,
        completeTime: nowMs + 7,
        paidTime: nowMs + 7,
        status: 'success',
        msg: '',
      },
      createdAtMs: nowMs + 1,
      isAnswered: false,
    },
  )
})

test('missing values are omitted, and a failure has its reason', () => {
  const confirming = orderCallback(order({ status: 'confirming' }), given)
  const names = Object.keys(JSON.parse(confirming?.body ?? ''))
  for (const name of ['transactionId', 'completeTime', 'paidTime']) assert.ok(!names.includes(name), name)
  const failed = orderCallback(order({ status: 'failed', message: 'No.' }), given)
  assert.equal(JSON.parse(failed?.body ?? '').msg, 'No.')
})

test('a final status has a completeTime, and only a paid order has a paidTime', () => {
  for (const status of ['success', 'failed', 'timeout', 'cancelled'] as const) {
    const callback = orderCallback(order({ status, completedAtMs: nowMs + 7 }), given)
    const { completeTime, paidTime } = JSON.parse(callback?.body ?? '')
    assert.deepEqual([completeTime, paidTime], [nowMs + 7, status === 'success' ? nowMs + 7 : undefined])
  }
})

test('a status without an event is not reported', () => {
  assert.equal(orderCallback(order({ status: 'pending' }), given), undefined)
  assert.equal(refundCallback(refund({ status: 'refunding' }), { ...given, order: order() }), undefined)
})

test('a merchant’s own cancellation appears only in the operator’s feed', () => {
  const cancelled = cancelOrder(order({ status: 'pending' }), { ...given, actor: 'merchant' })
  assert.deepEqual(
    [cancelled?.callback?.eventName, cancelled?.callback?.isAnswered],
    ['payment.order.failed', true],
  )
  const byConsumer = cancelOrder(order({ status: 'pending' }), { ...given, actor: 'consumer' })
  assert.equal(byConsumer?.callback?.isAnswered, false)
})

function refund(changes: Partial<Refund> = {}): Refund {
  return {
    merchantId: 'm',
    refundId: 'R1',
    paymentId: 'P1',
    referRefundNo: 'r1',
    status: 'refund_success',
    amountMinor: 400n,
    currency: 'USD',
    reason: 'Broken',
    transactionId: 'T2',
    createdAtMs: nowMs,
    completedAtMs: nowMs + 3,
    message: undefined,
    ...changes,
  }
}

test('a refund’s event has its own ids and those of its payment', () => {
  const callback = refundCallback(refund(), { ...given, order: order() })
  assert.deepEqual(
    { ...callback, body: JSON.parse(callback?.body ?? '') },
    {
      merchantId: 'm',
      callbackId: 'c',
      paymentId: 'P1',
      refundId: 'R1',
      eventName: 'payment.refund.success',
      callbackUrl: 'https://shop.example/cb',
      body: {
        merchantId: 'm',
        refundId: 'R1',
        paymentId: 'P1',
        referRefundNo: 'r1',
        transactionId: 'T2',
        refundAmount: 4,
        currency: 'USD',
        refundTime: nowMs,
        completeTime: nowMs + 3,
        status: 'refund_success',
        msg: '',
      },
      createdAtMs: nowMs + 1,
    },
  )
})

test('callbacks of an order with attach contain it, including those of its refunds', () => {
  const attach = '{"basket": 7}\n界'
  const results = [
    orderCallback(order({ status: 'timeout', attach }), given),
    refundCallback(refund(), { ...given, order: order({ attach }) }),
  ]
  for (const callback of results) assert.equal(JSON.parse(callback?.body ?? '').attach, attach)
})

test('a refund that moved no money has no transaction, and has its reason', () => {
  const failed = refund({
    status: 'refund_failed',
    transactionId: undefined,
    completedAtMs: undefined,
    message: 'No.',
  })
  const callback = refundCallback(failed, { ...given, order: order() })
  const body = JSON.parse(callback?.body ?? '')
  assert.equal(body.msg, 'No.')
  for (const name of ['transactionId', 'completeTime']) assert.ok(!(name in body), name)
})
