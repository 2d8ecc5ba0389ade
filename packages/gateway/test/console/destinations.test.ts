// A broken destination beside a healthy one, as operators and the merchant see them: what needs attention, which
// endpoint and path a callback goes to, and the health of each endpoint. Over real sockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { ConsoleClient } from '../support/console.ts'
import { memberOf } from '../support/portal.ts'

const server = createServer((request, response) => {
  request.resume()
  const isBroken = request.url?.startsWith('/broken') === true && !isMended
  response.writeHead(isBroken ? 500 : 200).end('{"code":20000,"msg":""}')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close().closeAllConnections())
// Safe: it listens on TCP.
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
let isMended = false

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const { merchantId } = merchant
const admin = new ConsoleClient(gateway)
await admin.signIn()
const { client: developer } = await memberOf(gateway, merchantId, 'developer')
const { endpoints, callbacks } = actingAs(gateway.operations, 'test')

async function endpointAt(path: string) {
  const wanted = { url: `http://${host}${path}`, format: 'standard', events: undefined } as const
  return (await endpoints.addEndpoint(merchantId, wanted, 'test')).endpoint
}
const broken = await endpointAt('/broken/events?token=7')
const healthy = await endpointAt('/healthy/events')

test('before anything fails, nothing needs attention', async () => {
  const { text } = await admin.get('/overview')
  assert.match(text, /Nothing needs attention/)
  assert.match(text, /none late</)
  const page = (await admin.get('/callbacks')).text
  assert.match(page, /No failing destinations.*No unreachable hosts/s)
  assert.match(page, /Failing now<\/dt><dd>0</)
})

test('destinations that fail while their neighbors succeed need attention', async () => {
  for (let i = 0; i < 6; i++) {
    const order = await shop.order((body) => {
      body.callbackUrl = `http://${host}/${i % 2 ? 'healthy' : 'broken'}/orders?order=${i}`
    })
    await shop.pay(order, 'success')
  }
  await until(async () => (await callbacks.listFailingDestinations()).length === 2)
  await until(
    async () =>
      (await callbacks.listPage({ merchantId, state: 'delivered' }, { limit: 50 })).callbacks.length === 18,
  )
  const { text } = await admin.get('/overview')
  assert.match(text, /Needs attention/)
  assert.match(
    text,
    new RegExp(`Callbacks to ${host}/broken/orders are failing: HTTP 500, \\d+ times in a row`),
  )
  assert.match(
    text,
    new RegExp(`Callbacks to ${host}/broken/events are failing: HTTP 500, \\d+ times in a row`),
  )
  assert.doesNotMatch(text, /healthy/)
  assert.doesNotMatch(text, /Unreachable callback hosts/)
  assert.doesNotMatch(text, /none late/)
  assert.match(text, /2 failing addresses</)
  const page = (await admin.get('/callbacks')).text
  assert.match(page, /Failing now<\/dt><dd>.*2 destinations/)
  assert.match(page, new RegExp(`/callbacks/hosts/resume.*Resume ${host}.*Unreachable hosts`, 's'))
  assert.match((await admin.get('/system')).text, /2 failing, [12] paused/)
})

test('callbacks that are late need attention, and say for how long', async () => {
  clock.advance(400_000)
  // While the probes fail, callbacks wait behind them.
  await until(async () => {
    const { text } = await admin.get('/overview')
    return /Late callbacks\. The oldest is [67] min late/.test(text)
  })
})

test('the console lists each callback with its path, and marks those to endpoints', async () => {
  const { text } = await admin.get('/callbacks?state=delivered')
  assert.match(text, new RegExp(`>${host}/healthy/orders</span>`))
  assert.match(
    text,
    new RegExp(`>${host}/healthy/events</span> <a [^>]*endpoints/${healthy.endpointId}">endpoint</a>`),
  )
  const { text: all } = await admin.get('/callbacks')
  const [, failing = ''] = /Failing destinations<\/h2>(.*?)<h2>Unreachable hosts/s.exec(all) ?? []
  assert.match(failing, new RegExp(`endpoints/${broken.endpointId}">${host}/broken/events</a>`))
  assert.match(failing, new RegExp(`>${host}/broken/orders</a>`))
  assert.match(failing, /HTTP 500/)
  assert.doesNotMatch(failing, /token=7|order=\d/, 'queries stay out of lists')
  const { paymentId } = (await callbacks.listPage({ merchantId }, { limit: 1 })).callbacks[0] ?? {}
  assert.match(
    (await admin.get(`/orders/${merchantId}/${paymentId}`)).text,
    new RegExp(`${host}/[a-z]+/orders`),
  )
})

test('the merchant’s page in the console has the health of each endpoint', async () => {
  const { text } = await admin.get(`/merchants/${merchantId}`)
  const [, table = ''] = /Webhook endpoints<\/h2>(.*?)<h2>/s.exec(text) ?? []
  const rowOf = (path: string) => table.split('<tr>').find((row) => row.includes(path)) ?? ''
  assert.match(rowOf('/broken/events'), /Failing.*HTTP 500, \d+ failures since/s)
  assert.match(rowOf('/healthy/events'), /healthy/)
  const one = await admin.get(`/merchants/${merchantId}/endpoints/${broken.endpointId}`)
  assert.match(one.text, /HTTP 500, \d+ failures since/)
})

test('the portal shows what fails, each callback’s path, and the health of each endpoint', async () => {
  const list = (await developer.get('/merchant/callbacks')).text
  assert.match(list, /Failing destinations/)
  assert.match(list, new RegExp(`<bdi class="wrap">${host}/broken/orders</bdi>`))
  assert.match(list, /\d+ failures in a row/)
  assert.match(list, new RegExp(`<bdi class="wrap">${host}/healthy/orders</bdi>`))
  assert.match(list, /<span class="quiet">\(Endpoint\)</i)
  const cards = (await developer.get('/merchant/endpoints')).text.split('<li>')
  const cardOf = (path: string) => cards.find((each) => each.includes(path)) ?? ''
  assert.match(cardOf('/broken/events'), /Failing.*\d+ failures in a row.*HTTP 500/s)
  assert.match(cardOf('/healthy/events'), /Active/)
  assert.doesNotMatch(cardOf('/healthy/events'), /failures/)
  assert.match((await developer.get('/merchant')).text, /Failing callbacks: \d+\. .*: HTTP 500\. /)
  const german = (await developer.get('/merchant/callbacks?lang=de')).text
  assert.match(german, /Ziele mit Fehlern/)
})

test('an endpoint whose host cannot be reached fails with its host', async () => {
  const gone = (
    await endpoints.addEndpoint(
      merchantId,
      { url: 'http://127.0.0.1:9/gone', format: 'standard', events: undefined },
      'test',
    )
  ).endpoint
  await shop.pay(await shop.order((body) => void delete body.callbackUrl), 'success')
  const find = async () => (await endpoints.showEndpoint(gone)).endpoint.failing
  await until(async () => (await find()) !== undefined)
  assert.deepEqual([(await find())?.what, (await find())?.reason], ['host', 'connect'])
  assert.match((await admin.get(`/merchants/${merchantId}`)).text, /Host failing/)
  assert.match((await developer.get('/merchant/callbacks')).text, /<bdi class="wrap">127\.0\.0\.1:9<\/bdi>/)
})

test('once they answer, nothing of it needs attention', async () => {
  isMended = true
  // Past the longest pause: a probe goes out, and what waits follows.
  clock.advance(60_000)
  await until(async () => {
    clock.advance(5)
    return (await callbacks.listFailingDestinations()).length === 0
  })
  assert.doesNotMatch((await admin.get('/overview')).text, /Callbacks to /)
  assert.doesNotMatch((await developer.get('/merchant')).text, /Callbacks that fail/)
})
