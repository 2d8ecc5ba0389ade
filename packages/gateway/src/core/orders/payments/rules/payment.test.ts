import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import { nowMs, order } from '../../../../../test/support/order-value.ts'
import { noLimits } from '../../../wallets/rules/limits.ts'
import { makePriceBook } from '../../fees/rules/price.ts'
import { settlePayment, submitPayment } from './payment.ts'

const given = { walletId: 'w', transactionId: 'T1', callbackId: 'c', limits: noLimits, nowMs }
const hold = {
  merchantId: 'm',
  transferId: 'T1',
  kind: 'payment',
  phase: 'hold',
  holdId: undefined,
  debitAccountId: 'wallet:w:USD',
  creditAccountId: 'merchant:m:USD',
  currency: 'USD',
  amountMinor: 1250n,
  paymentId: 'P1',
  refundId: undefined,
  auditId: undefined,
  madeAtMs: nowMs,
} as const

test('a payment holds the money, makes the order confirming and waits for its rail, in one change', () => {
  const submission = submitPayment(order(), given)
  assert(submission.kind === 'submission')
  assert.equal(submission.change.to, 'confirming')
  assert.deepEqual([submission.change.order.walletId, submission.change.order.transactionId], ['w', 'T1'])
  assert.deepEqual(submission.hold, hold)
  assert.deepEqual(submission.authorization, {
    authorizationId: 'P1',
    kind: 'payment',
    merchantId: 'm',
    paymentId: 'P1',
    refundId: undefined,
    walletId: 'w',
    transactionId: 'T1',
    amountMinor: 1250n,
    currency: 'USD',
    refusal: undefined,
    submittedAtMs: nowMs,
    dueAtMs: nowMs,
  })
})

test('only a pending order can be paid; other statuses are reported', () => {
  for (const status of Object.keys(orderStatuses) as OrderStatus[]) {
    if (status === 'pending') continue
    assert.deepEqual(submitPayment(order({ status }), given), { kind: 'order_not_payable', status })
  }
  assert.deepEqual(submitPayment(order({ expiresAtMs: nowMs }), given), {
    kind: 'order_not_payable',
    status: 'timeout',
  })
})

const paying = order({ status: 'confirming', walletId: 'w', transactionId: 'T1' })
const ending = { transferId: 'T2', callbackId: 'c', nowMs: nowMs + 5, prices: makePriceBook([]) }

test('an approved payment is posted, a declined one is voided with the reason', () => {
  const end = { ...hold, transferId: 'T2', holdId: 'T1', madeAtMs: nowMs + 5 }
  const approved = settlePayment(paying, { kind: 'approved' }, ending)
  assert.deepEqual([approved.change.to, approved.change.order.message], ['success', undefined])
  assert.deepEqual(approved.transfers, [{ ...end, phase: 'post' }])
  const declined = settlePayment(paying, { kind: 'declined', reason: 'No.' }, ending)
  assert.deepEqual([declined.change.to, declined.change.order.message], ['failed', 'No.'])
  assert.deepEqual(declined.transfers, [{ ...end, phase: 'void' }])
})

test('the fee is charged for an approved payment and not for a declined one', () => {
  const terms = {
    fixedMinor: 30n,
    basisPoints: 100,
    leastMinor: undefined,
    mostMinor: undefined,
    returnsFee: true,
  }
  const scope = { merchantId: undefined, railId: undefined, currency: 'USD' }
  const prices = makePriceBook([{ priceId: 'p', ...scope, validFromMs: nowMs, createdAtMs: 0, terms }])
  const { change, transfers } = settlePayment(paying, { kind: 'approved' }, { ...ending, prices })
  assert.deepEqual(change.order.fee, { amountMinor: 43n, isReturned: true })
  assert.deepEqual(transfers[1], {
    ...hold,
    transferId: 'T1F',
    kind: 'fee',
    phase: 'direct',
    debitAccountId: 'merchant:m:USD',
    creditAccountId: 'fees:m:USD',
    amountMinor: 43n,
    madeAtMs: nowMs + 5,
  })
  const declined = settlePayment(paying, { kind: 'declined', reason: 'No.' }, { ...ending, prices })
  assert.deepEqual([declined.transfers.length, declined.change.order.fee], [1, undefined])
})

test('a payment without its transaction or its wallet is a bug', () => {
  for (const missing of [{ transactionId: undefined }, { walletId: undefined }])
    assert.throws(
      () => settlePayment({ ...paying, ...missing }, { kind: 'approved' }, ending),
      /has its transaction|a rail or a wallet/,
    )
})
