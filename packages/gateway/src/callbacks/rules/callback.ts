// What a merchant is told, made at the very moment it happens. Delivery comes later and changes nothing in it.
import assert from 'node:assert/strict'
import {
  type EventName,
  eventOfStatus,
  type PaymentResult,
  type RefundResult,
  toWireAmount,
} from '@tillgate/protocol'
import type { Order } from '../../orders/rules/order.ts'
import type { Refund } from '../../refunds/rules/refund.ts'

export interface Callback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  readonly eventName: EventName
  readonly callbackUrl: string
  /** The plain result object as JSON text, the very text that is signed and encrypted at each attempt. */
  readonly body: string
  readonly createdAtMs: number
}

/** Undefined where nobody wants to know: no callbackUrl, or a status that has no event. */
export function orderCallback(
  order: Order,
  { nowMs, callbackId }: { nowMs: number; callbackId: string | undefined },
): Callback | undefined {
  const eventName = eventOfStatus(order.status)
  if (!eventName || !order.callbackUrl) return undefined
  assert(callbackId, `${eventName} needs an id for its callback`)
  return {
    merchantId: order.merchantId,
    callbackId,
    paymentId: order.paymentId,
    refundId: undefined,
    eventName,
    callbackUrl: order.callbackUrl,
    body: JSON.stringify(paymentResult(order)),
    createdAtMs: nowMs,
  }
}

function paymentResult(order: Order): PaymentResult {
  return {
    merchantId: order.merchantId,
    paymentId: order.paymentId,
    referOrderNo: order.orderNo,
    outOrderNo: order.orderNo,
    ...(order.transactionId !== undefined && { transactionId: order.transactionId }),
    paymentAmount: toWireAmount(order.paymentAmountMinor, order.currency),
    currency: order.currency,
    paymentTime: order.paymentTimeMs,
    ...(order.completedAtMs !== undefined && {
      completeTime: order.completedAtMs,
      paidTime: order.completedAtMs,
    }),
    status: order.status,
    msg: order.message ?? '',
  }
}

/** As orderCallback, for what became of a refund. */
export function refundCallback(
  refund: Refund,
  given: { callbackUrl: string | undefined; callbackId: string; nowMs: number },
): Callback | undefined {
  const { callbackUrl, callbackId, nowMs } = given
  const eventName = eventOfStatus(refund.status)
  if (!eventName || !callbackUrl) return undefined
  return {
    merchantId: refund.merchantId,
    callbackId,
    paymentId: refund.paymentId,
    refundId: refund.refundId,
    eventName,
    callbackUrl,
    body: JSON.stringify(refundResult(refund)),
    createdAtMs: nowMs,
  }
}

function refundResult(refund: Refund): RefundResult {
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
  }
}
