// The body of service.trade.create: schema, type and documentation in one.
import type { Static } from 'typebox'
import { isCurrencyCode } from '../currencies.ts'
import { amount, choice, list, nested, pattern, quantity, text, time, url } from '../fields.ts'
import {
  goodsQuantityDecimals,
  maxAttachLength,
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
import { Type } from '../type.ts'

export const channels = ['WEB', 'APP'] as const
export const captureModes = ['automatic', 'manual'] as const
export const shipTypes = ['SHIPPING', 'PICKUP_IN_STORE', 'PICKUP_FROM_PERSON'] as const

export function currencyOf(description: string) {
  return pattern(description, {
    regexp: /^[A-Z]{3}$/,
    expected: 'three capital letters, an ISO 4217 code',
    adviceFor: adviceForCurrency,
  })
}

function adviceForCurrency(value: unknown): string | undefined {
  if (/^\d{3}$/.test(String(value))) return 'This is a numeric code: send the letters, such as EUR.'
  if (typeof value !== 'string') return undefined
  const code = value.trim().toUpperCase().slice(0, 3)
  return isCurrencyCode(code) ? `Did you mean ${code}?` : undefined
}

export const goodsSchema = nested('A good.', {
  typeName: 'goods object',
  fields: {
    referenceGoodsId: text('Your number for the good.', {
      max: maxReferenceGoodsIdLength,
    }),
    goodsName: text('The name that the consumer sees.', { max: maxGoodsNameLength, isVisible: true }),
    goodsDesc: Type.Optional(text('The description.', { min: 0, max: maxGoodsDescLength, hasLines: true })),
    goodsAmount: Type.Optional(amount('The price of one unit.')),
    goodsUnitAmount: Type.Optional(
      amount('Another name of goodsAmount. If you send both, they must be equal.'),
    ),
    tax: Type.Optional(amount('The tax on one unit.')),
    goodsQuantity: Type.Optional(
      quantity('The quantity, such as 0.5 for half a kilogram. Default 1.', {
        max: maxGoodsQuantity,
        decimals: goodsQuantityDecimals,
      }),
    ),
  },
})

const shippingSchema = nested('The delivery.', {
  typeName: 'shipping object',
  fields: {
    shipType: choice('The delivery method.', shipTypes),
    amount: Type.Optional(amount('The shipping fee.')),
    name: text('The receiver’s name.', { max: maxShippingNameLength }),
    address: Type.Optional(
      text('The receiver’s address.', { min: 0, max: maxShippingAddressLength, hasLines: true }),
    ),
  },
})

const orderSchema = nested('The order.', {
  typeName: 'order object',
  fields: {
    orderNo: text('Your number for the order, permanently unique.', {
      max: maxOrderNoLength,
    }),
    orderAmount: amount(
      'The total of the goods. Equals the sum of amount × quantity if every good has an amount.',
    ),
    tips: Type.Optional(amount('The consumer’s tip.')),
    discount: Type.Optional(amount('The discount on the order.')),
    totalTax: Type.Optional(
      amount('The total tax. Equals the sum of tax × quantity if every good has a tax.'),
    ),
    insurance: Type.Optional(amount('The insurance.')),
    handlingFee: Type.Optional(amount('The handling fee.')),
    shipping: Type.Optional(shippingSchema),
    shippingDiscount: Type.Optional(amount('The discount on the shipping fee.')),
    orderDescription: Type.Optional(
      text('A description for the consumer.', { min: 0, max: maxOrderDescriptionLength, hasLines: true }),
    ),
    goods: list('The goods.', {
      item: goodsSchema,
      typeName: 'array of goods objects',
      min: 1,
      max: maxGoods,
    }),
  },
})

export const createBodySchema = Type.Object({
  order: orderSchema,
  channel: choice('Where the order was created.', channels),
  paymentAmount: amount('What the consumer pays.', { isPositive: true }),
  currency: currencyOf('The currency of every amount in the body.'),
  captureMode: Type.Optional(
    choice(
      'When the money moves: `automatic` with the payment (default), or `manual` when you capture it.',
      captureModes,
    ),
  ),
  paymentTime: time('The time of the payment order, at most 5 minutes ahead of the gateway’s clock.'),
  paymentExpiryTime: time(
    'The expiry: 5 minutes to 24 hours after paymentTime, inclusive, and in the future.',
  ),
  callbackUrl: Type.Optional(url('Receives callbacks. Default: the merchant’s default callback URL.')),
  redirectUrl: Type.Optional(
    url('Where the consumer returns at the end: https or, with channel APP, the app’s scheme.'),
  ),
  cancelUrl: Type.Optional(
    url('Where the consumer returns while the order is pending. Default: redirectUrl.'),
  ),
  attach: Type.Optional(
    text('Your own data, returned unchanged in create, query and callbacks.', {
      min: 0,
      max: maxAttachLength,
      hasLines: true,
    }),
  ),
})

export type CreateBody = Static<typeof createBodySchema>
