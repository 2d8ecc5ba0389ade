// The order that every scenario creates: two goods, about as much text as a shop sends.
import { randomBytes } from 'node:crypto'

export function createBody(more: object = {}, nowMs: number = Date.now()): object {
  return {
    order: {
      orderNo: randomBytes(12).toString('hex'),
      orderAmount: 12.5,
      orderDescription: 'Two teas and a cup, gift wrapped, to be picked up on Saturday',
      goods: [
        {
          referenceGoodsId: 'tea-1',
          goodsName: 'Green tea',
          goodsDesc: 'Loose leaves',
          goodsAmount: 5,
          goodsQuantity: 2,
        },
        { referenceGoodsId: 'cup-1', goodsName: 'Cup', goodsAmount: 2.5, goodsQuantity: 1 },
      ],
    },
    channel: 'WEB',
    paymentAmount: 12.5,
    currency: 'USD',
    paymentTime: nowMs,
    paymentExpiryTime: nowMs + 1_800_000,
    callbackUrl: 'http://shop.example/callbacks',
    redirectUrl: 'http://shop.example/thanks',
    ...more,
  }
}
