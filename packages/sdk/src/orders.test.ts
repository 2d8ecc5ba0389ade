import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedGateway } from '../test/support/scripted-gateway.ts'
import { ConnectionError, InvalidRequestError, NotFoundError, TimeoutError } from './errors.ts'
import type { NewOrder } from './orders.ts'

const created = { paymentId: 'P1', checkoutUrl: 'https://pay.example/c/1', status: 'pending' }
const order: NewOrder = {
  order: {
    orderNo: 'A-1',
    orderAmount: '0.30',
    goods: [{ referenceGoodsId: 's', goodsName: 'Shirt', goodsAmount: 0.1, goodsQuantity: 3 }],
  },
  paymentAmount: '0.30',
  currency: 'USD',
}
const now = 1_760_000_000_000
const query = (paymentStatus: string) => ({
  data: { paymentId: 'P1', status: paymentStatus, paymentStatus, refunds: [] },
})

test('create adds the channel and the times, and sends amounts unchanged', async () => {
  const { tillgate, requests } = scriptedGateway([{ data: created }])
  const answer = await tillgate.orders.create(order)
  assert.equal(answer.paymentId, 'P1')
  const [request] = requests
  assert.equal(request?.url, 'https://pay.example/payment/api/v1/payment-order')
  assert.deepEqual(request?.body, {
    ...order,
    channel: 'WEB',
    paymentTime: now,
    paymentExpiryTime: now + 30 * 60_000,
  })
})

test('create keeps a given channel and given times', async () => {
  const { tillgate, requests } = scriptedGateway([{ data: created }])
  await tillgate.orders.create({ ...order, channel: 'APP', paymentTime: String(now - 5) })
  assert.equal(requests[0]?.body.channel, 'APP')
  assert.equal(requests[0]?.body.paymentTime, String(now - 5))
  assert.equal(requests[0]?.body.paymentExpiryTime, now - 5 + 30 * 60_000)
})

test('a retried create has the same content, so that it is the same order', async () => {
  const { tillgate, requests } = scriptedGateway([{ networkError: 'ECONNRESET' }, { data: created }])
  await tillgate.orders.create(order)
  assert.deepEqual(requests[0]?.body, requests[1]?.body)
})

test('a repeated create has the same paymentTime until the order expires', async () => {
  let nowMs = now
  const { tillgate, requests } = scriptedGateway(
    Array.from({ length: 4 }, () => ({ data: created })),
    { now: () => nowMs },
  )
  await tillgate.orders.create(order)
  nowMs += 20_000
  await tillgate.orders.create(structuredClone(order))
  await tillgate.orders.create({ ...order, order: { ...order.order, orderNo: 'A-2' } })
  nowMs = now + 30 * 60_000
  await tillgate.orders.create(order)
  assert.deepEqual(
    requests.map(({ body }) => body.paymentTime - now),
    [0, 0, 20_000, 30 * 60_000],
  )
  assert.deepEqual(requests[0]?.body, requests[1]?.body)
})

test('amounts that JSON cannot represent are rejected', async () => {
  const { tillgate, requests } = scriptedGateway([])
  for (const paymentAmount of [Number.NaN, Number.POSITIVE_INFINITY, 10n as unknown as number]) {
    await assert.rejects(
      tillgate.orders.create({ ...order, paymentAmount }),
      (error: InvalidRequestError) => {
        assert.ok(error instanceof InvalidRequestError)
        assert.equal(error.field, 'paymentAmount')
        return true
      },
    )
  }
  const goods = [{ referenceGoodsId: 's', goodsName: 'Shirt', goodsAmount: Number.NaN }]
  await assert.rejects(tillgate.orders.create({ ...order, order: { ...order.order, goods } }), {
    field: 'order.goods[0].goodsAmount',
  })
  assert.equal(requests.length, 0)
})

test('query sends a paymentId, orderNo or refundId', async () => {
  const { tillgate, requests } = scriptedGateway([query('pending'), query('pending'), query('pending')])
  await tillgate.orders.query('P1')
  await tillgate.orders.query({ orderNo: 'A-1' })
  await tillgate.orders.query({ refundId: 'R1' })
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ paymentId: 'P1' }, { orderNo: 'A-1' }, { refundId: 'R1' }],
  )
})

test('cancel, refund and resend use their own paths', async () => {
  const { tillgate, requests } = scriptedGateway([
    { data: { paymentId: 'P1', status: 'cancelled' } },
    { data: { paymentId: 'P1', refundId: 'R1', status: 'refunding' } },
    { data: { paymentId: 'P1', queued: '2' } },
  ])
  await tillgate.orders.cancel('P1')
  await tillgate.refunds.create({ paymentId: 'P1', referRefundNo: 'A-1-R1', refundAmount: '0.10' })
  assert.deepEqual(await tillgate.callbacks.resend('P1'), { paymentId: 'P1', queued: 2 })
  assert.deepEqual(
    requests.map(({ url }) => url.split('/payment-order/')[1]),
    ['cancel', 'refund', 'callback'],
  )
})

test('sandbox operations use the gateway path and are not repeated', async () => {
  const { tillgate, requests } = scriptedGateway([
    { data: { paymentId: 'P1', status: 'success' } },
    { failure: 'unavailable' },
    { networkError: 'ECONNRESET' },
  ])
  await tillgate.sandbox.pay({ paymentId: 'P1', outcome: 'success' })
  await assert.rejects(tillgate.sandbox.advance({ paymentId: 'P1', milliseconds: 1000 }), { code: 50300 })
  await assert.rejects(tillgate.sandbox.pay({ paymentId: 'P1', outcome: 'failed' }), ConnectionError)
  assert.deepEqual(
    requests.map(({ url, method }) => [url, method]),
    [
      ['https://pay.example/api/v1/gateway', 'service.sandbox.pay'],
      ['https://pay.example/api/v1/gateway', 'service.sandbox.advance'],
      ['https://pay.example/api/v1/gateway', 'service.sandbox.pay'],
    ],
  )
})

test('waitUntilFinal polls with growing intervals and survives temporary failures', async () => {
  const { tillgate, waits } = scriptedGateway(
    [
      query('pending'),
      { failure: 'unavailable' },
      query('confirming'),
      { networkError: 'ECONNREFUSED' },
      query('success'),
    ],
    { maxRetries: 0 },
  )
  assert.equal((await tillgate.orders.waitUntilFinal('P1')).paymentStatus, 'success')
  assert.deepEqual(waits, [500, 750, 1125, 1687.5])
})

test('waitUntilFinal ends at its timeout with the last status', async () => {
  const { tillgate } = scriptedGateway([query('pending'), query('confirming')])
  await assert.rejects(tillgate.orders.waitUntilFinal('P1', { timeoutMs: 1000 }), (error: Error) => {
    assert.ok(error instanceof TimeoutError)
    assert.match(error.message, /confirming/)
    return true
  })
})

test('waitUntilFinal rejects at once for an order that does not exist', async () => {
  const { tillgate } = scriptedGateway([{ failure: 'order_not_found' }])
  await assert.rejects(tillgate.orders.waitUntilFinal('P1'), NotFoundError)
})

test('waitUntilFinal rejects with the signal’s reason', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const { tillgate } = scriptedGateway([query('pending')], {
    wait: async (_, signal) => {
      controller.abort(reason)
      signal.throwIfAborted()
    },
  })
  await assert.rejects(tillgate.orders.waitUntilFinal('P1', { signal: controller.signal }), reason)
})

test('a refund is waited for by its own status, not that of the newest refund', async () => {
  const refunds = (status: string) => ({
    data: {
      paymentId: 'P1',
      status: 'refunding',
      paymentStatus: 'success',
      refunds: [
        { refundId: 'R1', status },
        { refundId: 'R2', status: 'refunding' },
      ],
    },
  })
  const { tillgate, waits } = scriptedGateway([refunds('refunding'), refunds('refund_success')])
  assert.equal((await tillgate.refunds.waitUntilFinal('R1')).status, 'refund_success')
  assert.equal(waits.length, 1)
})
