// All status changes of a payment order. Pure: each decision is one value, which the store commits completely or not
// at all.
import assert from 'node:assert/strict'
import {
  canOrderMove,
  eventOfStatus,
  Failure,
  type OrderStatus,
  type PaymentResult,
  toWireAmount,
} from '@tillgate/protocol'
import type { Callback } from '../../callbacks/rules/callback.ts'
import { isOverdue, orderAt, timedOut } from './expiry.ts'
import { isHeld, type Order, type OrderFee, type OrderKey } from './order.ts'

/** A status change includes its callback, so neither is written alone. */
export interface StatusChange extends OrderKey {
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly changedAtMs: number
  readonly actor: Actor
  /** The change fails if the order's open attempt differs. */
  readonly openAttempt: string | undefined
  readonly order: Order
  readonly callback: Callback | undefined
}

/** A member is a person of the merchant, in the portal. */
export type Actor = 'merchant' | 'consumer' | 'gateway' | 'operator' | 'member'

export function expireOrder(
  order: Order,
  { nowMs, callbackId }: { nowMs: number; callbackId: string },
): StatusChange {
  assert(isOverdue(order, nowMs), 'only an overdue order expires')
  return change(order, timedOut(order), { nowMs, callbackId, actor: 'gateway' })
}

export type Payer =
  | { readonly walletId: string; readonly railId?: undefined }
  | { readonly railId: string; readonly walletId?: undefined }

export function confirmOrder(
  order: Order,
  given: Payer & { transactionId: string; callbackId: string; nowMs: number },
): StatusChange {
  const { walletId, railId, transactionId, callbackId, nowMs } = given
  assert(!isOverdue(order, nowMs), 'an overdue order is not paid')
  return change(
    order,
    { ...order, status: 'confirming', walletId, railId, transactionId },
    { nowMs, callbackId, actor: 'consumer' },
  )
}

export function endPayment(
  order: Order,
  given: {
    failure: string | undefined
    fee?: OrderFee | undefined
    callbackId: string
    nowMs: number
    actor?: Actor
  },
): StatusChange {
  const { failure, fee, callbackId, nowMs, actor = 'gateway' } = given
  const status = failure === undefined ? 'success' : 'failed'
  return change(
    order,
    { ...order, status, completedAtMs: nowMs, message: failure, fee },
    { nowMs, callbackId, actor },
  )
}

/** A merchant's program gets the response; a person's cancellation sends a callback with the reason. */
export type Canceller = { readonly callbackId: string } & (
  | { readonly actor: 'merchant' | 'consumer' }
  | { readonly actor: 'operator' | 'member'; readonly reason: string }
)

/** Undefined if it is already cancelled. */
export function cancelOrder(
  stored: Order,
  { nowMs, ...by }: Canceller & { nowMs: number },
): StatusChange | undefined {
  const order = orderAt(stored, nowMs)
  if (order.status === 'cancelled') return undefined
  if (order.status !== 'pending')
    throw new Failure('status_does_not_allow', {
      message: whyNotCancel[isHeld(order) ? 'held' : order.status],
    })
  const message = 'reason' in by ? by.reason : order.message
  return change(
    order,
    { ...order, status: 'cancelled', completedAtMs: nowMs, message },
    { nowMs, ...by, isAnswered: by.actor === 'merchant' },
  )
}

const whyNotCancel = {
  held: 'The order is authorized and cannot be cancelled. Release it with service.order.release.',
  confirming: 'The order is being paid and cannot be cancelled. Wait for its result.',
  success: 'The order is paid and cannot be cancelled. Refund it instead.',
  failed: 'The payment of this order failed. There is nothing to cancel.',
  timeout: 'The order was not paid in time. There is nothing to cancel.',
} as const

function change(
  before: Order,
  after: Order,
  {
    nowMs,
    actor,
    callbackId,
    isAnswered = false,
  }: { nowMs: number; actor: Actor; callbackId: string; isAnswered?: boolean },
): StatusChange {
  assert(
    canOrderMove({ from: before.status, to: after.status }),
    `${before.status} does not become ${after.status}`,
  )
  return {
    merchantId: after.merchantId,
    paymentId: after.paymentId,
    from: before.status,
    to: after.status,
    changedAtMs: nowMs,
    actor,
    openAttempt: before.openAttempt,
    order: { ...after, openAttempt: undefined },
    callback: orderCallback(after, { nowMs, callbackId, isAnswered }),
  }
}

/** Undefined for a status without an event. Needed without a callbackUrl too, for webhook endpoints. */
export function orderCallback(
  order: Order,
  { nowMs, callbackId, isAnswered = false }: { nowMs: number; callbackId: string; isAnswered?: boolean },
): Callback | undefined {
  const eventName = eventOfStatus(order.status)
  if (!eventName) return undefined
  return {
    merchantId: order.merchantId,
    callbackId,
    paymentId: order.paymentId,
    refundId: undefined,
    eventName,
    callbackUrl: order.callbackUrl,
    body: JSON.stringify(paymentResult(order)),
    createdAtMs: nowMs,
    isAnswered,
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
    ...(order.authorization && {
      authorizedAmount: toWireAmount(order.authorization.authorizedMinor, order.currency),
      capturedAmount: toWireAmount(order.authorization.capturedMinor, order.currency),
    }),
    currency: order.currency,
    paymentTime: order.paymentTimeMs,
    ...(order.completedAtMs !== undefined && {
      completeTime: order.completedAtMs,
      ...(order.status === 'success' && { paidTime: order.completedAtMs }),
    }),
    status: order.status,
    msg: order.message ?? '',
    ...(order.attach !== undefined && { attach: order.attach }),
  }
}
