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

test('create fills in the channel and the times, and sends amounts as they were given', async () => {
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

test('create keeps the channel and the times that it is given', async () => {
  const { tillgate, requests } = scriptedGateway([{ data: created }])
  await tillgate.orders.create({ ...order, channel: 'APP', paymentTime: String(now - 5) })
  assert.equal(requests[0]?.body.channel, 'APP')
  assert.equal(requests[0]?.body.paymentTime, String(now - 5))
  assert.equal(requests[0]?.body.paymentExpiryTime, now - 5 + 30 * 60_000)
})

test('a retried create has the same content, so that it stays the same order', async () => {
  const { tillgate, requests } = scriptedGateway([{ networkError: 'ECONNRESET' }, { data: created }])
  await tillgate.orders.create(order)
  assert.deepEqual(requests[0]?.body, requests[1]?.body)
})

test('a create that the program itself repeats has the same paymentTime, until the order has expired', async () => {
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

test('amounts that JSON has no number for are refused instead of being left out', async () => {
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

test('query asks by paymentId, orderNo or refundId', async () => {
  const { tillgate, requests } = scriptedGateway([query('pending'), query('pending'), query('pending')])
  await tillgate.orders.query('P1')
  await tillgate.orders.query({ orderNo: 'A-1' })
  await tillgate.orders.query({ refundId: 'R1' })
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ paymentId: 'P1' }, { orderNo: 'A-1' }, { refundId: 'R1' }],
  )
})

test('cancel, refund and resend go to their own paths', async () => {
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

test('the sandbox’s operations go to the gateway path and are not repeated', async () => {
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

test('waiting for the end asks slower and slower, through trouble that passes', async () => {
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

test('waiting ends with the time it was given, and says what was seen last', async () => {
  const { tillgate } = scriptedGateway([query('pending'), query('confirming')])
  await assert.rejects(tillgate.orders.waitUntilFinal('P1', { timeoutMs: 1000 }), (error: Error) => {
    assert.ok(error instanceof TimeoutError)
    assert.match(error.message, /confirming/)
    return true
  })
})

test('waiting for an order that does not exist ends at once', async () => {
  const { tillgate } = scriptedGateway([{ failure: 'order_not_found' }])
  await assert.rejects(tillgate.orders.waitUntilFinal('P1'), NotFoundError)
})

test('waiting is given up with the signal’s reason', async () => {
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

test('a refund is waited for by its own status, not by the newest one’s', async () => {
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
