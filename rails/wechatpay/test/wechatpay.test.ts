import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testRail } from '../../kit/test/battery.ts'
import {
  ask,
  openWorld,
  railDatabaseUrl,
  refundMessage,
  startMessage,
  statusOf,
} from '../../kit/test/world.ts'
import { answerText, decryptedResource, requestText } from '../src/wechatpay-api.ts'
import { account, type FakeWechatpay, openFakeWechatpay, railUrl } from './fake-wechatpay.ts'
import { wechatpayRail } from './wechatpay.ts'

await testRail(wechatpayRail)

const databaseUrl = await railDatabaseUrl()
const hour = 3_600_000

async function openWechatpay(channel: 'WEB' | 'APP' = 'WEB') {
  const fakes: FakeWechatpay[] = []
  const openFake: typeof openFakeWechatpay = async (clock) => {
    const fake = await openFakeWechatpay(clock)
    fakes.push(fake)
    return fake
  }
  const world = await openWorld({ ...wechatpayRail, openFake }, databaseUrl)
  const [fake] = fakes
  assert(fake)
  const start = startMessage(world, { channel, expiresAt: world.clock.nowMs + 24 * hour })
  const { transactionId } = start
  const status = async () => (await statusOf(world, start)).status
  const cancel = async () => (await ask(world, { type: 'payment.cancel', transactionId })).status
  const pagePath = `${world.rail.url}/pay/${transactionId}`
  return { world, fake, start, transactionId, status, cancel, pagePath }
}

test('wechatpay: a desktop gets a QR code with a caption in its language', async () => {
  const { world, fake, start } = await openWechatpay()
  for (const [locale, caption] of [
    ['de', 'Mit WeChat scannen'],
    ['zh-Hans', '请使用微信扫一扫'],
    ['fi', 'Scan with WeChat'],
  ] as const) {
    const provider = wechatpayRail.makeProvider(fake, () => world.clock.nowMs)
    const { transactionId } = startMessage(world)
    const said = await provider.startPayment({
      transactionId,
      idempotencyKey: transactionId,
      start: { ...start, locale },
      amountMinor: 1250n,
      currency: 'CNY',
      startedAtMs: world.clock.nowMs,
      status: 'starting',
      providerId: undefined,
      nextAction: undefined,
      reference: undefined,
      reason: undefined,
      notice: {},
    })
    assert(said.status === 'pending' && said.nextAction.kind === 'qr')
    assert.match(said.nextAction.text, /^weixin:\/\//)
    assert.equal(said.nextAction.caption, caption)
  }
  await world.close()
})

test('wechatpay: a phone opens the rail’s page, which creates the order with the phone’s address and leads to WeChat Pay', async () => {
  const { world, fake, start, transactionId, status } = await openWechatpay('APP')
  const first = await ask(world, {
    ...start,
    channel: 'WEB',
    transactionId: startMessage(world).transactionId,
  })
  assert.match(first.page ?? '', /^weixin:/)
  fake.calls.length = 0
  const { page } = await ask(world, start)
  assert.equal(page, `${railUrl}/pay/${transactionId}`)
  assert.deepEqual(fake.consumerIps, ['203.0.113.5'])
  assert.deepEqual(fake.calls, ['POST /v3/pay/transactions/h5'])
  // Opens the page again, like a consumer who returns.
  await fake.open?.(page)
  assert.equal(fake.payments().length, 2)
  await fake.consumer(transactionId, 'pays')
  assert.equal(await status(), 'approved')
  await world.close()
})

test('wechatpay: the page of an ended payment leads back to the checkout, and other pages do not exist', async () => {
  const { world, fake, start, cancel, pagePath } = await openWechatpay('APP')
  assert.equal((await fetch(pagePath)).status, 404)
  fake.webhookUrl = undefined
  await ask(world, start)
  assert.equal(await cancel(), 'cancelled')
  const opened = await fetch(pagePath)
  assert.equal(opened.headers.get('cache-control'), 'no-store')
  assert.match(await opened.text(), new RegExp(`href="${start.returnUrl}"`))
  assert.deepEqual(fake.payments(), [])
  await world.close()
})

test('wechatpay: if WeChat Pay returns no page, the consumer returns to the checkout', async () => {
  const { world, fake, start, pagePath, status } = await openWechatpay('APP')
  const { webhookUrl } = fake
  fake.webhookUrl = undefined
  await ask(world, start)
  fake.intercept = () => 'down'
  assert.match(await (await fetch(pagePath)).text(), new RegExp(`href="${start.returnUrl}"`))
  fake.intercept = () => 'go on'
  fake.webhookUrl = webhookUrl
  assert.equal(await status(), 'pending')
  await world.close()
})

test('wechatpay: an order that starts after the cancellation is closed, and a paid one is reported', async () => {
  for (const isPaid of [false, true]) {
    const { world, fake, start, transactionId, cancel, status } = await openWechatpay('APP')
    const { webhookUrl } = fake
    fake.webhookUrl = undefined
    const { page } = await ask(world, start)
    assert(page)
    const stored = {
      transactionId,
      start,
      amountMinor: 1250n,
      currency: 'CNY',
      startedAtMs: world.clock.nowMs,
      status: 'pending',
      providerId: transactionId,
      nextAction: undefined,
      reference: undefined,
      reason: undefined,
      notice: {},
    } as const
    assert.equal(await cancel(), 'cancelled')
    // Like another process that had started before.
    const provider = wechatpayRail.makeProvider(fake, () => world.clock.nowMs)
    const h5Url = await provider.openPage?.(stored, '203.0.113.5')
    assert.match(h5Url ?? '', /redirect_url=https%3A%2F%2Fgateway\.example/)
    if (isPaid) await fake.consumer(transactionId, 'pays')
    fake.webhookUrl = webhookUrl
    world.clock.nowMs += 61_000
    await world.rail.work()
    assert.equal(fake.payments()[0]?.status, isPaid ? 'paid' : 'cancelled')
    assert.equal(world.gateway.notifications.length, isPaid ? 1 : 0)
    assert.equal(await status(), isPaid ? 'approved' : 'cancelled')
    await world.close()
  }
})

test('wechatpay: a code is valid for two hours, and then its order is closed', async () => {
  const { world, fake, start, status } = await openWechatpay()
  await ask(world, start)
  world.clock.nowMs += 2 * hour + 4 * 60_000
  assert.equal(await status(), 'pending')
  world.clock.nowMs += 2 * 60_000
  assert.equal(await status(), 'cancelled')
  assert.equal(fake.payments()[0]?.status, 'cancelled')
  await world.close()
})

test('wechatpay: a payment or refund whose response was lost keeps its result', async () => {
  const { world, fake, start, transactionId, status } = await openWechatpay()
  fake.webhookUrl = undefined
  fake.intercept = (_call, phase) => (phase === 'after' ? 'drop' : 'go on')
  assert.equal((await ask(world, start)).httpStatus, 503)
  await fake.consumer(transactionId, 'pays')
  fake.intercept = () => 'go on'
  world.clock.nowMs += 25 * hour
  assert.equal(await status(), 'approved')
  const refund = refundMessage(start, 300n)
  const { refundId } = refund
  fake.intercept = (_call, phase) => (phase === 'after' ? 'drop' : 'go on')
  assert.equal((await ask(world, refund)).httpStatus, 503)
  fake.intercept = () => 'go on'
  world.clock.nowMs += 25 * hour
  assert.equal((await ask(world, { type: 'refund.status', refundId })).status, 'approved')
  assert.equal(fake.payments()[0]?.refunds.length, 1)
  await world.close()
})

test('wechatpay: a response that WeChat Pay did not sign recently counts as no response', async () => {
  const { world, fake, start, status } = await openWechatpay()
  await ask(world, start)
  for (const kind of ['unsigned', 'signed by a stranger', 'old', 'changed'] as const) {
    fake.answersAre = kind
    assert.equal((await statusOf(world, start)).httpStatus, 503, kind)
  }
  fake.answersAre = 'right'
  assert.equal(await status(), 'pending')
  await world.close()
})

test('wechatpay: the signed texts match the documentation', () => {
  const nonce = '593BEC0C930BF1AFEB40B4A08C8FB242'
  assert.equal(
    requestText({ method: 'GET', path: '/v3/certificates', body: '' }, '1554208460', nonce),
    'GET\n/v3/certificates\n1554208460\n593BEC0C930BF1AFEB40B4A08C8FB242\n\n',
  )
  assert.equal(answerText('1554209980', 'c5ac7061', ''), '1554209980\nc5ac7061\n\n')
})

test('wechatpay: a notification that was changed, or encrypted with another key, has no content', async () => {
  const bodies: string[] = []
  const { createServer } = await import('node:http')
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  assert(typeof address === 'object' && address !== null)
  const { world, fake, start, transactionId } = await openWechatpay()
  await ask(world, start)
  fake.webhookUrl = `http://127.0.0.1:${address.port}`
  await fake.sendWebhook(transactionId)
  const [body = ''] = bodies
  assert.equal(decryptedResource(body, account.apiV3Key)?.['out_trade_no'], transactionId)
  assert.equal(decryptedResource(body, account.apiV3Key.replace('f', 'g')), undefined)
  const { resource } = JSON.parse(body) as { resource: Record<string, string> }
  for (const change of [
    { associated_data: 'refund' },
    { nonce: '000000000000' },
    { algorithm: 'AEAD_AES_128_GCM' },
    { ciphertext: (resource['ciphertext'] ?? '').replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) },
    { ciphertext: 'AAAA' },
  ]) {
    const changedBody = JSON.stringify({ resource: { ...resource, ...change } })
    assert.equal(decryptedResource(changedBody, account.apiV3Key), undefined, JSON.stringify(change))
  }
  receiver.close()
  await world.close()
})
