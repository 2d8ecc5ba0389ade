// Alipay's own SDK and this rail agree on every signature, in both directions.
import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { privateKeyOf, publicKeyOf } from '@tillgate/rail-kit/rsa'
import { callAlipay, pageUrl, readAnswer } from '../src/alipay-api.ts'
import { alipayRail } from './alipay.ts'
import { alipayAppId, alipayKeys, appKeys, openFakeAlipay } from './fake-alipay.ts'

/** The parts of `alipay-sdk` that the tests use. */
interface Sdk {
  checkNotifySignV2(form: object): boolean
  pageExecute(method: string, httpMethod: 'GET', parameters: object): string
  exec(method: string, parameters: object, options: object): Promise<Readonly<Record<string, string>>>
}
type Config = Readonly<Record<string, unknown>>

const packageName: string = 'alipay-sdk'
const { AlipaySdk } = (await import(packageName)) as { AlipaySdk: new (config: Config) => Sdk }

const clock = { nowMs: Date.now() }
const fake = await openFakeAlipay(clock)
const common = {
  appId: alipayAppId,
  privateKey: appKeys.privateKey,
  keyType: 'PKCS8',
  gateway: `${fake.url}/gateway.do`,
}
const sdk = new AlipaySdk({ ...common, alipayPublicKey: alipayKeys.publicKey, camelcase: false })
const [privateKey, alipayPublicKey] = [privateKeyOf(appKeys.privateKey), publicKeyOf(alipayKeys.publicKey)]
assert(privateKey && alipayPublicKey)
const access = { appId: alipayAppId, privateKey, alipayPublicKey, gatewayUrl: `${fake.url}/gateway.do` }
const content = {
  out_trade_no: 'T1',
  total_amount: '12.50',
  subject: 'Leaf Cup: 茶 100%+1',
  product_code: 'FAST_INSTANT_TRADE_PAY',
  time_expire: '2099-01-01 00:00:00',
}
const parameters = {
  notify_url: 'https://rail.example.com/webhooks',
  return_url: 'https://gateway.example/pay/1/rail?a=b',
}

test('the SDK accepts the signature of the rail’s page', () => {
  const url = new URL(pageUrl(access, { method: 'alipay.trade.page.pay', content, parameters, atMs: 0 }))
  const asAlipay = new AlipaySdk({ ...common, alipayPublicKey: appKeys.publicKey })
  const form = Object.fromEntries(url.searchParams)
  assert.equal(asAlipay.checkNotifySignV2(form), true)
  assert.equal(asAlipay.checkNotifySignV2({ ...form, timestamp: '1970-01-01 08:00:01' }), false)
})

test('the fake accepts a page of the SDK, the SDK accepts a response of the fake, and both read the same', async () => {
  const page = sdk.pageExecute('alipay.trade.page.pay', 'GET', { bizContent: content, ...parameters })
  await fake.open?.(page)
  const bizContent = { out_trade_no: 'T1' }
  const read = await sdk.exec('alipay.trade.query', { bizContent }, { validateSign: true })
  const request = { method: 'alipay.trade.query', content: bizContent, atMs: clock.nowMs }
  const ours = await callAlipay<Readonly<Record<string, string>>>(access, request)
  assert.equal(ours['trade_status'], 'WAIT_BUYER_PAY')
  assert.deepEqual({ ...read, traceId: undefined }, { ...ours, traceId: undefined })
})

test('a changed response is rejected by both', async () => {
  const { createServer } = await import('node:http')
  const between = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const url = new URL(request.url ?? '', fake.url)
    const answered = await fetch(url, { method: 'POST', headers, body })
    response.end((await answered.text()).replace('WAIT_BUYER_PAY', 'TRADE_SUCCESS'))
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  const address = between.address()
  assert(typeof address === 'object' && address !== null)
  const gateway = `http://127.0.0.1:${address.port}/gateway.do`
  const bizContent = { out_trade_no: 'T1' }
  const deceived = new AlipaySdk({ ...common, alipayPublicKey: alipayKeys.publicKey, gateway })
  await assert.rejects(deceived.exec('alipay.trade.query', { bizContent }, { validateSign: true }))
  const request = { method: 'alipay.trade.query', content: bizContent, atMs: clock.nowMs }
  await assert.rejects(callAlipay({ ...access, gatewayUrl: gateway }, request), /signature/)
  between.close()
})

test('the SDK and the rail accept the fake’s notification, and reject a changed one', async () => {
  const bodies: string[] = []
  const { createServer } = await import('node:http')
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.end('success')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  assert(typeof address === 'object' && address !== null)
  fake.webhookUrl = `http://127.0.0.1:${address.port}`
  await fake.sendWebhook('T1')
  receiver.close()
  const provider = alipayRail.makeProvider(fake, Date.now)
  const [body = ''] = bodies
  for (const [text, isGenuine] of [
    [body, true],
    [body.replace('12.50', '12.51'), false],
  ] as const) {
    assert.equal(sdk.checkNotifySignV2(Object.fromEntries(new URLSearchParams(text))), isGenuine)
    const request = { headers: {}, query: new URLSearchParams(), body: text, nowMs: 0 }
    assert.equal((await provider.readWebhook(request)).kind, isGenuine ? 'changed' : 'forged')
  }
})

test('a response without a signature, or for another method, counts as no response', async () => {
  const key = createPublicKey(alipayKeys.publicKey)
  for (const text of [
    '{"alipay_trade_query_response":{"code":"10000"}}',
    '{"error_response":{"code":"40002"},"sign":"eA=="}',
    'null',
  ])
    assert.throws(() => readAnswer(text, 'alipay.trade.query', key), { name: 'ProviderUnavailable' })
  await fake.close()
})
