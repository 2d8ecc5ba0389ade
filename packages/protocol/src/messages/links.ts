// Payment links: a page and a QR code at which consumers pay. Each payment is an ordinary order.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { amount, choice, list, nested, text, time, timeNumber, url, wholeNumber } from '../fields.ts'
import {
  defaultLinkPaymentMinutes,
  maxExpiryMs,
  maxGoods,
  maxLinkIdLength,
  maxLinkNoLength,
  maxLinkTitleLength,
  maxListedLinkOrders,
  maxOrderNoLength,
  minExpiryMs,
} from '../limits.ts'
import { toPositiveMinorUnits, type WireAmount } from '../money.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { checkSum, type Goods, makeToMinor, toGoods } from './create.ts'
import { goodsSchema } from './create-body.ts'
import { currency, ignored, orderStatus, paymentId } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

export type LinkUses = 'once' | 'many'
export const linkUses = ['once', 'many'] as const satisfies readonly LinkUses[]

export type LinkState = 'active' | 'paused' | 'closed' | 'expired' | 'paid'
export const linkStates = [
  'active',
  'paused',
  'closed',
  'expired',
  'paid',
] as const satisfies readonly LinkState[]

const minuteMs = 60_000
const linkId = text('The link’s number from create.', { max: maxLinkIdLength })
const linkNo = text('Your number for the link, permanently unique.', {
  max: maxLinkNoLength,
})
const title = text('The title that the consumer sees.', {
  max: maxLinkTitleLength,
  isVisible: true,
})
const uses = choice('`once`: one payment. `many`: any number.', linkUses)

export const linkCreateBodySchema = Type.Object({
  linkNo,
  title,
  currency,
  amount: Type.Optional(
    amount('What the consumer pays. If omitted, the consumer enters an amount.', { isPositive: true }),
  ),
  leastAmount: Type.Optional(amount('The minimum amount. Not with `amount`.', { isPositive: true })),
  mostAmount: Type.Optional(amount('The maximum amount. Not with `amount`.', { isPositive: true })),
  goods: Type.Optional(
    list('The goods. Default: `title`. With `amount`, their sum must equal it.', {
      item: goodsSchema,
      typeName: 'array of goods objects',
      min: 1,
      max: maxGoods,
    }),
  ),
  uses: Type.Optional(uses),
  linkExpiryTime: Type.Optional(
    time('No new payment starts after this time. Optional: without it, the link does not expire.'),
  ),
  paymentMinutes: Type.Optional(
    wholeNumber(`How many minutes a started payment stays open. Default ${defaultLinkPaymentMinutes}.`, {
      min: minExpiryMs / minuteMs,
      max: maxExpiryMs / minuteMs,
    }),
  ),
  callbackUrl: Type.Optional(url('Receives the callbacks of its orders.')),
  redirectUrl: Type.Optional(url('Where the consumer returns at the end.')),
})

export type LinkCreateBody = Static<typeof linkCreateBodySchema>

/** A link's amount: fixed, or chosen by the consumer within limits. */
export interface LinkAmounts {
  readonly amountMinor?: bigint
  readonly leastMinor?: bigint
  readonly mostMinor?: bigint
}

export interface NewLink extends LinkAmounts {
  readonly linkNo: string
  readonly title: string
  readonly currency: string
  /** Empty if the title is enough. */
  readonly goods: readonly Goods[]
  readonly uses: LinkUses
  readonly expiresAtMs?: number
  readonly paymentMinutes: number
  readonly callbackUrl?: string
  readonly redirectUrl?: string
}

const readLinkCreateBody = makeBodyReader(linkCreateBodySchema)

export function parseLinkCreateBody(bodyText: string): NewLink & Ignoring {
  const body = readLinkCreateBody(bodyText)
  const { currency: code } = body
  const amounts = readLinkAmounts(body, code)
  const toMinor = makeToMinor(code)
  const goods = (body.goods ?? []).map((each, index) => toGoods(each, `goods[${index}]`, toMinor))
  checkLinkGoods(goods, amounts, code)
  return {
    linkNo: body.linkNo,
    title: body.title,
    currency: code,
    ...amounts,
    goods,
    uses: body.uses ?? 'many',
    ...(body.linkExpiryTime !== undefined && { expiresAtMs: Number(body.linkExpiryTime) }),
    paymentMinutes: Number(body.paymentMinutes ?? defaultLinkPaymentMinutes),
    ...(body.callbackUrl !== undefined && { callbackUrl: body.callbackUrl }),
    ...(body.redirectUrl !== undefined && { redirectUrl: body.redirectUrl }),
    ...ignoring(body),
  }
}

interface WireAmounts {
  readonly amount?: WireAmount | undefined
  readonly leastAmount?: WireAmount | undefined
  readonly mostAmount?: WireAmount | undefined
}

export function readLinkAmounts(given: WireAmounts, code: string): LinkAmounts {
  const { amount: fixed, leastAmount: least, mostAmount: most } = given
  const minor = (value: WireAmount | undefined, field: keyof WireAmounts) =>
    value === undefined ? undefined : toPositiveMinorUnits(value, code, field)
  const amountMinor = minor(fixed, 'amount')
  const leastMinor = minor(least, 'leastAmount')
  const mostMinor = minor(most, 'mostAmount')
  const bound = leastMinor === undefined ? 'mostAmount' : 'leastAmount'
  if (amountMinor !== undefined && (leastMinor ?? mostMinor) !== undefined)
    throw new Failure('invalid_field', {
      field: bound,
      message: `${bound} is only for links without amount. Send one of the two.`,
    })
  if (leastMinor !== undefined && mostMinor !== undefined && leastMinor > mostMinor)
    throw new Failure('invalid_field', {
      field: 'mostAmount',
      message: `mostAmount (${most}) must not be less than leastAmount (${least}).`,
    })
  return {
    ...(amountMinor !== undefined && { amountMinor }),
    ...(leastMinor !== undefined && { leastMinor }),
    ...(mostMinor !== undefined && { mostMinor }),
  }
}

function checkLinkGoods(goods: readonly Goods[], { amountMinor }: LinkAmounts, code: string): void {
  if (goods.length === 0) return
  if (amountMinor !== undefined) {
    checkSum(goods, { field: 'amount', given: amountMinor, of: 'amount', currency: code })
    return
  }
  const priced = goods.findIndex(({ goodsAmountMinor }) => goodsAmountMinor !== undefined)
  if (priced === -1) return
  const field = `goods[${priced}].goodsAmount`
  throw new Failure('invalid_field', {
    field,
    message: `${field} is not allowed if the consumer enters the amount. Remove it, or send amount.`,
  })
}

export const linkQueryBodySchema = Type.Object({
  linkId: Type.Optional(linkId),
  linkNo: Type.Optional(
    text('Your own number, if the response to create was lost.', { max: maxLinkNoLength }),
  ),
})

export type QueryLink = Ignoring &
  (
    | { readonly linkId: string; readonly linkNo?: never }
    | { readonly linkNo: string; readonly linkId?: never }
  )

const readLinkQueryBody = makeBodyReader(linkQueryBodySchema)

export function parseLinkQueryBody(bodyText: string): QueryLink {
  const body = readLinkQueryBody(bodyText)
  const { linkId: id, linkNo: number } = body
  if (id !== undefined && number === undefined) return { linkId: id, ...ignoring(body) }
  if (number !== undefined && id === undefined) return { linkNo: number, ...ignoring(body) }
  throw new Failure('invalid_field', { field: 'linkId', message: 'Send either linkId or linkNo.' })
}

export const linkCloseBodySchema = Type.Object({ linkId })

const readLinkCloseBody = makeBodyReader(linkCloseBodySchema)

export function parseLinkCloseBody(bodyText: string): { readonly linkId: string } & Ignoring {
  const body = readLinkCloseBody(bodyText)
  return { linkId: body.linkId, ...ignoring(body) }
}

const linkFields = {
  linkId,
  linkNo,
  linkUrl: url('The page for consumers. `/qr.svg` and `/qr.png` after it are its QR code.'),
  status: choice(
    '`active`; `paused` by the operator; `closed`; `expired` after linkExpiryTime; `paid`, for a link for one payment.',
    linkStates,
  ),
  title,
  uses,
  currency,
  amount: Type.Optional(amount('What the consumer pays. Absent if the consumer enters an amount.')),
  leastAmount: Type.Optional(amount('The minimum amount.')),
  mostAmount: Type.Optional(amount('The maximum amount.')),
  linkExpiryTime: Type.Optional(timeNumber('No new payment starts after this time.')),
  createTime: timeNumber('When the link was created.'),
  paidCount: wholeNumber('The number of successful payments.', { min: 0, max: Number.MAX_SAFE_INTEGER }),
  paidAmount: amount('Their sum.'),
  refundedAmount: amount('The refunded amount.'),
}

export const linkAnswerSchema = Type.Object({ ...linkFields, ...ignored })
export type LinkAnswer = Static<typeof linkAnswerSchema>

const orderOfLink = nested('One order.', {
  typeName: 'order of a link',
  fields: {
    paymentId,
    orderNo: text('Begins with the linkId.', { max: maxOrderNoLength }),
    status: orderStatus,
    paymentAmount: amount('The amount to pay.'),
    refundedAmount: amount('The refunded amount.'),
    createTime: timeNumber('When the consumer started to pay.'),
    paidTime: Type.Optional(timeNumber('When the order was paid. Absent until paid.')),
  },
})

export const linkQueryAnswerSchema = Type.Object({
  ...linkFields,
  orders: list(`The newest ${maxListedLinkOrders} orders, newest first.`, {
    item: orderOfLink,
    typeName: 'array of orders of a link',
  }),
  ...ignored,
})
export type LinkQueryAnswer = Static<typeof linkQueryAnswerSchema>
export type OrderOfLink = LinkQueryAnswer['orders'][number]
