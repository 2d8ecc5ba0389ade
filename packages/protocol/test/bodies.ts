// Valid bodies for tests to change one thing in.
import type { CreateBody } from '../src/messages/create-body.ts'

/** Deep enough to be changed anywhere, with every optional field. */
export function fullCreateBody() {
  return {
    order: {
      orderNo: 'A-1',
      orderAmount: 30,
      tips: '1.00',
      discount: 2.5,
      totalTax: '3.00',
      insurance: 0,
      handlingFee: 0.99,
      shipping: { shipType: 'SHIPPING', amount: 4.9, name: 'Zoë Müller', address: '1 High Street' },
      shippingDiscount: '0',
      orderDescription: 'Two shirts and a cap',
      goods: [
        {
          referenceGoodsId: 's-1',
          goodsName: 'Shirt',
          goodsDesc: 'Blue',
          goodsAmount: 12.5,
          tax: 1.25,
          goodsQuantity: 2,
        },
        { referenceGoodsId: 'c-1', goodsName: 'Cap 🧢', goodsUnitAmount: '5.00', tax: '0.50' },
      ],
    },
    channel: 'WEB',
    paymentAmount: '34.39',
    currency: 'USD',
    paymentTime: 1760000000000,
    paymentExpiryTime: '1760000900000',
    callbackUrl: 'https://shop.example/callbacks',
    redirectUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/basket',
    attach: 'basket 7',
  } satisfies CreateBody
}

export function smallCreateBody() {
  return {
    order: { orderNo: 'A-1', orderAmount: 1, goods: [{ referenceGoodsId: 'x', goodsName: 'X' }] },
    channel: 'APP',
    paymentAmount: 1,
    currency: 'JPY',
    paymentTime: 1760000000000,
    paymentExpiryTime: 1760000900000,
  } satisfies CreateBody
}

/** 9.99 × 0.333 is 3.32667, and 3.33 in dollars. */
export function weighedCreateBody() {
  const tea = { referenceGoodsId: 't-1', goodsName: 'Tea, loose', goodsAmount: '9.99', goodsQuantity: 0.333 }
  return {
    ...smallCreateBody(),
    order: { orderNo: 'A-2', orderAmount: '3.33', goods: [tea] },
    paymentAmount: '3.33',
    currency: 'USD',
  } satisfies CreateBody
}

/** Sets a value by its path, `order.goods[1].tax`; undefined removes it. */
export function withChange<T extends object>(body: T, path: string, value: unknown): T {
  const copy = structuredClone(body)
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '')
  let at = copy as Record<string, unknown>
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>
  at[keys.at(-1) ?? ''] = value
  return copy
}
