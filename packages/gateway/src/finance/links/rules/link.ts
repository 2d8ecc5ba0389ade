// A payment link, whether it can be paid now, and the order that paying creates.
import {
  type CreateOrder,
  describeClock,
  describeDuration,
  digitsOf,
  Failure,
  type Goods,
  type LinkState,
  type LinkUses,
  type NewLink,
  toDecimalText,
} from '@tillgate/protocol'
import { type Order, writtenGood } from '../../../core/orders/rules/order.ts'

export interface LinkKey {
  readonly merchantId: string
  readonly linkId: string
}

export type LinkStatus = 'active' | 'paused' | 'closed'

export interface PaymentLink extends LinkKey {
  readonly linkNo: string
  readonly status: LinkStatus
  readonly uses: LinkUses
  readonly title: string
  readonly currency: string
  /** Undefined: the consumer chooses within the bounds. */
  readonly amountMinor: bigint | undefined
  readonly leastMinor: bigint | undefined
  readonly mostMinor: bigint | undefined
  /** JSON like an order's content; empty if the title is enough. */
  readonly goods: string
  /** No orders are created from then on. */
  readonly expiresAtMs: number | undefined
  readonly paymentMinutes: number
  readonly callbackUrl: string | undefined
  readonly redirectUrl: string | undefined
  readonly createdAtMs: number
}

export interface LinkTotals {
  readonly paidCount: number
  readonly paidMinor: bigint
  readonly refundedMinor: bigint
}

export function makeLink(
  given: NewLink,
  { merchantId, linkId, nowMs }: LinkKey & { nowMs: number },
): PaymentLink {
  digitsOf(given.currency)
  return {
    merchantId,
    linkId,
    linkNo: given.linkNo,
    status: 'active',
    uses: given.uses,
    title: given.title,
    currency: given.currency,
    amountMinor: given.amountMinor,
    leastMinor: given.leastMinor,
    mostMinor: given.mostMinor,
    goods: JSON.stringify(given.goods.map(writtenGood)),
    expiresAtMs: given.expiresAtMs,
    paymentMinutes: given.paymentMinutes,
    callbackUrl: given.callbackUrl,
    redirectUrl: given.redirectUrl,
    createdAtMs: nowMs,
  }
}

/** Returns why a new link's expiry is invalid; undefined if it is valid. */
export function refusalOfExpiry({ expiresAtMs, createdAtMs }: PaymentLink): Failure | undefined {
  if (expiresAtMs === undefined || expiresAtMs > createdAtMs) return undefined
  return new Failure('times_out_of_range', {
    field: 'linkExpiryTime',
    message: `linkExpiryTime is ${describeDuration(createdAtMs - expiresAtMs)} in the past (gateway clock: ${describeClock(createdAtMs)}). Send a time in the future.`,
  })
}

const said = [
  ...['title', 'currency', 'amountMinor', 'leastMinor', 'mostMinor', 'goods', 'uses', 'expiresAtMs'],
  ...['paymentMinutes', 'callbackUrl', 'redirectUrl'],
] as readonly (keyof PaymentLink)[]
const wireNames: Partial<Record<keyof PaymentLink, string>> = {
  amountMinor: 'amount',
  leastMinor: 'leastAmount',
  mostMinor: 'mostAmount',
  expiresAtMs: 'linkExpiryTime',
}

/** Returns the first differing field by its wire name; undefined if the requests are equal. */
export function differingLinkField(a: PaymentLink, b: PaymentLink): string | undefined {
  const field = said.find((name) => a[name] !== b[name])
  return field && (wireNames[field] ?? field)
}

export function linkState(
  link: PaymentLink,
  { isPaid, nowMs }: { isPaid: boolean; nowMs: number },
): LinkState {
  if (link.uses === 'once' && isPaid) return 'paid'
  if (link.status !== 'active') return link.status
  return link.expiresAtMs !== undefined && link.expiresAtMs <= nowMs ? 'expired' : 'active'
}

export function boundBroken(
  link: Partial<Pick<PaymentLink, 'leastMinor' | 'mostMinor'>>,
  amountMinor: bigint,
): 'tooLittle' | 'tooMuch' | undefined {
  if (link.leastMinor !== undefined && amountMinor < link.leastMinor) return 'tooLittle'
  if (link.mostMinor !== undefined && amountMinor > link.mostMinor) return 'tooMuch'
  return undefined
}

export function orderNoOf({ linkId }: LinkKey, suffix: string): string {
  return `${linkId}-${suffix}`
}

const minuteMs = 60_000

export function orderOfLink(
  link: PaymentLink,
  { amountMinor, suffix, nowMs }: { amountMinor: bigint; suffix: string; nowMs: number },
): CreateOrder {
  const { title, currency, paymentMinutes, callbackUrl, redirectUrl } = link
  return {
    order: {
      orderNo: orderNoOf(link, suffix),
      orderAmountMinor: amountMinor,
      orderDescription: title,
      goods: goodsOf(link, amountMinor),
    },
    channel: 'WEB',
    paymentAmountMinor: amountMinor,
    currency,
    paymentTimeMs: nowMs,
    paymentExpiryTimeMs: nowMs + paymentMinutes * minuteMs,
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(redirectUrl !== undefined && { redirectUrl }),
  }
}

interface WrittenGood extends Omit<Goods, 'goodsAmountMinor' | 'taxMinor'> {
  readonly goodsAmountMinor?: string
  readonly taxMinor?: string
}

function goodsOf({ goods, linkNo, title }: PaymentLink, amountMinor: bigint): Goods[] {
  // Safe: the gateway wrote it from validated goods.
  const written = JSON.parse(goods) as readonly WrittenGood[]
  if (written.length === 0)
    return [{ referenceGoodsId: linkNo, goodsName: title, goodsAmountMinor: amountMinor, goodsQuantity: 1 }]
  return written.map(({ goodsAmountMinor: amount, taxMinor: tax, ...good }) => ({
    ...good,
    ...(amount !== undefined && { goodsAmountMinor: BigInt(amount) }),
    ...(tax !== undefined && { taxMinor: BigInt(tax) }),
  }))
}

/** Whether the link leads to the checkout of this earlier order: it has the same amount and can still be paid. */
export function standingOf(order: Order, amountMinor: bigint): 'leads_on' | 'in_the_way' | 'over' {
  switch (order.status) {
    case 'success':
    case 'confirming':
      return 'leads_on'
    case 'pending':
      return order.paymentAmountMinor === amountMinor || order.openAttempt !== undefined
        ? 'leads_on'
        : 'in_the_way'
    default:
      return 'over'
  }
}

export function describeLink({ title, currency, amountMinor, uses }: PaymentLink): string {
  const asked =
    amountMinor === undefined
      ? `open amount in ${currency}`
      : `${toDecimalText(amountMinor, currency)} ${currency}`
  return `${title}, ${asked}, ${uses}`
}
