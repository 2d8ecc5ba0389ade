import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { openShop } from '../../../../examples/shop/shop.ts'
import { Tillgate } from '../../../sdk/src/index.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { until } from '../support/callbacks.ts'
import { sandboxEnvironment, startTestGateway } from '../support/gateway.ts'
import { lineWith, startProcess } from '../support/process.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

async function isOpen(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

test('the shop ends with the gateway, whether that is stopped or killed', async () => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const gateway = await startProcess({
      ...(await sandboxEnvironment()),
      SHOP_PORT: String(await freePort()),
    })
    const { shopUrl } = JSON.parse(await lineWith(gateway, 'the demo shop is open'))
    assert(await isOpen(shopUrl))
    gateway.child.kill(signal)
    const { code } = await gateway.exited()
    if (signal === 'SIGTERM') assert.equal(code, 0)
    await until(async () => !(await isOpen(shopUrl)))
    assert.doesNotMatch(gateway.output(), /the demo shop has ended/)
  }
})

test('a port that is taken costs the shop alone, and is said with what to set', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const gateway = await startProcess({ ...(await sandboxEnvironment()), SHOP_PORT: String(port) })
  const line = JSON.parse(await lineWith(gateway, 'the demo shop did not open'))
  assert.equal(line.level, 'warn')
  assert.match(line.reason, new RegExp(`port ${port} is taken by another program`))
  assert.match(line.msg, /SHOP_PORT/)
  assert.equal((await fetch(`${gateway.publicUrl}/readyz`)).status, 200)
  gateway.child.kill('SIGTERM')
  assert.equal((await gateway.exited()).code, 0)
})

test('SHOP_PORT=off opens no shop and says nothing of it', async () => {
  const gateway = await startProcess({ ...(await sandboxEnvironment()), SHOP_PORT: '0' })
  gateway.child.kill('SIGTERM')
  assert.equal((await gateway.exited()).code, 0)
  assert.doesNotMatch(gateway.output(), /shop/)
})

/** The shop in this process, with a callback address that nobody answers at. */
async function openTestShop({ isReachable = false } = {}) {
  const gateway = await startTestGateway()
  const tillgate = Tillgate.fromFile(sandboxFilePath(gateway.config.dataDir))
  const url = `http://127.0.0.1:${await freePort()}`
  const callbackUrl = `${isReachable ? url : 'http://127.0.0.1:9'}/callbacks`
  const server = openShop({ tillgate, url, callbackUrl })
  server.listen(Number(new URL(url).port), '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const post = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', headers, redirect: 'manual' })
  return {
    url,
    tillgate,
    post,
    async buy() {
      const { status, headers } = await post('/buy', { cookie: 'cart=sencha.2~cup.1' })
      assert.equal(status, 303)
      const checkoutUrl = headers.get('location') ?? ''
      const [, paymentId = ''] = /\/(P[0-9A-Z]{26})\//.exec(checkoutUrl) ?? []
      const { orderNo } = await tillgate.orders.query(paymentId)
      return { paymentId, orderNo, checkoutUrl }
    },
    page: async (path: string) => (await fetch(url + path)).text(),
  }
}

test('the way back from another payment of the same merchant is not shown', async () => {
  const shop = await openTestShop()
  const paid = await shop.buy()
  const unpaid = await shop.buy()
  await shop.tillgate.sandbox.pay({ paymentId: paid.paymentId, outcome: 'success' })
  await shop.tillgate.orders.waitUntilFinal(paid.paymentId)
  const { checkoutUrl } = paid
  const response = await fetch(`${checkoutUrl}/return`, { redirect: 'manual' })
  const { search } = new URL(response.headers.get('location') ?? '')
  assert.match(await shop.page(`/orders/${paid.orderNo}${search}`), /You returned/)
  assert.doesNotMatch(await shop.page(`/orders/${unpaid.orderNo}${search}`), /You returned/)
})

test('the cart is kept until the order is paid, and after a decline the consumer tries again', async () => {
  const shop = await openTestShop({ isReachable: true })
  const cookie = 'cart=sencha.2~cup.1'
  const declined = await shop.post('/buy', { cookie })
  assert.equal(declined.headers.get('set-cookie'), null)
  const orderPage = async (checkoutUrl: string, outcome: 'success' | 'failed') => {
    const [, paymentId = ''] = /\/(P[0-9A-Z]{26})\//.exec(checkoutUrl) ?? []
    const { orderNo } = await shop.tillgate.orders.query(paymentId)
    await shop.tillgate.sandbox.pay({ paymentId, outcome })
    const path = `${shop.url}/orders/${orderNo}`
    let page = await fetch(path)
    await until(async () => {
      const text = await page.clone().text()
      if (/You have not been charged|is paid/.test(text)) return true
      page = await fetch(path)
      return false
    })
    return { path, text: await page.text(), cookie: page.headers.get('set-cookie') }
  }
  const failed = await orderPage(declined.headers.get('location') ?? '', 'failed')
  assert.equal(failed.cookie, null)
  assert.match(failed.text, /action="\/buy"><button class="primary">Try again/)
  const again = await shop.post('/buy', { cookie })
  const paid = await orderPage(again.headers.get('location') ?? '', 'success')
  assert.match(paid.cookie ?? '', /^cart=;/)
  assert.doesNotMatch(paid.text, /Try again/)
  // What is put into the cart afterwards stays in it.
  assert.equal((await fetch(paid.path)).headers.get('set-cookie'), null)
})

test('the shop and its checkout bear one name', async () => {
  const shop = await openTestShop()
  const { checkoutUrl } = await shop.buy()
  assert.match(await shop.page('/'), /class="name" href="\/">(<svg.*<\/svg>)?Leaf &(amp|#38); Cup</)
  assert.match(await (await fetch(checkoutUrl)).text(), /Leaf &(amp|#38); Cup/)
})

test('what the way back claims is not believed', async () => {
  const shop = await openTestShop()
  const { paymentId, orderNo } = await shop.buy()
  const lie = new URLSearchParams({
    merchantId: shop.tillgate.merchantId,
    paymentId,
    referOrderNo: orderNo,
    status: 'success',
    timestamp: String(Date.now()),
    sign: 'AAAA',
  })
  const page = await shop.page(`/orders/${orderNo}?${lie}`)
  assert.match(page, /Your order is waiting for your payment/)
  assert.doesNotMatch(page, /You returned/)
  assert.match(page, /http-equiv="refresh"/)
})

test('a shop that has forgotten an order asks the gateway, and says that no callback came', async () => {
  const first = await openTestShop()
  const { paymentId, orderNo } = await first.buy()
  await first.tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  await first.tillgate.orders.waitUntilFinal(paymentId)
  // As after a restart: another shop with the same credentials.
  const url = `http://127.0.0.1:${await freePort()}`
  const server = openShop({ tillgate: first.tillgate, url, callbackUrl: `${url}/callbacks` })
  server.listen(Number(new URL(url).port), '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const page = await (await fetch(`${url}/orders/${orderNo}`)).text()
  assert.match(page, /Your order is paid/)
  assert.match(page, /No callback arrived/)
  assert.equal((await fetch(`${url}/orders/shop-unknown`)).status, 404)
  server.closeAllConnections()
})

test('a form on another site buys nothing, a forged callback changes nothing, an unpaid order is not refunded', async () => {
  const shop = await openTestShop()
  const { orderNo } = await shop.buy()
  const elsewhere = { cookie: 'cart=cup.1', 'sec-fetch-site': 'cross-site' }
  assert.equal((await shop.post('/buy', elsewhere)).status, 500)
  const forged = await fetch(`${shop.url}/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'x', eventName: 'payment.order.success', body: 'x', sign: 'x' }),
  })
  assert.equal(forged.status, 400)
  assert.equal((await shop.post(`/orders/${orderNo}/refund`)).status, 500)
  assert.match(await shop.page(`/orders/${orderNo}`), /Your order is waiting for your payment/)
})

test('whatever stands in the cookie, the cart holds goods of the shop and no more than nine of each', async () => {
  const shop = await openTestShop()
  for (const [cookie, total] of [
    ['cart=sencha.2~cup.1', '€34.50'],
    ['cart=cup.99', '€85.50'],
    ['cart=cup.-1~gold.5', undefined],
    ['cart=cup.1e3', '€85.50'],
    ['other=1; cart=honey.1', '€7.80'],
  ] as const) {
    const page = await (await fetch(shop.url, { headers: { cookie } })).text()
    const [, shown] = /class="money total">([^<]+)</.exec(page) ?? []
    assert.equal(shown, total, cookie)
  }
})
