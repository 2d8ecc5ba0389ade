// A payment order, its content, and how to compare two requests.
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
  /** With an authorization, a success sets it to the captured amount. */
  readonly paymentAmountMinor: bigint
  readonly currency: string
  readonly paymentTimeMs: number
  /** As the merchant sent it. */
  readonly paymentExpiryTimeMs: number
  /** The effective expiry, which the sandbox may move to an earlier time. */
  readonly expiresAtMs: number
  readonly callbackUrl: string | undefined
  readonly redirectUrl: string | undefined
  readonly cancelUrl: string | undefined
  /** The merchant's own data, passed through. */
  readonly attach: string | undefined
  /** The merchant's normalized order object as JSON, shown on the checkout. */
  readonly content: string
  /** The SHA-256 of the original content if personal data was erased. */
  readonly contentHash: string | undefined
  readonly createdAtMs: number
  readonly transactionId: string | undefined
  /** The wallet that paid or is paying. */
  readonly walletId: string | undefined
  readonly railId: string | undefined
  /** The current attempt at a rail; nothing else can pay the order meanwhile. */
  readonly openAttempt: string | undefined
  /** The time of the final status; for a paid order, the payment time. */
  readonly completedAtMs: number | undefined
  /** Why the payment failed, or why an operator cancelled the order. */
  readonly message: string | undefined
  /** Excludes pending refunds. */
  readonly refundedMinor: bigint
  readonly refundHeldMinor: bigint
  /** Taken back by disputes that are open or lost. */
  readonly disputedMinor: bigint
  readonly link: OrderLink | undefined
  /** The wallet that receives the payment; undefined: the merchant. */
  readonly topsUp: string | undefined
  /** Includes failed refunds. */
  readonly refundCount: number
  /** Undefined: no fee. */
  readonly fee: OrderFee | undefined
  /** Undefined: the order is paid without a capture. */
  readonly authorization: OrderAuthorization | undefined
}

/** Of an order with captureMode `manual`, from its creation on. */
export interface OrderAuthorization {
  readonly authorizedMinor: bigint
  readonly capturedMinor: bigint
  /** Undefined until the payment is authorized. */
  readonly heldUntilMs: number | undefined
}

/** Authorized: the money is held until it is captured or released. */
export function isHeld({ status, authorization }: Pick<Order, 'status' | 'authorization'>): boolean {
  return status === 'confirming' && authorization?.heldUntilMs !== undefined
}

/** As people see it; the interface has no status for an authorization. */
export const seenStatuses = [
  'pending',
  'confirming',
  'authorized',
  'success',
  'failed',
  'timeout',
  'cancelled',
] as const satisfies readonly (OrderStatus | 'authorized')[]
export type SeenStatus = (typeof seenStatuses)[number]

export function seenStatus(order: Pick<Order, 'status' | 'authorization'>): SeenStatus {
  return isHeld(order) ? 'authorized' : order.status
}

export interface OrderFee {
  readonly amountMinor: bigint
  /** Refunds return their share. */
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
    authorization:
      create.captureMode === 'manual'
        ? { authorizedMinor: create.paymentAmountMinor, capturedMinor: 0n, heldUntilMs: undefined }
        : undefined,
    completedAtMs: undefined,
    message: undefined,
    refundedMinor: 0n,
    refundHeldMinor: 0n,
    disputedMinor: 0n,
    link,
    topsUp,
    refundCount: 0,
  }
}

/** Returns why a new order's times are invalid; undefined if they are valid. */
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
      message: `paymentExpiryTime is ${describeDuration(wholeSeconds(nowMs - expiresAtMs))} in the past ${clock}. Send a time between 5 minutes and 24 hours after paymentTime, and in the future.`,
    })
  }
  return undefined
}

function wholeSeconds(durationMs: number): number {
  return durationMs < 60_000 ? durationMs : Math.round(durationMs / 1_000) * 1_000
}

/**
 * Serializes the order object in a fixed field order, so that equal content is equal text. Amounts are minor units.
 * Omitted fields stay omitted.
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
 * Returns the first differing field by its wire name; undefined if the requests are equal. Times come last, so that a
 * difference in time means all else is equal.
 */
export function differingField(a: Order, b: Order): string | undefined {
  const isSameContent = a.content === b.content
  const said = (order: Order) => ({
    currency: order.currency,
    channel: order.channel,
    paymentAmountMinor: order.authorization?.authorizedMinor ?? order.paymentAmountMinor,
    captureMode: order.authorization ? 'manual' : 'automatic',
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

/** Empty text equals an omitted field. */
function leftOut(value: unknown): unknown {
  return value === '' ? undefined : value
}

/** The parts that may contain personal data. */
export type ErasableText = Pick<Order, 'content' | 'attach'>

interface WithPersonalData {
  orderDescription?: string
  shipping?: { name?: string; address?: string }
}

/** Removes the receiver's name and address and the free-text description. Undefined if there are none. */
export function withoutPersonalData(content: string): string | undefined {
  // Safe: the gateway wrote it.
  const { orderDescription, shipping, ...rest } = JSON.parse(content) as WithPersonalData
  const { name, address, ...way } = shipping ?? {}
  if (!orderDescription && !name && !address) return undefined
  return JSON.stringify({ ...rest, ...(shipping && { shipping: { ...way, name: '' } }) })
}
