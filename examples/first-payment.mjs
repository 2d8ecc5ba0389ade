// The SDK in ten lines: make an order, send somebody to pay it, learn what became of it.
import { Tillgate } from '@tillgate/sdk'

const tillgate = Tillgate.fromFile(`${process.env.DATA_DIR ?? 'data'}/sandbox-merchant.json`)
const tea = { referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: '12.50' }
const { paymentId, checkoutUrl } = await tillgate.orders.create({
  order: { orderNo: `first-${Date.now()}`, orderAmount: '12.50', goods: [tea] },
  paymentAmount: '12.50',
  currency: 'EUR',
})
process.stdout.write(`Pay at ${checkoutUrl}\n`)
const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId)
process.stdout.write(`The order is ${paymentStatus}.\n`)
