// A payment order: what it is, what the merchant said in it, and when two of them say the same.
import {
  type CreateOrder,
  describeClock,
  describeDuration,
  Failure,
  type Goods,
  type LinkUses,
  maxExpiryMs,
  maxPaymentTimeAheadMs,
  minExpiryMs,
  type OrderContent,
  type OrderStatus,
} from '@tillgate/protocol'

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
  /** As the merchant said it. */
  readonly paymentExpiryTimeMs: number
  /** When it does expire: earlier where the sandbox moved the order's times. */
  readonly expiresAtMs: number
  readonly callbackUrl: string | undefined
  readonly redirectUrl: string | undefined
  readonly cancelUrl: string | undefined
  /** The merchant's own data, passed through. */
  readonly attach: string | undefined
  /** The merchant's order object, normalised, as JSON text: what the checkout shows. */
  readonly content: string
  /** SHA-256 of the content as it was, where personal data was erased from it; undefined: nothing was. */
  readonly contentHash: string | undefined
  readonly createdAtMs: number
  readonly transactionId: string | undefined
  /** The wallet that paid, or tries to. */
  readonly walletId: string | undefined
  /** The rail that it was paid through, or is. */
  readonly railId: string | undefined
  /** The attempt at a rail that the consumer has under way: nothing else pays the order meanwhile. */
  readonly openAttempt: string | undefined
  /** When it came to its final status; for a paid order the time of the payment. */
  readonly completedAtMs: number | undefined
  /** Why the payment failed, or why an operator cancelled the order. */
  readonly message: string | undefined
  /** What went back to the consumer, and what is on its way back. */
  readonly refundedMinor: bigint
  readonly refundHeldMinor: bigint
  /** The payment link that it was begun at. */
  readonly link: OrderLink | undefined
  /** The wallet that the payment goes on to; undefined: the merchant keeps it. */
  readonly topsUp: string | undefined
  /** Refunds in all, the failed ones too. */
  readonly refundCount: number
  /** What the merchant paid for the payment; undefined: nothing. */
  readonly fee: OrderFee | undefined
}

export interface OrderFee {
  readonly amountMinor: bigint
  /** Refunds give back their share. */
  readonly isReturned: boolean
}

export interface OrderLink {
  readonly linkId: string
  readonly uses: LinkUses
}

export function makeOrder(
  create: CreateOrder,
  {
    merchantId,
    paymentId,
    nowMs,
    link,
    topsUp,
  }: OrderKey & { nowMs: number; link?: OrderLink | undefined; topsUp?: string | undefined },
): Order {
  return {
    merchantId,
    paymentId,
    orderNo: create.order.orderNo,
    status: 'pending',
    channel: create.channel,
    paymentAmountMinor: create.paymentAmountMinor,
    currency: create.currency,
    paymentTimeMs: create.paymentTimeMs,
    paymentExpiryTimeMs: create.paymentExpiryTimeMs,
    expiresAtMs: create.paymentExpiryTimeMs,
    callbackUrl: create.callbackUrl,
    redirectUrl: create.redirectUrl,
    cancelUrl: create.cancelUrl,
    attach: create.attach,
    content: writeContent(create.order),
    contentHash: undefined,
    createdAtMs: nowMs,
    transactionId: undefined,
    walletId: undefined,
    railId: undefined,
    openAttempt: undefined,
    fee: undefined,
    completedAtMs: undefined,
    message: undefined,
    refundedMinor: 0n,
    refundHeldMinor: 0n,
    link,
    topsUp,
    refundCount: 0,
  }
}

/** Why the times of a new order are not right; undefined when they are. */
export function refusalOfTimes({ paymentTimeMs, expiresAtMs }: Order, nowMs: number): Failure | undefined {
  const lifeMs = expiresAtMs - paymentTimeMs
  const aheadMs = paymentTimeMs - nowMs
  const clock = `(gateway clock: ${describeClock(nowMs)})`
  if (lifeMs < minExpiryMs || lifeMs > maxExpiryMs) {
    const direction = lifeMs < 0 ? 'before' : 'after'
    return new Failure('times_out_of_range', {
      field: 'paymentExpiryTime',
      message: `paymentExpiryTime is ${describeDuration(lifeMs)} ${direction} paymentTime. Send a time between 5 minutes and 24 hours after paymentTime.`,
    })
  }
  if (aheadMs > maxPaymentTimeAheadMs) {
    return new Failure('times_out_of_range', {
      field: 'paymentTime',
      message: `paymentTime is ${describeDuration(aheadMs)} in the future ${clock}. Send the current time in milliseconds; at most 5 minutes ahead are allowed.`,
    })
  }
  if (expiresAtMs <= nowMs) {
    return new Failure('times_out_of_range', {
      field: 'paymentExpiryTime',
      message: `paymentExpiryTime is ${describeDuration(nowMs - expiresAtMs)} in the past ${clock}. Send a time between 5 minutes and 24 hours after paymentTime, and in the future.`,
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
    goods: goods.map(writtenGood),
  })
}

export function writtenGood(good: Goods) {
  return {
    referenceGoodsId: good.referenceGoodsId,
    goodsName: good.goodsName,
    goodsDesc: good.goodsDesc,
    goodsAmountMinor: digits(good.goodsAmountMinor),
    taxMinor: digits(good.taxMinor),
    goodsQuantity: good.goodsQuantity,
  }
}

function digits(minor: bigint | undefined): string | undefined {
  return minor?.toString()
}

/**
 * The first field in which two requests differ, by its name on the wire; undefined: they say the same, whatever we
 * added ourselves. The times come last: where one of them is named, all else is equal.
 */
export function differingField(a: Order, b: Order): string | undefined {
  const isSameContent = a.content === b.content
  const said = (order: Order) => ({
    currency: order.currency,
    channel: order.channel,
    paymentAmountMinor: order.paymentAmountMinor,
    order: isSameContent ? undefined : JSON.parse(order.content),
    callbackUrl: order.callbackUrl,
    redirectUrl: order.redirectUrl,
    cancelUrl: order.cancelUrl,
    attach: order.attach,
    paymentTimeMs: order.paymentTimeMs,
    paymentExpiryTimeMs: order.paymentExpiryTimeMs,
  })
  return differingPath(said(a), said(b))
}

function differingPath(a: unknown, b: unknown, path = ''): string | undefined {
  if (!isObject(a) || !isObject(b)) return leftOut(a) === leftOut(b) ? undefined : path
  if (Array.isArray(a) && Object.keys(a).length !== Object.keys(b).length) return path
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const name = key.replace(/(?:Minor|Ms)$/, '')
    const inside = Array.isArray(a) ? `${path}[${key}]` : path === '' ? name : `${path}.${name}`
    const found = differingPath(a[key], b[key], inside)
    if (found !== undefined) return found
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Text that is empty is the same as none. */
function leftOut(value: unknown): unknown {
  return value === '' ? undefined : value
}

/** What of an order may tell of a person. */
export type ErasableText = Pick<Order, 'content' | 'attach'>

interface WithPersonalData {
  orderDescription?: string
  shipping?: { name?: string; address?: string }
}

/**
 * The content without what may tell of a person: the receiver's name and address, and the description, which is free text.
 * Amounts, numbers and goods stay. Undefined: there is nothing of it.
 */
export function withoutPersonalData(content: string): string | undefined {
  // Safe: the gateway wrote it.
  const { orderDescription, shipping, ...rest } = JSON.parse(content) as WithPersonalData
  const { name, address, ...way } = shipping ?? {}
  if (!orderDescription && !name && !address) return undefined
  return JSON.stringify({ ...rest, ...(shipping && { shipping: { ...way, name: '' } }) })
}
