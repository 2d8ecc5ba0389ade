// The SDK against a real gateway over real sockets: what it sends is accepted, what it receives is genuine.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { TestClock } from '../../gateway/test/support/clock.ts'
import { startTestGateway, type TestMerchant } from '../../gateway/test/support/gateway.ts'
import {
  AuthenticationError,
  ConflictError,
  type Credentials,
  InvalidRequestError,
  type NewOrder,
  NotFoundError,
  type OrderEvent,
  Tillgate,
} from '../src/index.ts'

const clock = new TestClock(Date.now())
const gateway = await startTestGateway({ clock })
const credentials = await credentialsOf(await gateway.addMerchant())
const tillgate = new Tillgate({ ...credentials, now: () => clock.now() })

/** What the sandbox writes to sandbox-merchant.json, from a merchant of the test's gateway. */
async function credentialsOf({ merchantId, aesKey, privateKey }: TestMerchant): Promise<Credentials> {
  const response = await fetch(`${gateway.url}/platform-keys`)
  const { keys } = (await response.json()) as { keys: { publicKey: string }[] }
  return {
    gatewayUrl: gateway.url,
    merchantId,
    aesKey: aesKey.export().toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    platformPublicKey: keys.map(({ publicKey }) => publicKey),
  }
}

let lastNumber = 0
const newOrder = (change: Partial<NewOrder> = {}): NewOrder => ({
  order: {
    orderNo: `SDK-${++lastNumber}`,
    orderAmount: '25.00',
    goods: [{ referenceGoodsId: 's', goodsName: 'Shirt ☕', goodsAmount: 12.5, goodsQuantity: 2 }],
  },
  paymentAmount: '25.00',
  currency: 'USD',
  ...change,
})

test('orders are listed page by page, newest first, as query answers them', async () => {
  const own = new Tillgate({ ...(await credentialsOf(await gateway.addMerchant())), now: () => clock.now() })
  const ids = []
  for (let made = 0; made < 3; made++) {
    clock.advance(1)
    ids.unshift((await own.orders.create(newOrder())).paymentId)
  }
  const first = await own.orders.list({ limit: 2 })
  assert.deepEqual(first.orders[0], await own.orders.query(ids[0] ?? ''))
  const second = await own.orders.list({ limit: 2, cursor: first.cursor ?? '' })
  assert.deepEqual(
    [...first.orders, ...second.orders].map(({ paymentId }) => paymentId),
    ids,
  )
  assert.equal(second.cursor, undefined)
})

test('an order is created, repeated, queried by both numbers and cancelled', async () => {
  const order = newOrder()
  const created = await tillgate.orders.create(order)
  assert.equal(created.status, 'pending')
  assert.equal((await tillgate.orders.create(order)).paymentId, created.paymentId)
  const byId = await tillgate.orders.query(created.paymentId)
  assert.deepEqual(await tillgate.orders.query({ orderNo: order.order.orderNo }), byId)
  assert.equal(byId.paymentAmount, 25)
  assert.equal((await tillgate.orders.cancel(created.paymentId)).status, 'cancelled')
  assert.equal((await tillgate.orders.waitUntilFinal(created.paymentId)).paymentStatus, 'cancelled')
})

test('what the gateway refuses arrives as the right error with its field', async () => {
  const order = newOrder()
  await tillgate.orders.create(order)
  await assert.rejects(tillgate.orders.create({ ...order, paymentAmount: 24 }), ConflictError)
  await assert.rejects(
    tillgate.orders.create(newOrder({ paymentAmount: '1.001' })),
    (error: InvalidRequestError) => {
      assert.ok(error instanceof InvalidRequestError)
      assert.deepEqual([error.code, error.field, error.httpStatus], [40002, 'paymentAmount', 400])
      assert.ok(error.requestId)
      return true
    },
  )
  await assert.rejects(tillgate.orders.query('P01K73ZQ800JZ7V3N4Q5R6S7T8W'), NotFoundError)
  const refund = { paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W', referRefundNo: 'R-1', refundAmount: 1 }
  await assert.rejects(tillgate.refunds.create(refund), NotFoundError)
})

test('a wrong key is an AuthenticationError, a wrong clock is corrected', async () => {
  const other = new Tillgate({ ...credentials, aesKey: Buffer.alloc(32, 1).toString('base64') })
  await assert.rejects(other.orders.query('P1'), AuthenticationError)
  // The Date header is the machine's; the gateway under test has the same time to within a few seconds.
  const late = new Tillgate({ ...credentials, now: () => Date.now() - 3_600_000 })
  assert.equal((await late.orders.create(newOrder())).status, 'pending')
})

test('a gateway path in front is kept', async () => {
  const prefixed = new Tillgate({ ...credentials, gatewayUrl: `${gateway.url}/cgi`, now: () => clock.now() })
  assert.equal((await prefixed.orders.create(newOrder())).status, 'pending')
})

test('a callback of the gateway reaches the handler, is acknowledged, and can be sent again', async () => {
  const events: OrderEvent[] = []
  let heard = Promise.withResolvers<void>()
  const handler = tillgate.callbacks.handler((event) => {
    assert.ok(event.kind === 'order')
    events.push(event)
    heard.resolve()
  })
  const server = createServer(handler.node).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`
  const { paymentId } = await tillgate.orders.create(newOrder({ callbackUrl }))
  clock.advance(30 * 60_000 + 1000)
  await heard.promise
  assert.equal((await tillgate.orders.query(paymentId)).paymentStatus, 'timeout')
  const [event] = events
  assert.deepEqual([event?.eventName, event?.result.paymentId], ['payment.order.timeout', paymentId])

  heard = Promise.withResolvers()
  // The handler hears of it a moment before the gateway has noted the acknowledgement; until then nothing is sent again.
  let queued = 0
  // Tries have a pause between them: the clock stands still, and with it what comes in of the merchant's rate.
  for (let tries = 0; queued === 0 && tries < 150; tries++) {
    queued = (await tillgate.callbacks.resend(paymentId)).queued
    if (queued === 0) await pause(20)
  }
  assert.equal(queued, 1)
  await heard.promise
  assert.equal(events[1]?.id, event?.id)
})
