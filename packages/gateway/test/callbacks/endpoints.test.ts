// Endpoints of a merchant over real sockets: each hears of the events that it wants beside the order's own callbackUrl,
// in its own format, and waits while it is paused. Standard Webhooks are verified by the package of that name.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { openCallback, parseCallbackEnvelope, parsePublicKey } from '@tillgate/protocol'
import { Webhook } from 'standardwebhooks'
import type { NewEndpoint } from '../../src/core/callbacks/manage-endpoints.ts'
import { toEndpoints } from '../../src/core/callbacks/rules/endpoint.ts'
import { outboundLimits } from '../../src/platform/outbound/limits.ts'
import { makeOutbound, systemParts } from '../../src/platform/outbound/outbound.ts'
import { loadMasterKeys } from '../../src/platform/runtime/secrets/master-keys.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway, type TestMerchant } from '../support/gateway.ts'
import { testOperations } from '../support/operations.ts'

interface Arrived {
  readonly path: string
  readonly body: string
  readonly headers: Record<string, string>
}
const arrived: Arrived[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  )
  arrived.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString(), headers })
  if (request.url === '/no-content') response.writeHead(204).end()
  else if (request.url === '/fails') response.writeHead(404).end()
  else response.end('{"code":20000,"msg":""}')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close().closeAllConnections())
// Safe: it listens on TCP.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const gateway = await startTestGateway()
const { endpoints } = actingAs(gateway.operations, 'test')
const outbound = makeOutbound(
  { ...outboundLimits, connectionsPerOrigin: 4, mode: 'sandbox', allowedTargets: [] },
  systemParts(),
)
after(() => outbound.close())
const { endpoints: trying } = actingAs(
  testOperations(gateway.pool, {
    config: gateway.config,
    vault: makeVault(...loadMasterKeys(gateway.config)),
    callbackPost: outbound.post,
  }).operations,
  'test',
)
const at = (path: string) => arrived.filter((each) => each.path === path)
const seen = async (path: string, count: number) => {
  await until(async () => at(path).length >= count)
  assert.equal(at(path).length, count, path)
  return at(path)
}
const register = (merchant: TestMerchant, path: string, wanted: Partial<NewEndpoint> = {}) =>
  endpoints.addEndpoint(
    merchant.merchantId,
    { url: origin + path, format: 'envelope', events: undefined, ...wanted },
    'test',
  )

async function pay(merchant: TestMerchant, callbackUrl = ''): Promise<string> {
  return await merchant.paidOrder({ callbackUrl })
}

test('an endpoint gets callbacks of its own, of the events that it wants, beside the order’s callbackUrl', async () => {
  const merchant = await gateway.addMerchant()
  const other = await gateway.addMerchant()
  await register(merchant, '/all')
  await register(merchant, '/paid', { events: ['payment.order.success'] })
  await register(other, '/other')
  const paymentId = await pay(merchant, `${origin}/own`)
  const own = await seen('/own', 2)
  const all = await seen('/all', 2)
  const paid = await seen('/paid', 1)
  const keys = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
    keys: { publicKey: string }[]
  }
  const open = async ({ body }: Arrived) => {
    const envelope = parseCallbackEnvelope(body)
    const { aesKey } = merchant
    const publicKeys = keys.keys.map(({ publicKey }) => parsePublicKey(publicKey))
    return { ...envelope, body: await openCallback(envelope, { aesKeys: [aesKey], publicKeys }) }
  }
  const opened = await Promise.all([...own, ...all, ...paid].map(open))
  assert.equal(new Set(opened.map(({ id }) => id)).size, 5, 'each has its own id')
  const said = opened.filter(({ eventName }) => eventName === 'payment.order.success')
  assert.equal(said.length, 3)
  assert.equal(new Set(said.map(({ body }) => JSON.stringify(body))).size, 1, 'and says the same')
  assert.deepEqual(at('/other'), [])
  // What is still being recorded is under way, and not sent a second time.
  await until(async () => (await gateway.pool.query('select from callback_queue')).rowCount === 0)
  const again = await merchant.call('service.trade.callback', { paymentId })
  assert.equal(again.data.queued, 2, 'a merchant asks again for what goes to callbackUrl')
})

test('of a batch with events of two merchants each endpoint hears of its own merchant’s', async () => {
  const [one, two] = [await gateway.addMerchant(), await gateway.addMerchant()]
  const listening = await Promise.all(
    [one, two].map(async (each) => (await register(each, '/none')).endpoint),
  )
  const callbacks = [one, two].map(({ merchantId }) => ({
    merchantId,
    callbackId: listening[0]?.endpointId ?? '',
    paymentId: 'P1',
    refundId: undefined,
    ...({ eventName: 'payment.order.success', callbackUrl: undefined, body: '{}', createdAtMs: 1 } as const),
  }))
  assert.deepEqual(
    toEndpoints(callbacks, listening).map(({ merchantId, endpointId }) => [merchantId, endpointId]),
    listening.map(({ merchantId, endpointId }) => [merchantId, endpointId]),
  )
})

test('an order without a callbackUrl is told to endpoints', async () => {
  const merchant = await gateway.addMerchant()
  await register(merchant, '/alone')
  await pay(merchant)
  await seen('/alone', 2)
})

test('Standard Webhooks are verified by the package of that name, with either secret while one is replaced', async () => {
  const merchant = await gateway.addMerchant()
  const made = await register(merchant, '/standard', {
    format: 'standard',
    events: ['payment.order.success'],
  })
  await register(merchant, '/no-content', { format: 'standard', events: ['payment.order.success'] })
  const firstSecret = made.secret ?? ''
  assert.match(firstSecret, /^whsec_/)
  const paymentId = await pay(merchant)
  const [first] = await seen('/standard', 1)
  assert(first)
  const message = new Webhook(firstSecret).verify(first.body, first.headers) as Record<string, unknown>
  assert.equal(message['type'], 'payment.order.success')
  assert.match(String(message['timestamp']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const { status, paymentId: of } = message['data'] as Record<string, unknown>
  assert.deepEqual([status, of], ['success', paymentId])
  assert.throws(() => new Webhook(firstSecret).verify(first.body.replace('success', 'failed'), first.headers))

  const rotated = await endpoints.rotateSecret(made.endpoint, { endsOthers: false, reason: 'test' })
  await pay(merchant)
  const [, second] = await seen('/standard', 2)
  assert(second && rotated.secret)
  for (const secret of [firstSecret, rotated.secret ?? ''])
    new Webhook(secret).verify(second.body, second.headers)

  const stolen = await endpoints.rotateSecret(made.endpoint, { endsOthers: true, reason: 'stolen' })
  await pay(merchant)
  const [, , third] = await seen('/standard', 3)
  assert(third && stolen.secret)
  new Webhook(stolen.secret).verify(third.body, third.headers)
  for (const secret of [firstSecret, rotated.secret ?? ''])
    assert.throws(() => new Webhook(secret).verify(third.body, third.headers))

  await seen('/no-content', 3)
  await until(async () => {
    const found = await gateway.stores.callbackHistory.listCallbacks(
      { merchantId: merchant.merchantId, state: 'delivered' },
      { limit: 10 },
    )
    return found.length === 6 && found.every(({ isWarned }) => !isWarned)
  })
})

test('a callback that is sent again goes to its endpoint as the first time, and to none that was removed', async () => {
  const merchant = await gateway.addMerchant()
  const { endpoint, secret } = await register(merchant, '/again', {
    format: 'standard',
    events: ['payment.order.success'],
  })
  await pay(merchant)
  const delivered = { ...endpoint, state: 'delivered' } as const
  const listed = () => gateway.stores.callbackHistory.listCallbacks(delivered, { limit: 10 })
  await until(async () => (await listed()).length === 1)
  const { callbacks } = actingAs(gateway.operations, 'test')
  const [callback] = await listed()
  assert(callback)
  const { callbackId } = callback
  await callbacks.resendOne({ callbackId }, 'test')
  const [first, second] = await seen('/again', 2)
  assert(first && second && secret)
  new Webhook(secret).verify(second.body, second.headers)
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
  await until(async () => (await listed()).some(({ attemptsMade }) => attemptsMade === 2))
  await endpoints.removeEndpoint(endpoint, 'test')
  await assert.rejects(callbacks.resendOne({ callbackId }, 'test'), /its endpoint was removed/)
  assert.equal((await listed()).length, 1)
})

test('a paused endpoint loses nothing: its callbacks wait, and are sent when it is resumed', async () => {
  const merchant = await gateway.addMerchant()
  const { endpoint } = await register(merchant, '/paused')
  await endpoints.pauseEndpoint(endpoint, 'test')
  await assert.rejects(endpoints.pauseEndpoint(endpoint, 'test'), /paused already/)
  await pay(merchant)
  const { merchantId } = merchant
  const { endpointId } = endpoint
  const waiting = () =>
    gateway.stores.callbackHistory.listCallbacks({ merchantId, endpointId }, { limit: 10 })
  await until(async () => {
    const found = await waiting()
    return found.length === 2 && found.every(({ heldReason }) => heldReason === 'endpoint_paused')
  })
  assert.deepEqual(at('/paused'), [])
  await endpoints.resumeEndpoint(endpoint, 'test')
  await seen('/paused', 2)
  await until(async () => (await waiting()).every(({ state }) => state === 'delivered'))
})

test('a test event is signed like a real one, also while the endpoint is paused, is recorded, and never queued', async () => {
  const merchant = await gateway.addMerchant()
  const { merchantId } = merchant
  const { endpoint, secret = '' } = await register(merchant, '/tried', {
    format: 'standard',
    events: ['payment.refund.success'],
  })
  await endpoints.pauseEndpoint(endpoint, 'test')
  const sent = await trying.sendTestEvent(endpoint, { reason: 'test' })
  assert.deepEqual(
    { ...sent, durationMs: 0 },
    {
      kind: 'answered',
      eventName: 'payment.refund.success',
      durationMs: 0,
      isAcknowledged: true,
      isWarned: false,
      httpStatus: 200,
      answer: '{"code":20000,"msg":""}',
    },
  )
  const [{ body = '', headers = {} } = {}] = await seen('/tried', 1)
  const { type, data } = new Webhook(secret).verify(body, headers) as { type: string; data: object }
  assert.equal(type, 'payment.refund.success')
  assert.deepEqual(Object.entries(data)[0], ['merchantId', merchantId])
  const { rows } = await gateway.pool.query<{ reason: string }>(
    "select reason from audit where act = 'endpoint.test' and subject = $1",
    [endpoint.endpointId],
  )
  assert.deepEqual(rows, [{ reason: 'payment.refund.success: test' }])
  assert.deepEqual(await gateway.stores.callbackHistory.listCallbacks({ merchantId }, { limit: 1 }), [])
})

test('a test event to an endpoint that fails returns the response or the network error, and five are sent at once', async () => {
  const merchant = await gateway.addMerchant()
  const { endpoint } = await register(merchant, '/fails')
  const send = (key = endpoint) => trying.sendTestEvent(key, { reason: 'test' })
  const failed = await send()
  assert.deepEqual(
    [failed.kind, failed.kind === 'answered' && [failed.isAcknowledged, failed.httpStatus]],
    ['answered', [false, 404]],
  )
  const nowhere = await endpoints.addEndpoint(
    merchant.merchantId,
    { url: 'http://nowhere.invalid/', format: 'envelope', events: undefined },
    'test',
  )
  const lost = await send(nowhere.endpoint)
  assert.deepEqual([lost.kind, lost.kind === 'unreachable' && lost.reason], ['unreachable', 'dns'])
  for (let index = 0; index < 3; index++) await send()
  await assert.rejects(send(), /Too many test events\. Try again in \d+ seconds\./)
})

test('what waits for a removed endpoint, and for one that is paused for seven days, is given up', async () => {
  const merchant = await gateway.addMerchant()
  const { merchantId } = merchant
  const removed = await register(merchant, '/removed')
  const paused = await register(merchant, '/long')
  await endpoints.pauseEndpoint(removed.endpoint, 'test')
  await endpoints.pauseEndpoint(paused.endpoint, 'test')
  await pay(merchant)
  const { callbackHistory } = gateway.stores
  const held = { merchantId, state: 'waiting' } as const
  await until(async () => {
    const found = await callbackHistory.listCallbacks(held, { limit: 10 })
    return found.filter(({ heldReason }) => heldReason === 'endpoint_paused').length === 4
  })
  await endpoints.removeEndpoint(removed.endpoint, 'test')
  await assert.rejects(endpoints.showEndpoint(removed.endpoint), /Endpoint .* does not exist/)
  const tidy = (dueBeforeMs: number) =>
    callbackHistory.exhaustOverdue({ dueBeforeMs, nowMs: Date.now(), limit: 100, emailsFor: () => [] })
  assert.equal((await tidy(Date.now() - 7 * 86_400_000)).length, 2)
  assert.equal((await tidy(Date.now() + 1)).length, 2)
  assert.equal(
    (await callbackHistory.listCallbacks({ merchantId, state: 'exhausted' }, { limit: 10 })).length,
    4,
  )
  await pay(merchant)
  assert.equal((await callbackHistory.listCallbacks({ ...removed.endpoint }, { limit: 10 })).length, 2)
})

test('a callback of long ago that is asked for again waits for its paused endpoint, and is sent when it is resumed', async () => {
  const merchant = await gateway.addMerchant()
  const { endpoint } = await register(merchant, '/asked', { events: ['payment.order.success'] })
  await pay(merchant)
  const { callbackHistory } = gateway.stores
  const listed = async () => (await callbackHistory.listCallbacks(endpoint, { limit: 10 }))[0]
  await until(async () => (await listed())?.state === 'delivered')
  await endpoints.pauseEndpoint(endpoint, 'test')
  const callbackId = (await listed())?.callbackId ?? ''
  await actingAs(gateway.operations, 'test').callbacks.resendOne({ callbackId }, 'test')
  await until(async () => (await listed())?.heldReason === 'endpoint_paused')
  await callbackHistory.exhaustOverdue({
    dueBeforeMs: Date.now() + 1,
    nowMs: Date.now(),
    limit: 100,
    emailsFor: () => [],
  })
  await callbackHistory.prune({ olderThanMs: Date.now() + 60_000, limit: 1_000 })
  await endpoints.resumeEndpoint(endpoint, 'test')
  await seen('/asked', 2)
  await until(async () => (await listed())?.attemptsMade === 2)
  await callbackHistory.prune({ olderThanMs: Date.now() + 60_000, limit: 1_000 })
  assert.equal((await listed())?.body, undefined, 'once it is delivered, its text goes')
})

test('a resend to a paused endpoint moves no retry, neither when it is held nor when it is resumed', async () => {
  const merchant = await gateway.addMerchant()
  const { endpoint } = await register(merchant, '/fails', { events: ['payment.order.success'] })
  await pay(merchant)
  const { callbackHistory } = gateway.stores
  const listed = async () => (await callbackHistory.listCallbacks(endpoint, { limit: 10 }))[0]
  await until(async () => (await listed())?.attemptsMade === 1)
  const before = await listed()
  await endpoints.pauseEndpoint(endpoint, 'test')
  await actingAs(gateway.operations, 'test').callbacks.resendOne(
    { callbackId: before?.callbackId ?? '' },
    'test',
  )
  await until(async () => (await listed())?.heldReason === 'endpoint_paused')
  assert.equal((await listed())?.nextAttemptAtMs, before?.nextAttemptAtMs)
  await endpoints.resumeEndpoint(endpoint, 'test')
  await until(async () => (await listed())?.attemptsMade === 2)
  const after = await listed()
  assert.deepEqual([after?.nextAttemptAtMs, after?.retriesMade], [before?.nextAttemptAtMs, 0])
})

test('a merchant has sixteen endpoints at most, to addresses that callbacks may go to', async () => {
  const merchant = await gateway.addMerchant({ callbackHosts: [new URL(origin).host] })
  for (let index = 0; index < 16; index++) await register(merchant, `/many/${index}`)
  await assert.rejects(register(merchant, '/many/16'), /at most 16/)
  await assert.rejects(register(merchant, '/', { url: 'https://elsewhere.example/' }), /not on the list/)
  await assert.rejects(register(merchant, '/', { url: 'ftp://shop.example/' }), /not allowed/)
})
