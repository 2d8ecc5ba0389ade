import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import { nowMs, order, paidOrder } from '../../../../../test/support/order-value.ts'
import { differingRefundField, requestRefund, settleRefund, withoutHold } from './refund.ts'

const asked = { referRefundNo: 'r1', amountMinor: 400n, reason: 'Broken' }
const given = { refundId: 'R1', transactionId: 'T2', nowMs }
const hold = {
  merchantId: 'm',
  transferId: 'T2',
  kind: 'refund',
  phase: 'hold',
  holdId: undefined,
  debitAccountId: 'merchant:m:USD',
  creditAccountId: 'wallet:w:USD',
  currency: 'USD',
  amountMinor: 400n,
  paymentId: 'P1',
  refundId: 'R1',
  auditId: undefined,
  madeAtMs: nowMs,
} as const

test('a refund holds the money in the merchant’s wallet and waits for its rail, in one change', () => {
  assert.deepEqual(requestRefund(paidOrder(), asked, given), {
    refund: {
      merchantId: 'm',
      refundId: 'R1',
      paymentId: 'P1',
      referRefundNo: 'r1',
      status: 'refunding',
      amountMinor: 400n,
      currency: 'USD',
      reason: 'Broken',
      transactionId: 'T2',
      createdAtMs: nowMs,
      completedAtMs: undefined,
      message: undefined,
    },
    hold,
    waits: {
      authorizationId: 'R1',
      kind: 'refund',
      merchantId: 'm',
      paymentId: 'P1',
      refundId: 'R1',
      walletId: 'w',
      transactionId: 'T2',
      amountMinor: 400n,
      currency: 'USD',
      refusal: undefined,
      submittedAtMs: nowMs,
      dueAtMs: nowMs,
    },
  })
})

test('refunded and pending amounts cannot be refunded again, to the last cent', () => {
  const partly = paidOrder({ refundedMinor: 500n, refundHeldMinor: 250n })
  const ask = (amountMinor: bigint) => requestRefund(partly, { ...asked, amountMinor }, given)
  assert.equal(ask(500n).refund.amountMinor, 500n)
  assert.throws(() => ask(501n), {
    failure: 'more_than_left_to_refund',
    field: 'refundAmount',
    message: 'refundAmount exceeds the remaining amount: send at most 5.00 USD.',
  })
})

test('only a paid order can be refunded; other statuses are reported', () => {
  const words = {
    pending: /not paid yet. Cancel it instead/,
    confirming: /being paid. Wait for its result/,
    failed: /payment of this order failed/,
    timeout: /not paid in time/,
    cancelled: /cancelled before it was paid/,
  } as const
  for (const status of Object.keys(orderStatuses) as OrderStatus[]) {
    if (status === 'success') continue
    assert.throws(() => requestRefund(order({ status }), asked, given), {
      failure: 'status_does_not_allow',
      message: words[status],
    })
  }
})

test('a paid order without its wallet is a bug', () => {
  assert.throws(
    () => requestRefund(paidOrder({ walletId: undefined }), asked, given),
    /is a rail or a wallet/,
  )
})

test('with an insufficient merchant balance, a refund holds nothing and will fail', () => {
  const request = requestRefund(paidOrder(), asked, given)
  const bare = withoutHold(request)
  assert.deepEqual(bare.refund, { ...request.refund, transactionId: undefined })
  assert.equal(bare.hold, undefined)
  assert('authorizationId' in bare.waits)
  const { refusal, ...authorization } = bare.waits
  assert.match(refusal ?? '', /balance is too low/)
  assert.deepEqual({ ...authorization, refusal: undefined }, { ...request.waits, transactionId: undefined })
})

test('a repeated refund must have the same content; a difference is reported by field', () => {
  const { refund } = requestRefund(paidOrder(), asked, given)
  const same = { ...asked, paymentId: 'P1' }
  assert.equal(differingRefundField(refund, same), undefined)
  for (const [other, field] of [
    [{ paymentId: 'P2' }, 'paymentId'],
    [{ amountMinor: 1n }, 'refundAmount'],
    [{ reason: undefined }, 'refundReason'],
  ] as const)
    assert.equal(differingRefundField(refund, { ...same, ...other }), field)
  const unexplained = { ...same, reason: undefined }
  assert.equal(differingRefundField({ ...refund, reason: '' }, unexplained), undefined)
})

const ending = { transferId: 'T3', callbackId: 'c', nowMs: nowMs + 5 }

test('an approved refund is posted, a declined one is voided with the reason', () => {
  const { refund } = requestRefund(paidOrder(), asked, given)
  const facts = { order: paidOrder(), refund }
  const end = { ...hold, transferId: 'T3', holdId: 'T2', madeAtMs: nowMs + 5 }
  const approved = settleRefund(facts, { kind: 'approved' }, ending)
  assert.deepEqual(approved.refund, { ...refund, status: 'refund_success', completedAtMs: nowMs + 5 })
  assert.deepEqual(approved.end, { ...end, phase: 'post' })
  assert.deepEqual(
    [approved.callback?.callbackId, approved.callback?.eventName, approved.callback?.createdAtMs],
    ['c', 'payment.refund.success', nowMs + 5],
  )
  const declined = settleRefund(facts, { kind: 'declined', reason: 'No.' }, ending)
  assert.deepEqual(declined.refund, {
    ...refund,
    status: 'refund_failed',
    completedAtMs: nowMs + 5,
    message: 'No.',
  })
  assert.deepEqual(declined.end, { ...end, phase: 'void' })
  assert.equal(declined.callback?.eventName, 'payment.refund.failed')
})

test('a refund without a hold fails without moving money and is never approved', () => {
  const { refund } = withoutHold(requestRefund(paidOrder(), asked, given))
  const facts = { order: paidOrder(), refund }
  assert.equal(settleRefund(facts, { kind: 'declined', reason: 'No.' }, ending).end, undefined)
  assert.throws(() => settleRefund(facts, { kind: 'approved' }, ending), /only money that is held goes back/)
})

test('a refund ends once, and its order has a wallet', () => {
  const { refund } = requestRefund(paidOrder(), asked, given)
  const ended = { order: paidOrder(), refund: { ...refund, status: 'refund_failed' } as const }
  assert.throws(
    () => settleRefund(ended, { kind: 'approved' }, ending),
    /refund_failed does not become refund_success/,
  )
  const lost = { order: paidOrder({ walletId: undefined }), refund }
  assert.throws(() => settleRefund(lost, { kind: 'approved' }, ending), /is a rail or a wallet/)
})
