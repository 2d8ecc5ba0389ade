// The parsed body of service.trade.create: amounts in minor units, times in milliseconds, one form for a good's amount,
// checked sums.
import { Failure } from '../codes.ts'
import {
  digitsOf,
  readMinorUnits,
  refuseAmount,
  toDecimalText,
  toPositiveMinorUnits,
  type WireAmount,
} from '../money.ts'
import { makeBodyReader } from '../validation.ts'
import { type CreateBody, type channels, createBodySchema, type shipTypes } from './create-body.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

export interface CreateOrder extends Ignoring {
  readonly order: OrderContent
  readonly channel: (typeof channels)[number]
  readonly paymentAmountMinor: bigint
  readonly currency: string
  readonly paymentTimeMs: number
  readonly paymentExpiryTimeMs: number
  readonly callbackUrl?: string
  readonly redirectUrl?: string
  readonly cancelUrl?: string
  readonly attach?: string
  /** Absent: automatic. */
  readonly captureMode?: 'manual'
}

/** Fields that were omitted or null are absent. */
export interface OrderContent {
  readonly orderNo: string
  readonly orderAmountMinor: bigint
  readonly tipsMinor?: bigint
  readonly discountMinor?: bigint
  readonly totalTaxMinor?: bigint
  readonly insuranceMinor?: bigint
  readonly handlingFeeMinor?: bigint
  readonly shipping?: Shipping
  readonly shippingDiscountMinor?: bigint
  readonly orderDescription?: string
  readonly goods: readonly Goods[]
}

export interface Shipping {
  readonly shipType: (typeof shipTypes)[number]
  readonly amountMinor?: bigint
  readonly name: string
  readonly address?: string
}

export interface Goods {
  readonly referenceGoodsId: string
  readonly goodsName: string
  readonly goodsDesc?: string
  readonly goodsAmountMinor?: bigint
  readonly taxMinor?: bigint
  readonly goodsQuantity: number
}

const readCreateBody = makeBodyReader(createBodySchema)

export function parseCreateBody(bodyText: string): CreateOrder {
  const body = readCreateBody(bodyText)
  const { currency } = body
  const order = toOrderContent(body.order, makeToMinor(currency))
  checkSums(order, currency)
  return {
    order,
    channel: body.channel,
    paymentAmountMinor: toPositiveMinorUnits(body.paymentAmount, currency, 'paymentAmount'),
    currency,
    paymentTimeMs: Number(body.paymentTime),
    paymentExpiryTimeMs: Number(body.paymentExpiryTime),
    ...(body.callbackUrl !== undefined && { callbackUrl: body.callbackUrl }),
    ...(body.redirectUrl !== undefined && { redirectUrl: body.redirectUrl }),
    ...(body.cancelUrl !== undefined && { cancelUrl: body.cancelUrl }),
    ...(body.attach !== undefined && { attach: body.attach }),
    ...(body.captureMode === 'manual' && { captureMode: body.captureMode }),
    ...ignoring(body),
  }
}

/**
 * Converts amounts to minor units. The field name is computed only for an error, because a full order has 200 amounts.
 */
export type ToMinor = (amount: WireAmount, field: () => string) => bigint

export function makeToMinor(currency: string): ToMinor {
  const digits = digitsOf(currency)
  return (amount, field) => {
    const minor = readMinorUnits(amount, digits)
    return typeof minor === 'bigint' ? minor : refuseAmount(minor, { amount, currency, field: field() })
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

function toOrderContent(order: CreateBody['order'], toMinor: ToMinor): OrderContent {
  const content: Mutable<OrderContent> = {
    orderNo: order.orderNo,
    orderAmountMinor: toMinor(order.orderAmount, () => 'order.orderAmount'),
    goods: order.goods.map((goods, index) => toGoods(goods, `order.goods[${index}]`, toMinor)),
  }
  for (const [name, minorName] of optionalAmounts) {
    const value = order[name]
    if (value !== undefined) content[minorName] = toMinor(value, () => `order.${name}`)
  }
  if (order.shipping !== undefined) content.shipping = toShipping(order.shipping, toMinor)
  if (order.orderDescription !== undefined) content.orderDescription = order.orderDescription
  return content
}

const optionalAmounts = [
  ['tips', 'tipsMinor'],
  ['discount', 'discountMinor'],
  ['totalTax', 'totalTaxMinor'],
  ['insurance', 'insuranceMinor'],
  ['handlingFee', 'handlingFeeMinor'],
  ['shippingDiscount', 'shippingDiscountMinor'],
] as const

function toShipping(wire: NonNullable<CreateBody['order']['shipping']>, toMinor: ToMinor): Shipping {
  const shipping: Mutable<Shipping> = { shipType: wire.shipType, name: wire.name }
  if (wire.amount !== undefined) shipping.amountMinor = toMinor(wire.amount, () => 'order.shipping.amount')
  if (wire.address !== undefined) shipping.address = wire.address
  return shipping
}

type GoodsOnTheWire = CreateBody['order']['goods'][number]

/** `path` is the position, such as `order.goods[3]`. */
export function toGoods(wire: GoodsOnTheWire, path: string, toMinor: ToMinor): Goods {
  const goods: Mutable<Goods> = {
    referenceGoodsId: wire.referenceGoodsId,
    goodsName: wire.goodsName,
    goodsQuantity: wire.goodsQuantity === undefined ? 1 : Number(wire.goodsQuantity),
  }
  const amountMinor = toGoodsAmount(wire, path, toMinor)
  if (amountMinor !== undefined) goods.goodsAmountMinor = amountMinor
  if (wire.goodsDesc !== undefined) goods.goodsDesc = wire.goodsDesc
  if (wire.tax !== undefined) goods.taxMinor = toMinor(wire.tax, () => `${path}.tax`)
  return goods
}

function toGoodsAmount(wire: GoodsOnTheWire, at: string, toMinor: ToMinor): bigint | undefined {
  const { goodsAmount, goodsUnitAmount } = wire
  const path = (name: string) => `${at}.${name}`
  const minor = goodsAmount === undefined ? undefined : toMinor(goodsAmount, () => path('goodsAmount'))
  if (goodsUnitAmount === undefined) return minor
  const unitMinor = toMinor(goodsUnitAmount, () => path('goodsUnitAmount'))
  if (minor === undefined || minor === unitMinor) return unitMinor
  const field = path('goodsAmount')
  const message = `${field} and goodsUnitAmount are two names of one field and must not differ: send one of them.`
  throw new Failure('invalid_field', { field, message })
}

function checkSums({ goods, orderAmountMinor, totalTaxMinor }: OrderContent, currency: string): void {
  checkSum(goods, { field: 'order.orderAmount', given: orderAmountMinor, of: 'amount', currency })
  if (totalTaxMinor === undefined) return
  checkSum(goods, { field: 'order.totalTax', given: totalTaxMinor, of: 'tax', currency })
}

/** Throws if every good has an amount, or a tax, and their sum differs from the total. */
export function checkSum(goods: readonly Goods[], total: Omit<WrongSum, 'sum'>): void {
  const sum = sumOver(goods, total.of === 'amount' ? 'goodsAmountMinor' : 'taxMinor')
  if (sum !== undefined && sum !== total.given) throw notTheSum({ ...total, sum })
}

/** undefined if a good lacks the amount, so that there is no sum. */
function sumOver(goods: readonly Goods[], name: 'goodsAmountMinor' | 'taxMinor'): bigint | undefined {
  let sum = 0n
  for (const good of goods) {
    const each = good[name]
    if (each === undefined) return undefined
    sum += amountOfGoods(each, good.goodsQuantity)
  }
  return sum
}

/** Amount × quantity, rounded half up to the minor unit. */
export function amountOfGoods(eachMinor: bigint, quantity: number): bigint {
  if (Number.isInteger(quantity)) return eachMinor * BigInt(quantity)
  // At most 15 digits, which a double keeps exactly.
  const [whole = '', fraction = ''] = String(quantity).split('.')
  const scale = 10n ** BigInt(fraction.length)
  return (2n * eachMinor * BigInt(whole + fraction) + scale) / (2n * scale)
}

interface WrongSum {
  readonly field: string
  readonly given: bigint
  readonly sum: bigint
  readonly of: 'amount' | 'tax'
  readonly currency: string
}

function notTheSum({ field, given, sum, of, currency }: WrongSum): Failure {
  const wanted = toDecimalText(sum, currency)
  const others = of === 'amount' ? ' Tips, tax, shipping, fees and discounts do not count.' : ''
  const message = `${field} is ${toDecimalText(given, currency)}, but ${of} × quantity over the goods is ${wanted}. Send ${wanted}, or correct the goods.${others}`
  return new Failure('amounts_do_not_add_up', { field, message })
}
