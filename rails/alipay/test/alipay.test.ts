import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testRail } from '../../kit/test/battery.ts'
import { ask, openWorld, railDatabaseUrl, send, startMessage, statusOf } from '../../kit/test/world.ts'
import { AlipayProvider } from '../src/alipay-provider.ts'
import { alipayRail } from './alipay.ts'
import { alipayAppId, alipayKeys, appKeys, type FakeAlipay, openFakeAlipay } from './fake-alipay.ts'

await testRail(alipayRail)

const databaseUrl = await railDatabaseUrl()

async function openAlipay() {
  const fakes: FakeAlipay[] = []
  const openFake: typeof openFakeAlipay = async (clock) => {
    const fake = await openFakeAlipay(clock)
    fakes.push(fake)
    return fake
  }
  const world = await openWorld({ ...alipayRail, openFake }, databaseUrl)
  const [fake] = fakes
  assert(fake)
  return { world, fake }
}

test('alipay: every process creates the same payment page without a request to Alipay', async () => {
  const { world, fake } = await openAlipay()
  const another = await world.openAnother()
  const start = startMessage(world)
  const pages = await Promise.all(
    [world.rail.url, another.url].map((url) => send(`${url}/messages`, start, world.clock.nowMs)),
  )
  assert(pages[0]?.page)
  assert.deepEqual(pages[0], pages[1])
  // The second process may query the payment of the first.
  assert.deepEqual(
    fake.calls.filter((name) => name !== 'POST alipay.trade.query'),
    [],
  )
  // Like a process that was killed before it stored the page.
  const stored = {
    transactionId: start.transactionId,
    start,
    amountMinor: 1250n,
    currency: 'CNY',
    startedAtMs: world.clock.nowMs,
    status: 'starting',
    providerId: undefined,
    nextAction: undefined,
    reference: undefined,
    reason: undefined,
    notice: {},
  } as const
  const provider = alipayRail.makeProvider(fake, () => world.clock.nowMs + 60_000)
  const again = await provider.startPayment({ ...stored, idempotencyKey: start.transactionId })
  assert(again.status === 'pending' && again.nextAction.kind === 'redirect')
  assert.equal(again.nextAction.url, pages[0].page)
  await world.close()
})

test('alipay: a phone gets the page for phones', async () => {
  const { world } = await openAlipay()
  for (const [channel, method] of [
    ['WEB', 'alipay.trade.page.pay'],
    ['APP', 'alipay.trade.wap.pay'],
  ] as const) {
    const { page } = await ask(world, startMessage(world, { channel }))
    assert.equal(new URL(page ?? '').searchParams.get('method'), method)
  }
  await world.close()
})

test('alipay: a page that was not used is pending, and cancelled after it expired', async () => {
  const { world, fake } = await openAlipay()
  fake.tradeBegins = 'when the buyer signs in'
  const start = startMessage(world)
  await ask(world, start)
  assert.equal((await statusOf(world, start)).status, 'pending')
  world.clock.nowMs = start.expiresAt + 6 * 60_000
  assert.equal((await statusOf(world, start)).status, 'cancelled')
  assert.deepEqual(fake.payments(), [])
  await world.close()
})

test('alipay: a trade that starts after the cancellation is closed, and a paid one is reported', async () => {
  for (const isPaid of [false, true]) {
    const { world, fake } = await openAlipay()
    fake.tradeBegins = 'when the buyer signs in'
    const start = startMessage(world)
    const { transactionId } = start
    const { page } = await ask(world, start)
    assert(page)
    assert.equal((await ask(world, { type: 'payment.cancel', transactionId })).status, 'cancelled')
    fake.webhookUrl = undefined
    fake.tradeBegins = 'when the page opens'
    await fake.open?.(page)
    if (isPaid) await fake.consumer(transactionId, 'pays')
    world.clock.nowMs += 61_000
    await world.rail.work()
    assert.equal(fake.payments()[0]?.status, isPaid ? 'paid' : 'cancelled')
    assert.equal(world.gateway.notifications.length, isPaid ? 1 : 0)
    assert.equal((await statusOf(world, start)).status, isPaid ? 'approved' : 'cancelled')
    await world.close()
  }
})

test('alipay: a response that Alipay did not sign counts as no response', async () => {
  const { world, fake } = await openAlipay()
  const start = startMessage(world)
  await ask(world, start)
  const other = new AlipayProvider({
    appId: alipayAppId,
    privateKey: appKeys.privateKey,
    alipayPublicKey: appKeys.publicKey,
    notifyUrl: 'https://rail.example.com/webhooks',
    gatewayUrl: `${fake.url}/gateway.do`,
    now: () => world.clock.nowMs,
  })
  assert.notEqual(appKeys.publicKey, alipayKeys.publicKey)
  const stored = { transactionId: start.transactionId, providerId: start.transactionId, start }
  const payment = { ...stored, amountMinor: 1250n, currency: 'CNY', startedAtMs: world.clock.nowMs }
  const rest = {
    status: 'pending',
    nextAction: undefined,
    reference: undefined,
    reason: undefined,
    notice: {},
  } as const
  await assert.rejects(other.readPayment({ ...payment, ...rest }), /signature of Alipay’s answer is wrong/)
  await world.close()
})

test('alipay: a notification is answered with the text that Alipay requires', async () => {
  const { world, fake } = await openAlipay()
  const start = startMessage(world)
  await ask(world, start)
  const url = fake.webhookUrl ?? ''
  const seen = Promise.withResolvers<{ body: string; answer: string }>()
  const { createServer } = await import('node:http')
  const between = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const answered = await fetch(url, { method: 'POST', headers, body })
    const answer = await answered.text()
    response.writeHead(answered.status).end(answer)
    seen.resolve({ body, answer })
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  const address = between.address()
  assert(typeof address === 'object' && address !== null)
  fake.webhookUrl = `http://127.0.0.1:${address.port}`
  await fake.sendWebhook(start.transactionId)
  assert.equal((await seen.promise).answer, 'success')
  between.close()
  await world.close()
})
