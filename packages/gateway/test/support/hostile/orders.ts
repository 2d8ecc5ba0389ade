// Orders of a merchant with hostile text in every field, callbacks that are answered by it, and requests that are refused
// because of it.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { until } from '../callbacks.ts'
import type { OpenOrder } from '../checkout.ts'
import { createBody } from '../order.ts'
import { HostileTexts } from './texts.ts'
import type { Field } from './world.ts'

const specialNames = [
  ...(['paid', 'cancelled', 'byWallet', 'open'] as const),
  ...(['instructions', 'code', 'redirected', 'declined', 'approved', 'failed', 'failing'] as const),
] as const
/** What becomes of the first orders. */
export type SpecialOrders = Readonly<Record<(typeof specialNames)[number], OpenOrder>>

export async function openHostileShop(texts: HostileTexts): Promise<string> {
  const answer = texts.text('answer to a callback', { takesHidden: true })
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(500, { 'content-type': 'text/html' }).end(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** So many that every kind of text stands first in every field. */
export async function plantOrders({ gateway, texts, merchant, shop }: Field) {
  const takesHidden = true
  const orders: OpenOrder[] = []
  for (let number = 0; number < HostileTexts.kinds; number++) {
    const body = createBody({ now: Date.now(), orderNo: texts.text('orderNo', { max: 64, takesHidden }) })
    const { data, msg } = await merchant.call('service.trade.create', {
      ...body,
      order: {
        ...body.order,
        orderDescription: texts.text('orderDescription', { takesHidden }),
        shipping: {
          shipType: 'SHIPPING',
          name: texts.text('shipping.name', { takesHidden }),
          address: texts.text('shipping.address', { takesHidden }),
        },
        goods: [
          {
            referenceGoodsId: texts.text('goods.referenceGoodsId', { max: 64, takesHidden }),
            goodsName: texts.text('goods.goodsName', { takesHidden }),
            goodsDesc: texts.text('goods.goodsDesc', { takesHidden }),
            goodsAmount: '12.50',
          },
        ],
      },
      callbackUrl: texts.url('callbackUrl', `${shop}/callbacks`),
      redirectUrl: texts.url('redirectUrl', 'https://shop.example/back'),
      cancelUrl: texts.url('cancelUrl', 'https://shop.example/cart'),
    })
    assert(data?.checkoutUrl, msg)
    orders.push({ url: gateway.url + new URL(data.checkoutUrl).pathname, paymentId: data.paymentId })
  }
  const special = Object.fromEntries(specialNames.map((name, index) => [name, orders[index]]))
  // Safe: there are more orders than names.
  return { orders, special: special as SpecialOrders }
}

/** They are in the log of requests, with the words of the refusal, which repeat what is short. */
export async function plantRefusals({ texts, merchant }: Field): Promise<void> {
  const body = createBody({ now: Date.now() })
  const text = () => texts.text('refused field', { max: 38 })
  for (const refused of [
    { ...body, currency: text() },
    { ...body, channel: text() },
    { ...body, paymentTime: text() },
    { ...body, callbackUrl: text() },
    { ...body, order: { ...body.order, goods: text() } },
    { ...body, order: { ...body.order, shipping: { shipType: text(), name: 'x' } } },
  ])
    assert.notEqual((await merchant.call('service.trade.create', refused)).code, 20000)
}

/** One is paid, refunded in part, and refunded again by an operator who must wait for another; one is cancelled. */
export async function endOrders(
  { texts, api, merchant }: Field,
  { paid: { paymentId }, cancelled }: SpecialOrders,
): Promise<void> {
  const { merchantId } = merchant
  await merchant.call('service.sandbox.pay', { paymentId, outcome: 'success' })
  const query = async () => (await merchant.call('service.trade.query', { paymentId })).data
  await until(async () => (await query()).paymentStatus === 'success')
  const { code, msg } = await merchant.call('service.trade.refund', {
    paymentId,
    referRefundNo: texts.text('referRefundNo', { max: 64, takesHidden: true }),
    refundAmount: '1.00',
    refundReason: texts.text('refundReason', { takesHidden: true }),
  })
  assert.equal(code, 20000, msg)
  await until(async () => (await query()).status === 'refund_success')
  const referRefundNo = texts.text('referRefundNo', { max: 64 })
  await api.asked('order.refund', {
    params: { merchantId, paymentId },
    body: { amount: '2.00', referRefundNo, reason: texts.text('reason of what waits') },
    headers: { 'idempotency-key': 'refund' },
  })
  const params = { merchantId, paymentId: cancelled.paymentId }
  await api.data('order.cancel', { params, body: { reason: texts.text('cancel reason') } })
}
