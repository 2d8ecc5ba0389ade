// A week in which two merchants share a host, one of whose addresses is broken from Tuesday to Friday, and the host itself for
// an hour of Thursday. Orders are paid every day over real sockets. The clock stands still while a day's callbacks are waited
// for, so anything that waits for a pause or a retry never arrives.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway, type TestMerchant } from '../support/gateway.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const { callbacks } = actingAs(gateway.operations, 'test')
const broken = await gateway.addMerchant({ name: 'Broken and healthy' })
const neighbor = await gateway.addMerchant({ name: 'Neighbor' })
const admin = new ConsoleClient(gateway)
const dayMs = 86_400_000
/** The longest pause, after which a probe goes out. */
const pauseMs = 60_000
const hourMs = 3_600_000

/** The ids that an address acknowledged: an address is a merchant with a path. */
const taken = new Map<string, string[]>()
let isBroken = false

function newServer() {
  return createServer(async (request, response) => {
    request.setEncoding('utf8')
    let text = ''
    for await (const piece of request) text += piece
    const { merchantId, id } = JSON.parse(text)
    const path = new URL(request.url ?? '/', 'http://host').pathname
    const isTaken = !(isBroken && path === '/a' && merchantId === broken.merchantId)
    if (isTaken) takenAt({ merchantId }, path).push(id)
    response.writeHead(isTaken ? 200 : 500).end(isTaken ? '{"code":20000,"msg":""}' : '')
  })
}

function takenAt({ merchantId }: { readonly merchantId: string }, path: string): string[] {
  const address = `${merchantId} ${path}`
  const ids = taken.get(address) ?? []
  taken.set(address, ids)
  return ids
}

let server = newServer().listen(0, '127.0.0.1')
after(() => server.close().closeAllConnections())
await once(server, 'listening')
// Safe: it listens on TCP.
const { port } = server.address() as AddressInfo
const host = `127.0.0.1:${port}`

let orders = 0
const pay = (merchant: TestMerchant, path: string) =>
  merchant.paidOrder({ callbackUrl: `http://${host}${path}?order=${++orders}` })

/** Pays orders at the healthy addresses: four callbacks each, which arrive at their first attempt and at once. */
async function healthyOrders(): Promise<void> {
  for (const [merchant, path] of [
    [broken, '/b'],
    [neighbor, '/a'],
    [neighbor, '/b'],
  ] as const) {
    const before = takenAt(merchant, path).length
    const paymentId = await pay(merchant, path)
    const refund = { paymentId, referRefundNo: `refund-${orders}`, refundAmount: 1 }
    const { code, msg } = await merchant.call('service.trade.refund', refund)
    assert.equal(code, 20000, msg)
    await until(() => takenAt(merchant, path).length === before + 3)
    await until(async () => (await ofOrder(merchant, paymentId)).every(({ state }) => state === 'delivered'))
    assert.deepEqual(
      (await ofOrder(merchant, paymentId)).map(({ attemptsMade }) => attemptsMade),
      [1, 1, 1],
    )
  }
}

async function ofOrder({ merchantId }: TestMerchant, paymentId: string) {
  return (await callbacks.listPage({ merchantId, paymentId }, { limit: 10 })).callbacks
}

async function newDay(): Promise<void> {
  await advance(dayMs)
  await admin.signIn()
}

/** A lease that ends while its attempt is under way would send the callback again. */
async function advance(durationMs: number): Promise<void> {
  await until(
    async () =>
      (await gateway.pool.query('select from callback_queue where claim_id is not null')).rowCount === 0,
  )
  clock.advance(durationMs)
}

const overview = async () => (await admin.get('/overview')).text
const failing = () => callbacks.listFailingDestinations()

test('Monday: every address is healthy', async () => {
  await newDay()
  await healthyOrders()
  await pay(broken, '/a')
  await until(() => takenAt(broken, '/a').length === 2)
  assert.match(await overview(), /Nothing needs attention/)
})

const waiting: string[] = []
const brokenOrder = async () => void waiting.push(await pay(broken, '/a'))

test('Tuesday: one address answers HTTP 500, and the refunds of its neighbors are not a moment late', async () => {
  await newDay()
  isBroken = true
  for (let order = 0; order < 3; order++) await brokenOrder()
  await until(async () => (await failing())[0]?.pausedUntilMs !== undefined)
  await healthyOrders()
  assert.match(
    await overview(),
    new RegExp(`Callbacks to ${host}/a are failing: HTTP 500, \\d+ times in a row`),
  )
  assert.deepEqual(await callbacks.listFailingHosts(), [])
})

test('Wednesday: probes fail for a whole day, and the neighbors still have their callbacks at once', async () => {
  await newDay()
  await brokenOrder()
  for (let probe = 0; probe < 5; probe++) {
    const before = (await failing())[0]?.pauses ?? 0
    await advance(pauseMs)
    await until(async () => ((await failing())[0]?.pauses ?? 0) > before)
    await healthyOrders()
  }
  assert.match(await overview(), /Late callbacks\. The oldest is/)
  const [only, ...others] = await failing()
  assert.deepEqual([only?.merchantId, only?.url, others.length], [broken.merchantId, `http://${host}/a`, 0])
})

test('Thursday: the host itself is away for an hour, which all addresses share, and they are back with it', async () => {
  await newDay()
  const before = takenAt(neighbor, '/b').length
  server.close().closeAllConnections()
  await once(server, 'close')
  for (let order = 0; order < 3; order++) await pay(neighbor, '/b')
  await until(async () => (await callbacks.listFailingHosts())[0]?.pausedUntilMs !== undefined)
  assert.match(await overview(), /Unreachable callback hosts/)
  server = newServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  await until(async () => {
    await advance(pauseMs)
    return takenAt(neighbor, '/b').length === before + 6
  })
  await until(async () => (await callbacks.listFailingHosts()).length === 0)
  await healthyOrders()
})

test('Friday: the address is mended, and everything that waited arrives', async () => {
  await newDay()
  assert.equal(takenAt(broken, '/a').length, 2)
  isBroken = false
  await until(async () => {
    await advance(hourMs)
    return takenAt(broken, '/a').length === 2 + 2 * waiting.length
  })
  await until(async () => (await failing()).length === 0)
  for (const paymentId of waiting)
    assert.deepEqual(
      (await ofOrder(broken, paymentId)).map(({ state }) => state),
      ['delivered', 'delivered'],
    )
})

test('Sunday: nothing needs attention, and no callback was lost or acknowledged twice', async () => {
  await newDay()
  await newDay()
  await healthyOrders()
  assert.match(await overview(), /Nothing needs attention/)
  const ids = [...taken.values()].flat()
  assert.equal(new Set(ids).size, ids.length)
  const { rows } = await gateway.pool.query('select from callbacks_with_progress where delivered_at is null')
  assert.deepEqual(rows, [])
})
