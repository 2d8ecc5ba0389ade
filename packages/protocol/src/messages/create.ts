// The body of service.trade.create: as it is on the wire (the schema) and as the gateway works with it
// (CreateOrder): amounts in minor units, times in milliseconds, the two spellings of a good's amount made one.
import Type, { type Static } from 'typebox'
import { Failure } from '../codes.ts'
import { amount, choice, list, nested, pattern, text, time, url, wholeNumber } from '../fields.ts'
import {
  maxGoods,
  maxGoodsDescLength,
  maxGoodsNameLength,
  maxGoodsQuantity,
  maxOrderDescriptionLength,
  maxOrderNoLength,
  maxReferenceGoodsIdLength,
  maxShippingAddressLength,
  maxShippingNameLength,
} from '../limits.ts'
import {
  digitsOf,
  readMinorUnits,
  refuseAmount,
  toDecimalText,
  toPositiveMinorUnits,
  type WireAmount,
} from '../money.ts'
import { makeReader } from '../validation.ts'

export const channels = ['WEB', 'APP'] as const
export const shipTypes = ['SHIPPING', 'PICKUP_IN_STORE', 'PICKUP_FROM_PERSON'] as const

const goodsSchema = nested('One kind of good.', {
  typeName: 'goods object',
  fields: {
    referenceGoodsId: text('The good’s number on the merchant’s platform.', {
      max: maxReferenceGoodsIdLength,
    }),
    goodsName: text('Its name, shown to the consumer.', { max: maxGoodsNameLength }),
    goodsDesc: Type.Optional(text('Its description.', { min: 0, max: maxGoodsDescLength })),
    goodsAmount: Type.Optional(amount('The price of one.')),
    goodsUnitAmount: Type.Optional(
      amount('Another spelling of goodsAmount. Send either; if both are sent, they must be equal.'),
    ),
    tax: Type.Optional(amount('The tax on one.')),
    goodsQuantity: Type.Optional(
      wholeNumber('How many. 1 when left out.', { min: 1, max: maxGoodsQuantity }),
    ),
  },
})

const shippingSchema = nested('How the goods reach the receiver.', {
  typeName: 'shipping object',
  fields: {
    shipType: choice('The way.', shipTypes),
    amount: Type.Optional(amount('The shipping fee.')),
    name: text('The receiver’s name.', { max: maxShippingNameLength }),
    address: Type.Optional(text('The receiver’s address.', { min: 0, max: maxShippingAddressLength })),
  },
})

const orderSchema = nested('The order.', {
  typeName: 'order object',
  fields: {
    orderNo: text('The order’s number on the merchant’s platform. Unique for the merchant, for ever.', {
      max: maxOrderNoLength,
    }),
    orderAmount: amount(
      'The total of the goods. Must equal the sum of amount × quantity when every good has an amount.',
    ),
    tips: Type.Optional(amount('The tip given by the consumer.')),
    discount: Type.Optional(amount('The discount on the order.')),
    totalTax: Type.Optional(
      amount('The total tax. Must equal the sum of tax × quantity when every good has a tax.'),
    ),
    insurance: Type.Optional(amount('The insurance.')),
    handlingFee: Type.Optional(amount('The handling fee.')),
    shipping: Type.Optional(shippingSchema),
    shippingDiscount: Type.Optional(amount('The discount on the shipping fee.')),
    orderDescription: Type.Optional(
      text('A description for the consumer.', { min: 0, max: maxOrderDescriptionLength }),
    ),
    goods: list('What is bought.', {
      item: goodsSchema,
      typeName: 'array of goods objects',
      min: 1,
      max: maxGoods,
    }),
  },
})

export const createBodySchema = Type.Object({
  order: orderSchema,
  channel: choice('Where the order was made.', channels),
  paymentAmount: amount('What the consumer pays. Not tied to a sum.', { isPositive: true }),
  currency: pattern('The currency of every amount in the body.', {
    regexp: /^[A-Z]{3}$/,
    expected: 'an ISO 4217 code in capital letters',
  }),
  paymentTime: time('When the payment order was made. At most 5 minutes ahead of the gateway’s clock.'),
  paymentExpiryTime: time(
    'When the order expires: 5 minutes to 24 hours after paymentTime, both ends allowed, and still to come.',
  ),
  callbackUrl: Type.Optional(url('Where callbacks are sent. Without it there are none.')),
  redirectUrl: Type.Optional(url('Where the consumer goes back to at the end.')),
})

export type CreateBody = Static<typeof createBodySchema>

export interface CreateOrder {
  readonly order: OrderContent
  readonly channel: (typeof channels)[number]
  readonly paymentAmountMinor: bigint
  readonly currency: string
  readonly paymentTimeMs: number
  readonly paymentExpiryTimeMs: number
  readonly callbackUrl?: string
  readonly redirectUrl?: string
}

/** Fields that were left out, or sent as null, are absent. */
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

const readCreateBody = makeReader(createBodySchema, { failure: 'invalid_field', whole: 'the body' })

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
  }
}

/** Turns amounts into minor units and names the field only when one is refused: a full order has 200 of them. */
type ToMinor = (amount: WireAmount, field: () => string) => bigint

function makeToMinor(currency: string): ToMinor {
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
    goods: order.goods.map((goods, index) => toGoods(goods, index, toMinor)),
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

function toGoods(wire: GoodsOnTheWire, index: number, toMinor: ToMinor): Goods {
  const goods: Mutable<Goods> = {
    referenceGoodsId: wire.referenceGoodsId,
    goodsName: wire.goodsName,
    goodsQuantity: wire.goodsQuantity === undefined ? 1 : Number(wire.goodsQuantity),
  }
  const amountMinor = toGoodsAmount(wire, index, toMinor)
  if (amountMinor !== undefined) goods.goodsAmountMinor = amountMinor
  if (wire.goodsDesc !== undefined) goods.goodsDesc = wire.goodsDesc
  if (wire.tax !== undefined) goods.taxMinor = toMinor(wire.tax, () => `order.goods[${index}].tax`)
  return goods
}

function toGoodsAmount(wire: GoodsOnTheWire, index: number, toMinor: ToMinor): bigint | undefined {
  const { goodsAmount, goodsUnitAmount } = wire
  const path = (name: string) => `order.goods[${index}].${name}`
  const minor = goodsAmount === undefined ? undefined : toMinor(goodsAmount, () => path('goodsAmount'))
  if (goodsUnitAmount === undefined) return minor
  const unitMinor = toMinor(goodsUnitAmount, () => path('goodsUnitAmount'))
  if (minor === undefined || minor === unitMinor) return unitMinor
  const field = path('goodsAmount')
  const message = `${field} and goodsUnitAmount are the same thing and must not differ: send one of them.`
  throw new Failure('invalid_field', { field, message })
}

function checkSums(order: OrderContent, currency: string): void {
  const ofGoods = sumOver(order.goods, 'goodsAmountMinor')
  if (ofGoods !== undefined && ofGoods !== order.orderAmountMinor) {
    throw notTheSum({
      field: 'order.orderAmount',
      given: order.orderAmountMinor,
      sum: ofGoods,
      of: 'amount',
      currency,
    })
  }
  const ofTaxes = sumOver(order.goods, 'taxMinor')
  if (order.totalTaxMinor !== undefined && ofTaxes !== undefined && ofTaxes !== order.totalTaxMinor) {
    throw notTheSum({
      field: 'order.totalTax',
      given: order.totalTaxMinor,
      sum: ofTaxes,
      of: 'tax',
      currency,
    })
  }
}

/** undefined when a good has no such amount: then there is no sum to speak of. */
function sumOver(goods: readonly Goods[], name: 'goodsAmountMinor' | 'taxMinor'): bigint | undefined {
  let sum = 0n
  for (const good of goods) {
    const each = good[name]
    if (each === undefined) return undefined
    sum += each * BigInt(good.goodsQuantity)
  }
  return sum
}

interface WrongSum {
  readonly field: string
  readonly given: bigint
  readonly sum: bigint
  readonly of: 'amount' | 'tax'
  readonly currency: string
}

function notTheSum({ field, given, sum, of, currency }: WrongSum): Failure {
  const message = `${field} is ${toDecimalText(given, currency)}, but ${of} × quantity over the goods is ${toDecimalText(sum, currency)}.`
  return new Failure('amounts_do_not_add_up', { field, message })
}
