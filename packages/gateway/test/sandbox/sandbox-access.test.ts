import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { Tillgate } from '../../../sdk/src/index.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { makeCallbackHistory } from '../../src/core/callbacks/store/callback-history.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { receivePlain } from '../support/outbound-network.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

async function ask(
  { url }: Pick<TestGateway, 'url'>,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{ status: number; page: string; headers: Headers }> {
  const response = await fetch(`${url}/sandbox`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields),
  })
  return { status: response.status, page: await response.text(), headers: response.headers }
}

function envOf(page: string): Record<string, string | undefined> {
  const [, text = ''] = /<pre id="env"[^>]*>([^<]*)<\/pre>/.exec(page) ?? []
  return parseEnv(text)
}

const order = {
  order: {
    orderNo: 'A-1',
    orderAmount: 5,
    goods: [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }],
  },
  paymentAmount: 5,
  currency: 'EUR',
}

test('a name and a public key get a merchant whose ready .env takes payments', async () => {
  const gateway = await startTestGateway()
  const { status, page, headers } = await ask(gateway, { name: '  Tea <House> & Söhne ', publicKey })
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(page, /<h1>Tea &lt;House&gt; &amp; Söhne can take test payments<\/h1>/)
  const { TILLGATE_PRIVATE_KEY_FILE, ...env } = envOf(page)
  assert.equal(TILLGATE_PRIVATE_KEY_FILE, 'private.pem')
  const tillgate = Tillgate.fromEnvironment({ ...env, TILLGATE_PRIVATE_KEY: privateKey })
  assert.equal((await tillgate.orders.create(order)).status, 'pending')
  const { rows } = await gateway.pool.query("select reason from audit where actor = 'sandbox access'")
  assert.equal(rows.length, 1)
})

test('what is wrong with the form is said beside the field, and what was typed stays', async () => {
  const gateway = await startTestGateway()
  for (const [fields, words] of [
    [{ name: ' ', publicKey }, /id="name-problem">Give your shop a name/],
    [{ name: 'x'.repeat(65), publicKey }, /id="name-problem">A name has at most 64 characters/],
    [{ name: 'Tea\u202eHouse', publicKey }, /id="name-problem">A name has at most 64/],
    [{ name: 'Tea', publicKey: '' }, /id="publicKey-problem">A public RSA key is PEM/],
    [{ name: 'Tea', publicKey: privateKey }, /id="publicKey-problem">This is a private key/],
  ] as const) {
    const { status, page } = await ask(gateway, fields)
    assert.equal(status, 400)
    assert.match(page, words)
  }
  const { page } = await ask(gateway, { name: '"><script>', publicKey: '' })
  assert.match(page, /value="&quot;&gt;&lt;script&gt;"/)
  const { rows } = await gateway.pool.query('select from merchants')
  assert.equal(rows.length, 1, 'the demo merchant alone')
})

test('a form on another site gets nothing', async () => {
  const gateway = await startTestGateway()
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]) {
    assert.equal((await ask(gateway, { name: 'Tea', publicKey }, headers)).status, 403)
  }
  // A browser that does not name the site names the origin.
  const response = await fetch(`${gateway.url}/sandbox`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ name: 'Tea', publicKey }),
  })
  assert.equal(response.status, 403)
})

test('one address gets five at once and the next one in twelve minutes', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock })
  for (let times = 0; times < 5; times++)
    assert.equal((await ask(gateway, { name: `Tea ${times}`, publicKey })).status, 200)
  const refused = await ask(gateway, { name: 'Tea', publicKey })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '720')
  assert.match(refused.page, /Try again in 12 minutes/)
  clock.advance(12 * 60_000)
  assert.equal((await ask(gateway, { name: 'Tea', publicKey })).status, 200)
})

test('many at once from one address get no more than one after the other', async () => {
  const gateway = await startTestGateway({ clock: new TestClock() })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => ask(gateway, { name: `Tea ${index}`, publicKey })),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 5)
  assert.equal(answers.filter(({ status }) => status === 429).length, 7)
})

test('so many a day in all, also when they come at once, and again the day after', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { SANDBOX_MERCHANTS_PER_DAY: '2' } })
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask(gateway, { name: 'Tea', publicKey })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 429, 429])
  clock.advance(24 * 60 * 60_000 + 1)
  assert.equal((await ask(gateway, { name: 'Tea', publicKey })).status, 200)
})

test('a form that is too large is not read', async () => {
  const gateway = await startTestGateway()
  const { status } = await ask(gateway, { name: 'Tea', publicKey: 'x'.repeat(17 * 1024) })
  assert.equal(status, 413)
})

test('in live, and where it is turned off, there is no such page and no link to it', async () => {
  for (const environment of [
    { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' },
    { SANDBOX_MERCHANTS_PER_DAY: '0' },
  ]) {
    const gateway = await startTestGateway({ environment })
    assert.equal((await fetch(`${gateway.url}/sandbox`)).status, 404)
    assert.equal((await ask(gateway, { name: 'Tea', publicKey })).status, 404)
    assert.doesNotMatch(await (await fetch(gateway.url)).text(), /"\/sandbox"/)
  }
})

async function signOn(gateway: TestGateway): Promise<Tillgate> {
  const { page } = await ask(gateway, { name: 'Stranger', publicKey })
  const { TILLGATE_PRIVATE_KEY_FILE: _, ...env } = envOf(page)
  return Tillgate.fromEnvironment({ ...env, TILLGATE_PRIVATE_KEY: privateKey })
}

/** Pays an order that is changed to have this callbackUrl after it was accepted. */
async function payWithCallbackTo(callbackUrl: string, gateway: TestGateway, merchant: Tillgate) {
  const { paymentId } = await merchant.orders.create({
    ...order,
    order: { ...order.order, orderNo: `to-${Math.random()}` },
    callbackUrl: 'https://shop.example/callbacks',
  })
  await gateway.pool.query({
    text: 'update orders set callback_url = $2 where payment_id = $1',
    values: [paymentId, callbackUrl],
  })
  await merchant.sandbox.pay({ paymentId, outcome: 'success' })
  const history = makeCallbackHistory(gateway.pool)
  for (;;) {
    const { rows } = await gateway.pool.query<{ callback_id: string }>({
      text: 'select callback_id from callbacks where payment_id = $1 limit 1',
      values: [paymentId],
    })
    const callback = rows[0] && (await history.findCallback(rows[0].callback_id))
    const [attempt] = callback ? await history.listAttempts(callback) : []
    if (attempt) return attempt
    await pause(20)
  }
}

test('who signed on here has callbacks sent to public addresses alone, whatever the order says', async (t) => {
  const gateway = await startTestGateway()
  const stranger = await signOn(gateway)
  const receiver = await receivePlain(t)
  const { port } = new URL(receiver.url)
  for (const callbackUrl of [
    receiver.url,
    `http://localhost:${port}/`,
    `http://2130706433:${port}/`,
    `http://[::ffff:7f00:1]:${port}/`,
    'http://10.0.0.1/',
    'http://192.168.1.1:8080/',
    'http://169.254.169.254/latest/meta-data',
    gateway.adminUrl,
  ]) {
    await assert.rejects(stranger.orders.create({ ...order, callbackUrl }), {
      code: 40005,
      message: /callbackUrl is not allowed: .* run till listen\./,
    })
  }
  // Where the consumer's browser goes is the consumer's affair.
  const local = { callbackUrl: 'http://shop.example:8443/', redirectUrl: 'http://localhost:3000/thanks' }
  assert.equal((await stranger.orders.create({ ...order, ...local })).status, 'pending')

  const refused = await payWithCallbackTo(receiver.url, gateway, stranger)
  assert.equal(refused.outcome, 'address_not_public')
  assert.equal(receiver.sockets.length, 0)

  const demo = Tillgate.fromFile(sandboxFilePath(gateway.config.dataDir))
  const delivered = await payWithCallbackTo(receiver.url, gateway, demo)
  assert.equal(delivered.httpStatus, 200)
})

test('nobody has callbacks sent to the gateway’s own ports', async () => {
  const gateway = await startTestGateway()
  const merchant = await gateway.addMerchant()
  for (const own of [gateway.url, gateway.adminUrl]) {
    for (const host of ['127.0.0.1', 'localhost', '127.1', '[::1]']) {
      const callbackUrl = own.replace('127.0.0.1', host)
      const body = { ...createBody({ now: Date.now() }), callbackUrl }
      const { code, msg } = await merchant.call('service.trade.create', body)
      assert.deepEqual([code, /the gateway itself listens there/.test(msg)], [40005, true], callbackUrl)
    }
  }
  const demo = Tillgate.fromFile(sandboxFilePath(gateway.config.dataDir))
  const refused = await payWithCallbackTo(`${gateway.adminUrl}/metrics`, gateway, demo)
  assert.equal(refused.outcome, 'address_not_public')
})

test('who signed on here takes callbacks by listening', async () => {
  // Without a worker nothing is sent, and the order's first callback is there all the same.
  const gateway = await startTestGateway({ environment: { ROLES: 'api' } })
  const stranger = await signOn(gateway)
  const { paymentId } = await stranger.orders.create({
    ...order,
    callbackUrl: 'https://shop.example/callbacks',
  })
  const { after } = await stranger.sandbox.listen({ waitMs: 0 })
  await stranger.sandbox.pay({ paymentId, outcome: 'success' })
  const { callbacks } = await stranger.sandbox.listen({ after, waitMs: 5_000 })
  assert.equal(callbacks.length, 1)
})
