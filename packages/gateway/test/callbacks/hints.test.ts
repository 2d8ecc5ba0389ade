// Two gateways over one database, the one with the role api, the other with the role worker. The worker's clock never
// comes to the end of a wait, so whatever it does here it does because it was told.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../src/platform/database/connection.ts'
import { openNotifications } from '../../src/platform/database/notifications.ts'
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

/** Shorter waits gather things; longer ones are looking again. */
const gatheringMs = 100
const neverLooking: Clock = {
  now: systemClock.now,
  wait: (durationMs, signal) =>
    durationMs <= gatheringMs
      ? systemClock.wait(durationMs, signal)
      : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
}

const events: string[] = []
const shop = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  events.push(JSON.parse(body).eventName)
  response.end('{"code":20000,"msg":""}')
})
shop.listen(0, '127.0.0.1')
await once(shop, 'listening')
after(() => shop.close().closeAllConnections())
// Safe: it listens on TCP.
const callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks`

const api = await startTestGateway({ environment: { ROLES: 'api' }, clock: neverLooking })
const worker = await startTestGateway({ environment: { ROLES: 'worker' }, clock: neverLooking, share: api })
const merchant = await api.addMerchant()

async function hearing(adminUrl: string): Promise<boolean> {
  return (await (await fetch(`${adminUrl}/metrics`)).text()).includes('tillgate_hearing_processes 1\n')
}
await until(async () => (await hearing(api.adminUrl)) && (await hearing(worker.adminUrl)))

test('a process without api serves health and metrics, and nothing else', async () => {
  assert.equal(worker.url, '')
  assert.equal((await fetch(`${worker.adminUrl}/readyz`)).status, 200)
  assert.equal((await fetch(`${worker.adminUrl}/sign-in`)).status, 404)
  assert.equal((await fetch(`${api.adminUrl}/sign-in`)).status, 200)
})

test('a payment taken by one process is settled and reported by another, and shows on a page of the first', async () => {
  const { data } = await merchant.call('service.trade.create', {
    ...createBody({ now: Date.now() }),
    callbackUrl,
  })
  const page = await fetch(data.checkoutUrl, { redirect: 'manual' })
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const stream = await fetch(`${data.checkoutUrl}/events`, { headers: { cookie } })
  assert.equal(stream.status, 200)
  const statuses: string[] = []
  const reading = (async () => {
    for await (const chunk of stream.body ?? [])
      for (const found of Buffer.from(chunk)
        .toString()
        .matchAll(/"status":"(\w+)"/g))
        statuses.push(found[1] ?? '')
  })()
  const { code } = await merchant.call('service.sandbox.pay', {
    paymentId: data.paymentId,
    outcome: 'success',
  })
  assert.equal(code, 20000)
  // The stream ends with the final status, of which the first process was told by the other.
  await reading
  assert.equal(statuses.at(-1), 'success')
  await until(() => events.length === 2)
  assert.deepEqual(events.toSorted(), ['payment.order.confirming', 'payment.order.success'])
})

test('messages are heard again after the session that listens was cut', async () => {
  const heard: string[] = []
  const connection = parseDatabaseUrl(api.config.databaseUrl ?? '')
  const [one, two] = [1, 2].map(() =>
    openNotifications({
      connection,
      database: api.pool,
      onMessage: (text) => heard.push(text),
      onDeaf: () => {},
    }),
  )
  assert.ok(one && two)
  after(() => Promise.all([one.stop(), two.stop()]))
  await until(() => one.isListening() && two.isListening())
  await api.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tillgate hints' and datname = current_database()",
  )
  await until(() => !one.isListening() && !two.isListening())
  await until(() => one.isListening() && two.isListening())
  await one.send('hello')
  await until(() => heard.includes('hello'))
  assert.deepEqual(
    heard.filter((text) => text === 'hello'),
    ['hello'],
    'the sender does not hear itself',
  )
})

test('who listens in vain, as behind a transaction pooler, is told so', async () => {
  const deaf = Promise.withResolvers<string>()
  const notifications = openNotifications({
    connection: parseDatabaseUrl(api.config.databaseUrl ?? ''),
    // What is sent this way arrives nowhere.
    database: { query: async () => ({ rows: [], rowCount: 0 }) },
    onMessage: () => {},
    onDeaf: deaf.resolve,
    heardWithinMs: 50,
  })
  assert.match(await deaf.promise, /nothing was heard/)
  assert.equal(notifications.isListening(), false)
  await notifications.stop()
})

test('a server that takes connections and says nothing does not hold up a stop', async () => {
  const silent = createTcpServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  after(() => silent.close())
  // Safe: it listens on TCP.
  const { port } = silent.address() as AddressInfo
  const notifications = openNotifications({
    connection: parseDatabaseUrl(`postgresql://somebody@127.0.0.1:${port}/any?sslmode=disable`),
    database: api.pool,
    onMessage: () => {},
    onDeaf: () => {},
  })
  await once(silent, 'connection')
  const stopped = notifications.stop().then(() => 'stopped')
  assert.equal(await Promise.race([stopped, pause(4_000, 'still waiting')]), 'stopped')
})
