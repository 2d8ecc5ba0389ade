// A payment order and the only ways in which its status changes. Pure: what is decided here is a value, and the
// store commits it whole or not at all.
import assert from 'node:assert/strict'
import {
  type CreateOrder,
  canOrderMove,
  Failure,
  maxExpiryMs,
  maxPaymentTimeAheadMs,
  minExpiryMs,
  type OrderContent,
  type OrderStatus,
} from '@tillgate/protocol'
import { type Callback, orderCallback } from '../../callbacks/rules/callback.ts'

export interface OrderKey {
  readonly merchantId: string
  readonly paymentId: string
}

export interface Order extends OrderKey {
  readonly orderNo: string
  readonly status: OrderStatus
  readonly channel: 'WEB' | 'APP'
  readonly paymentAmountMinor: bigint
  readonly currency: string
  readonly paymentTimeMs: number
  readonly expiresAtMs: number
  readonly callbackUrl: string | undefined
  readonly redirectUrl: string | undefined
  /** The merchant's order object, normalised, as JSON text: what the checkout shows. */
  readonly content: string
  readonly checkoutToken: string
  readonly createdAtMs: number
  readonly transactionId: string | undefined
  /** The wallet that paid, or tries to. */
  readonly walletId: string | undefined
  /** When it came to its final status; for a paid order the time of the payment. */
  readonly completedAtMs: number | undefined
  /** The reason when the payment failed. */
  readonly message: string | undefined
  /** What went back to the consumer, and what is on its way back. */
  readonly refundedMinor: bigint
  readonly refundHeldMinor: bigint
  /** Refunds in all, the failed ones too. */
  readonly refundCount: number
}

/** A change of status and the callback that reports it are one value: nobody can write the one without the other. */
export interface StatusChange extends OrderKey {
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly changedAtMs: number
  readonly actor: Actor
  readonly order: Order
  readonly callback: Callback | undefined
}

export type Actor = 'merchant' | 'consumer' | 'gateway' | 'operator'

export function makeOrder(
  create: CreateOrder,
  given: OrderKey & { checkoutToken: string; nowMs: number },
): Order {
  const { merchantId, paymentId, checkoutToken, nowMs } = given
  return {
    merchantId,
    paymentId,
    orderNo: create.order.orderNo,
    status: 'pending',
    channel: create.channel,
    paymentAmountMinor: create.paymentAmountMinor,
    currency: create.currency,
    paymentTimeMs: create.paymentTimeMs,
    expiresAtMs: create.paymentExpiryTimeMs,
    callbackUrl: create.callbackUrl,
    redirectUrl: create.redirectUrl,
    content: writeContent(create.order),
    checkoutToken,
    createdAtMs: nowMs,
    transactionId: undefined,
    walletId: undefined,
    completedAtMs: undefined,
    message: undefined,
    refundedMinor: 0n,
    refundHeldMinor: 0n,
    refundCount: 0,
  }
}

/** Why the times of a new order are not right; undefined when they are. */
export function refusalOfTimes({ paymentTimeMs, expiresAtMs }: Order, nowMs: number): Failure | undefined {
  const lifeMs = expiresAtMs - paymentTimeMs
  if (lifeMs < minExpiryMs || lifeMs > maxExpiryMs) {
    return new Failure('times_out_of_range', {
      field: 'paymentExpiryTime',
      message: `paymentExpiryTime must be 5 minutes to 24 hours after paymentTime; it is ${lifeMs} ms after it.`,
    })
  }
  if (paymentTimeMs > nowMs + maxPaymentTimeAheadMs) {
    return new Failure('times_out_of_range', {
      field: 'paymentTime',
      message: `paymentTime is ${paymentTimeMs - nowMs} ms ahead of the gateway's clock; at most 5 minutes are allowed.`,
    })
  }
  if (expiresAtMs <= nowMs) {
    return new Failure('times_out_of_range', {
      field: 'paymentExpiryTime',
      message: `paymentExpiryTime has passed: it was ${nowMs - expiresAtMs} ms ago by the gateway's clock.`,
    })
  }
  return undefined
}

/**
 * The order object as text, its fields always in this order, so that equal content is equal text. Amounts are
 * minor units in digits. A field that was left out is left out here too.
 */
export function writeContent({ goods, shipping, ...order }: OrderContent): string {
  return JSON.stringify({
    orderNo: order.orderNo,
    orderAmountMinor: digits(order.orderAmountMinor),
    tipsMinor: digits(order.tipsMinor),
    discountMinor: digits(order.discountMinor),
    totalTaxMinor: digits(order.totalTaxMinor),
    insuranceMinor: digits(order.insuranceMinor),
    handlingFeeMinor: digits(order.handlingFeeMinor),
    shipping: shipping && {
      shipType: shipping.shipType,
      amountMinor: digits(shipping.amountMinor),
      name: shipping.name,
      address: shipping.address,
    },
    shippingDiscountMinor: digits(order.shippingDiscountMinor),
    orderDescription: order.orderDescription,
    goods: goods.map((good) => ({
      referenceGoodsId: good.referenceGoodsId,
      goodsName: good.goodsName,
      goodsDesc: good.goodsDesc,
      goodsAmountMinor: digits(good.goodsAmountMinor),
      taxMinor: digits(good.taxMinor),
      goodsQuantity: good.goodsQuantity,
    })),
  })
}

function digits(minor: bigint | undefined): string | undefined {
  return minor?.toString()
}

const contentFields = [
  'orderNo',
  'channel',
  'paymentAmountMinor',
  'currency',
  'paymentTimeMs',
  'expiresAtMs',
  'callbackUrl',
  'redirectUrl',
  'content',
] as const satisfies readonly (keyof Order)[]

/** Whether two orders are the same request: everything that the merchant said, nothing that we added. */
export function hasSameContent(a: Order, b: Order): boolean {
  return contentFields.every((field) => a[field] === b[field])
}

/** The truth at this moment: an order is timed out from its expiry on, whether or not the store knows it yet. */
export function orderAt(order: Order, nowMs: number): Order {
  return isOverdue(order, nowMs) ? timedOut(order) : order
}

export function isOverdue(order: Pick<Order, 'status' | 'expiresAtMs'>, nowMs: number): boolean {
  return order.status === 'pending' && nowMs >= order.expiresAtMs
}

function timedOut(order: Order): Order {
  return {
    ...order,
    status: 'timeout',
    completedAtMs: order.expiresAtMs,
    message: 'The order was not paid in time.',
  }
}

export function expireOrder(
  order: Order,
  { nowMs, callbackId }: { nowMs: number; callbackId: string },
): StatusChange {
  assert(isOverdue(order, nowMs), 'only an overdue order expires')
  return change(order, timedOut(order), { nowMs, callbackId, actor: 'gateway' })
}

/** The consumer submitted the payment; the order must be payable still. */
export function confirmOrder(
  order: Order,
  given: { walletId: string; transactionId: string; callbackId: string; nowMs: number },
): StatusChange {
  const { walletId, transactionId, callbackId, nowMs } = given
  assert(!isOverdue(order, nowMs), 'an overdue order is not paid')
  return change(
    order,
    { ...order, status: 'confirming', walletId, transactionId },
    { nowMs, callbackId, actor: 'consumer' },
  )
}

/** The payment is over: well, or with the reason why it failed. */
export function endPayment(
  order: Order,
  { failure, callbackId, nowMs }: { failure: string | undefined; callbackId: string; nowMs: number },
): StatusChange {
  const status = failure === undefined ? 'success' : 'failed'
  return change(
    order,
    { ...order, status, completedAtMs: nowMs, message: failure },
    { nowMs, callbackId, actor: 'gateway' },
  )
}

/** Undefined: it is cancelled already, and there is nothing to change. */
export function cancelOrder(
  stored: Order,
  { nowMs, actor }: { nowMs: number; actor: Actor },
): StatusChange | undefined {
  const order = orderAt(stored, nowMs)
  if (order.status === 'cancelled') return undefined
  if (order.status !== 'pending')
    throw new Failure('status_does_not_allow', { message: whyNotCancel[order.status] })
  return change(order, { ...order, status: 'cancelled', completedAtMs: nowMs }, { nowMs, actor })
}

const whyNotCancel = {
  confirming: 'The order is being paid and cannot be cancelled. Wait for its result.',
  success: 'The order is paid and cannot be cancelled. Refund it instead.',
  failed: 'The payment of this order failed. There is nothing to cancel.',
  timeout: 'The order was not paid in time. There is nothing to cancel.',
} as const

function change(
  before: Order,
  after: Order,
  { nowMs, actor, callbackId }: { nowMs: number; actor: Actor; callbackId?: string },
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
    order: after,
    callback: orderCallback(after, { nowMs, callbackId }),
  }
}
