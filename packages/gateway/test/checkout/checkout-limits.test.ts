// What bounds the checkout: requests by link, sign-ins by link, streams, and the modes.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { streamLimits } from '../../src/adapters/checkout/limits.ts'
import { assets } from '../../src/adapters/kit/assets.ts'
import { type OpenOrder, openCheckoutShop, Visitor } from '../support/checkout.ts'

const shop = await openCheckoutShop()

test('a link that is asked for too often answers later, with a page that says when', async () => {
  const order = await shop.order()
  const visitor = new Visitor(order)
  const answers = await Promise.all(Array.from({ length: 110 }, () => visitor.get('/status')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.equal(refused.length, 10)
  assert.equal(refused[0]?.headers.get('retry-after'), '1')
  const page = (await refused[0]?.text()) ?? ''
  assert.match(page, /Too many requests.*in 1 second/s)
  assert.match(page, /<noscript><meta http-equiv="refresh" content="1">/, 'nobody is left with it')
  assert.equal((await new Visitor(await shop.order()).get()).status, 200)
  shop.clock.advance(1_000)
  assert.equal((await visitor.get()).status, 200)
})

test('an address that asks too often is turned away before the database is asked', async () => {
  shop.clock.advance(60_000)
  const junk = `${shop.gateway.url}/checkout/1/2/3`
  const answers = await Promise.all(Array.from({ length: 520 }, () => fetch(junk)))
  assert.equal(answers.filter(({ status }) => status === 429).length, 20)
  shop.clock.advance(60_000)
})

test('signing in is limited for each link, whatever the login', async () => {
  const visitor = new Visitor(await shop.order())
  await visitor.look()
  for (let tries = 0; tries < 10; tries++) {
    await visitor.post('sign-in', { login: `guess-${tries}@wallet.example`, pin: '123456' })
    assert.match(await visitor.look(), /Incorrect login or PIN/)
  }
  await visitor.post('sign-in', { login: 'guess@wallet.example', pin: '123456' })
  assert.match(await visitor.look(), /Too many attempts/)
})

async function openStream(order: OpenOrder) {
  const abort = new AbortController()
  const response = await fetch(`${order.url}/events`, { signal: abort.signal })
  return { response, close: () => abort.abort() }
}

/** The statuses as they come; ends with the stream. */
async function* statusesOf(response: Response): AsyncGenerator<string> {
  let text = ''
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString()
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      if (line.startsWith('data: ')) yield JSON.parse(line.slice(6)).status
    }
  }
}

test('a stream tells each status and ends with the last', async () => {
  const order = await shop.order()
  const { response } = await openStream(order)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const statuses = statusesOf(response)
  assert.equal((await statuses.next()).value, 'pending')
  await shop.cancel(order)
  assert.equal((await statuses.next()).value, 'cancelled')
  assert.equal((await statuses.next()).done, true)
})

test('asking for the head of a stream opens none', async () => {
  const response = await fetch(`${(await shop.order()).url}/events`, { method: 'HEAD' })
  assert.equal(response.status, 404)
})

test('a stream learns what another process did', async () => {
  const order = await shop.order()
  const { response, close } = await openStream(order)
  const statuses = statusesOf(response)
  await statuses.next()
  await shop.gateway.pool.query(
    "update orders set status = 'cancelled', completed_at = $2 where payment_id = $1",
    [order.paymentId, shop.clock.now()],
  )
  shop.clock.advance(3_000)
  assert.equal((await statuses.next()).value, 'cancelled')
  close()
})

test('a link has so many streams and no more, and a closed one makes room', async () => {
  const order = await shop.order()
  const streams = await Promise.all(Array.from({ length: streamLimits.perLink }, () => openStream(order)))
  assert.deepEqual(new Set(streams.map(({ response }) => response.status)), new Set([200]))
  assert.equal((await openStream(order)).response.status, 429)
  assert.equal((await openStream(await shop.order())).response.status, 200)
  streams[0]?.close()
  let status = 429
  for (let tries = 0; status !== 200 && tries < 50; tries++) {
    const again = await openStream(order)
    status = again.response.status
    again.close()
  }
  assert.equal(status, 200)
  for (const { close } of streams) close()
})

test('whoever leaves before the stream opens takes no place for ever', async () => {
  const order = await shop.order()
  const { port, pathname } = new URL(`${order.url}/events`)
  for (let round = 0; round < 4; round++) {
    await Promise.all(
      Array.from(
        { length: streamLimits.perLink + 2 },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), '127.0.0.1', () => {
              socket.write(`GET ${pathname} HTTP/1.1\r\nhost: localhost\r\n\r\n`, () => socket.destroy())
            })
            socket.on('close', () => resolve())
            socket.on('error', () => {})
          }),
      ),
    )
  }
  let status = 429
  for (let tries = 0; status !== 200 && tries < 200; tries++) {
    const again = await openStream(order)
    status = again.response.status
    again.close()
  }
  assert.equal(status, 200)
})

test('a gateway stops although somebody watches', async () => {
  const other = await openCheckoutShop()
  const order = await other.order()
  const { response } = await openStream(order)
  const statuses = statusesOf(response)
  await statuses.next()
  await other.gateway.stop()
  assert.equal((await statuses.next()).done, true)
})

test('in live, cookies are bound to this host over https, and there are no test wallets', async () => {
  const live = await openCheckoutShop({
    environment: {
      MODE: 'live',
      PUBLIC_URL: 'https://pay.example.com',
      TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  const order = await live.order((body) => {
    delete body.callbackUrl
    body.redirectUrl = 'https://shop.example/thanks'
  })
  const consumer = await live.addWallet()
  const visitor = new Visitor(order)
  const response = await visitor.get()
  assert.match(
    response.headers.getSetCookie()[0] ?? '',
    /^__Host-checkout=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure$/,
  )
  const page = await visitor.look()
  assert.doesNotMatch(page, /test-wallet|Sandbox/i)
  assert.equal((await visitor.post('pay-with-test-wallet', { wallet: 'approves' })).status, 404)
  const ours = { origin: 'https://pay.example.com' }
  await visitor.post('sign-in', consumer, { origin: live.gateway.url })
  assert.match(await visitor.look(), /This page was open too long/)
  const signIn = await visitor.post('sign-in', consumer, ours)
  assert.match(
    signIn.headers.getSetCookie()[0] ?? '',
    /^__Host-checkout-P\w+=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900; Secure$/,
  )
  assert.match(await visitor.look(), /Signed in as/)
  await visitor.post('pay', {}, ours)
  await live.waitFor(order, 'success')
  const back = await visitor.get('/return')
  assert.match(back.headers.get('location') ?? '', /^https:\/\/shop\.example\/thanks\?merchantId=/)
})

test('script and style stay within their budget', async () => {
  const bytes = (...parts: { content: Buffer }[]) =>
    parts.reduce((sum, { content }) => sum + gzipSync(content).length, 0)
  assert(bytes(assets.checkoutScript) <= 15 * 1024)
  assert(bytes(assets.style, assets.checkoutStyle) <= 6 * 1024)
  const url = shop.gateway.url + assets.checkoutScript.path
  const packed = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.equal(await packed.text(), assets.checkoutScript.content.toString())
  const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(await plain.text(), assets.checkoutScript.content.toString())
})
