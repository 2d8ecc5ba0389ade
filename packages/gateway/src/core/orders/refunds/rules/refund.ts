// Refunds a payment fully or partially: a hold in the merchant's wallet with `refunding`, ended by `refund_success`
// or `refund_failed`. The total never exceeds the payment.
import assert from 'node:assert/strict'
import {
  canRefundMove,
  eventOfStatus,
  Failure,
  type RefundResult,
  type RefundStatus,
  toDecimalText,
  toWireAmount,
} from '@tillgate/protocol'
import type { Callback } from '../../../callbacks/rules/callback.ts'
import { accountIdOf, endHold, merchantAccount, type Transfer } from '../../../ledger/rules/transfer.ts'
import type { Authorization } from '../../payments/rules/authorization.ts'
import { type FinalAnswer, payerAccount } from '../../payments/rules/payment.ts'
import type { RailTask } from '../../payments/rules/rail-task.ts'
import { isHeld, type Order } from '../../rules/order.ts'

export interface Refund {
  readonly merchantId: string
  readonly refundId: string
  readonly paymentId: string
  readonly referRefundNo: string
  readonly status: RefundStatus
  readonly amountMinor: bigint
  readonly currency: string
  readonly reason: string | undefined
  /** Undefined if the balance was too low for a hold. */
  readonly transactionId: string | undefined
  readonly createdAtMs: number
  readonly completedAtMs: number | undefined
  readonly message: string | undefined
}

export interface RefundRequest {
  readonly refund: Refund
  /** Undefined if there was nothing to hold. */
  readonly hold: Transfer | undefined
  /** The wallet's authorization or the rail's task. */
  readonly waits: Authorization | RailTask
}

export interface AskedRefund {
  readonly referRefundNo: string
  readonly amountMinor: bigint
  readonly reason: string | undefined
}

export function requestRefund(
  order: Order,
  { referRefundNo, amountMinor, reason }: AskedRefund,
  { refundId, transactionId, nowMs }: { refundId: string; transactionId: string; nowMs: number },
): RefundRequest & { readonly hold: Transfer } {
  checkRefundable(order, amountMinor)
  const { merchantId, paymentId, currency } = order
  const refund: Refund = {
    merchantId,
    refundId,
    paymentId,
    referRefundNo,
    status: 'refunding',
    amountMinor,
    currency,
    reason,
    transactionId,
    createdAtMs: nowMs,
    completedAtMs: undefined,
    message: undefined,
  }
  return {
    refund,
    hold: refundHold(refund, order, transactionId),
    waits: order.railId === undefined ? authorizationOf(refund, order) : taskOf(refund, order),
  }
}

function authorizationOf(
  refund: Refund,
  { walletId }: Pick<Order, 'walletId'>,
  refusal?: string,
): Authorization {
  const { merchantId, refundId, paymentId, transactionId, amountMinor, currency, createdAtMs } = refund
  return {
    authorizationId: refundId,
    kind: 'refund',
    merchantId,
    paymentId,
    refundId,
    walletId,
    transactionId,
    amountMinor,
    currency,
    refusal,
    submittedAtMs: createdAtMs,
    dueAtMs: createdAtMs,
  }
}

function taskOf({ merchantId, refundId, paymentId, createdAtMs }: Refund, order: Order): RailTask {
  const { railId, transactionId } = order
  assert(railId && transactionId, 'an order that was paid through a rail names both')
  return { taskId: refundId, kind: 'refund', railId, merchantId, paymentId, transactionId, createdAtMs }
}

function refundHold(
  { merchantId, refundId, paymentId, currency, amountMinor, createdAtMs }: Refund,
  order: Order,
  transactionId: string,
): Transfer {
  return {
    merchantId,
    transferId: transactionId,
    kind: 'refund',
    phase: 'hold',
    holdId: undefined,
    debitAccountId: accountIdOf(merchantAccount(merchantId, currency)),
    creditAccountId: accountIdOf(payerAccount(order)),
    currency,
    amountMinor,
    paymentId,
    refundId,
    auditId: undefined,
    madeAtMs: createdAtMs,
  }
}

/** For a merchant with too little money: the refund is accepted and will fail. */
export function withoutHold(request: RefundRequest): RefundRequest {
  const refund = { ...request.refund, transactionId: undefined }
  const walletId = 'authorizationId' in request.waits ? request.waits.walletId : undefined
  const refusal = 'The merchant’s balance is too low for this refund.'
  return { refund, hold: undefined, waits: authorizationOf(refund, { walletId }, refusal) }
}

function checkRefundable(order: Order, amountMinor: bigint): void {
  if (order.status !== 'success')
    throw new Failure('status_does_not_allow', {
      message: whyNotRefund[isHeld(order) ? 'held' : order.status],
    })
  const leftMinor = refundableMinor(order)
  if (amountMinor <= leftMinor) return
  const left = `${toDecimalText(leftMinor, order.currency)} ${order.currency}`
  throw new Failure('more_than_left_to_refund', {
    field: 'refundAmount',
    message: `refundAmount exceeds the remaining amount: send at most ${left}.${order.disputedMinor > 0n ? ' The rest is disputed.' : ''}`,
  })
}

/** A disputed amount is already on its way back to the consumer. */
export function refundableMinor(order: Order): bigint {
  const left = order.paymentAmountMinor - order.refundedMinor - order.refundHeldMinor - order.disputedMinor
  return left > 0n ? left : 0n
}

const whyNotRefund = {
  held: 'The order is authorized and not captured completely. Capture or release the rest, then refund it.',
  pending: 'The order is not paid yet. Cancel it instead.',
  confirming: 'The order is being paid. Wait for its result, then refund it.',
  failed: 'The payment of this order failed. There is nothing to refund.',
  timeout: 'The order was not paid in time. There is nothing to refund.',
  cancelled: 'The order was cancelled before it was paid. There is nothing to refund.',
} as const

/** The first field in which a repeated referRefundNo differs; undefined if it is the same refund. */
export function differingRefundField(
  refund: Refund,
  asked: AskedRefund & { readonly paymentId: string },
): 'paymentId' | 'refundAmount' | 'refundReason' | undefined {
  if (refund.paymentId !== asked.paymentId) return 'paymentId'
  if (refund.amountMinor !== asked.amountMinor) return 'refundAmount'
  return (refund.reason || undefined) === asked.reason ? undefined : 'refundReason'
}

export interface RefundChange {
  readonly refund: Refund
  /** Whether a share of the order's fee is returned. */
  readonly returnsFee: boolean
  readonly end: Transfer | undefined
  readonly callback: Callback | undefined
}

export function settleRefund(
  { order, refund }: { order: Order; refund: Refund },
  answer: FinalAnswer,
  given: { transferId: string; callbackId: string; nowMs: number },
): RefundChange {
  const { transferId, callbackId, nowMs } = given
  const status = answer.kind === 'approved' ? 'refund_success' : 'refund_failed'
  assert(canRefundMove({ from: refund.status, to: status }), `${refund.status} does not become ${status}`)
  assert(answer.kind === 'declined' || refund.transactionId, 'only money that is held goes back')
  const after: Refund = {
    ...refund,
    status,
    completedAtMs: nowMs,
    message: answer.kind === 'declined' ? answer.reason : undefined,
  }
  return {
    refund: after,
    returnsFee: status === 'refund_success' && order.fee?.isReturned === true,
    end: endOf(order, refund),
    callback: refundCallback(after, { order, callbackId, nowMs }),
  }

  function endOf(paid: Order, { transactionId }: Refund): Transfer | undefined {
    if (transactionId === undefined) return undefined
    const phase = answer.kind === 'approved' ? 'post' : 'void'
    return endHold(refundHold(refund, paid, transactionId), { transferId, phase, nowMs })
  }
}

/** Undefined for a status without an event. Needed without a callbackUrl too, for webhook endpoints. */
export function refundCallback(
  refund: Refund,
  {
    order,
    callbackId,
    nowMs,
  }: { order: Pick<Order, 'callbackUrl' | 'attach'>; callbackId: string; nowMs: number },
): Callback | undefined {
  const eventName = eventOfStatus(refund.status)
  if (!eventName) return undefined
  return {
    merchantId: refund.merchantId,
    callbackId,
    paymentId: refund.paymentId,
    refundId: refund.refundId,
    eventName,
    callbackUrl: order.callbackUrl,
    body: JSON.stringify(refundResult(refund, order.attach)),
    createdAtMs: nowMs,
  }
}

function refundResult(refund: Refund, attach: string | undefined): RefundResult {
  return {
    merchantId: refund.merchantId,
    refundId: refund.refundId,
    paymentId: refund.paymentId,
    referRefundNo: refund.referRefundNo,
    ...(refund.transactionId !== undefined && { transactionId: refund.transactionId }),
    refundAmount: toWireAmount(refund.amountMinor, refund.currency),
    currency: refund.currency,
    refundTime: refund.createdAtMs,
    ...(refund.completedAtMs !== undefined && { completeTime: refund.completedAtMs }),
    status: refund.status,
    msg: refund.message ?? '',
    ...(attach !== undefined && { attach }),
  }
}
