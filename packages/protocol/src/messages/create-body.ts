// The body of service.trade.create as it is on the wire: schema, type and documentation in one.
import type { Static } from 'typebox'
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
export const shipTypes = ['SHIPPING', 'PICKUP_IN_STORE', 'PICKUP_FROM_PERSON'] as const

export const goodsSchema = nested('One kind of good.', {
  typeName: 'goods object',
  fields: {
    referenceGoodsId: text('The good’s number on the merchant’s platform.', {
      max: maxReferenceGoodsIdLength,
    }),
    goodsName: text('Its name, shown to the consumer.', { max: maxGoodsNameLength, isVisible: true }),
    goodsDesc: Type.Optional(text('Its description.', { min: 0, max: maxGoodsDescLength, hasLines: true })),
    goodsAmount: Type.Optional(amount('The price of one.')),
    goodsUnitAmount: Type.Optional(
      amount('Another spelling of goodsAmount. Send either; if both are sent, they must be equal.'),
    ),
    tax: Type.Optional(amount('The tax on one.')),
    goodsQuantity: Type.Optional(
      quantity('How many, or how much of it, such as 0.5 for half a kilogram. 1 when left out.', {
        max: maxGoodsQuantity,
        decimals: goodsQuantityDecimals,
      }),
    ),
  },
})

const shippingSchema = nested('How the goods reach the receiver.', {
  typeName: 'shipping object',
  fields: {
    shipType: choice('The way.', shipTypes),
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
      text('A description for the consumer.', { min: 0, max: maxOrderDescriptionLength, hasLines: true }),
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
  callbackUrl: Type.Optional(
    url('Where callbacks are sent. Without it, the merchant’s default callback URL receives them.'),
  ),
  redirectUrl: Type.Optional(
    url('Where the consumer goes back to at the end: https or, with channel APP, the app’s own scheme.'),
  ),
  cancelUrl: Type.Optional(
    url(
      'Where the consumer goes who leaves the checkout while the order is pending; redirectUrl when left out.',
    ),
  ),
  attach: Type.Optional(
    text('Your own data, returned unchanged by create, query and callbacks.', {
      min: 0,
      max: maxAttachLength,
      hasLines: true,
    }),
  ),
})

export type CreateBody = Static<typeof createBodySchema>
