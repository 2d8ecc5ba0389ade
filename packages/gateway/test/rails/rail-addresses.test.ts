// What an operator learns of the addresses that a rail is registered with: the gateway never connects to itself, and an
// internal port looks the same whether it is closed, is reset, or speaks HTTP. The log has the difference.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { makeLog } from '../../src/platform/runtime/log.ts'
import { actingAs } from '../support/acting.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { freePort } from '../support/test-bank.ts'

const lines: { msg: string; reason?: string; railId?: string; httpStatus?: number }[] = []
const log = await makeLog(
  { logLevel: 'warn', logFormat: 'json' },
  { write: (line) => void lines.push(JSON.parse(line)) },
)
const clock = new TestClock()
const gateway = await startTestGateway({ clock, log })
const merchant = await gateway.addMerchant()
const { rails } = actingAs(gateway.operations, 'test')
const operator = new ConsoleClient(gateway)
await operator.signIn()
let added = 0

/** Pays over a rail at this address, and gives back all that an operator can see of the call, and the line of the log. */
async function callAt(url: string) {
  const railId = `rail-${++added}`
  const settings = { ...noExtras, name: 'Rail', currencies: ['USD'] }
  await rails.addRail(railId, { ...settings, url: 'http://rail.example/' }, 'test')
  // As a name would lead there that was registered before it did.
  await gateway.pool.query('update rails set url = $2 where rail_id = $1', [railId, url])
  clock.advance(4_000)
  const body = createBody({ now: clock.now() })
  const { data } = await merchant.call('service.trade.create', body)
  const { paymentId } = data
  await merchant.call('service.sandbox.pay', { paymentId, rail: railId })
  const called = await gateway.pool.query<{ outcome: string; detail: string; http_status: number | null }>(
    'select outcome, detail, http_status from rail_calls where payment_id = $1',
    [paymentId],
  )
  const { rail } = await rails.showRail(railId)
  const page = await operator.get(`/orders/${merchant.merchantId}/${paymentId}`)
  const [, row = ''] = /<tr>((?:(?!<\/tr>).)*payment\.start.*?)<\/tr>/s.exec(page.text) ?? []
  return {
    call: called.rows[0],
    lastFailure: rail.lastFailure,
    row: row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
    line: lines.findLast((each) => each.railId === railId && each.msg === 'a call to a rail failed'),
  }
}

async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function listenHttp(httpStatus: number, text = '{}'): Promise<string> {
  const server = createHttpServer((_request, response) => response.writeHead(httpStatus).end(text))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const shown = 'connection failed, or the response was not signed; the log has the reason'
const addresses: Record<string, [url: () => Promise<string> | string, reason: RegExp]> = {
  'a closed port': [async () => `http://127.0.0.1:${await freePort()}/`, /^connect: .*ECONNREFUSED/],
  'a port that resets': [() => listen((socket) => socket.resetAndDestroy()), /^(connect|closed): /],
  'a port that speaks no HTTP': [
    () => listen((socket) => socket.on('data', () => {}).end('220 smtp.internal ESMTP\r\n')),
    /^protocol: /,
  ],
  'a name that does not exist': [() => 'http://nothing.invalid/', /^dns: /],
  'an unsigned HTTP 200': [() => listenHttp(200), /^the response is not signed/],
  'an unsigned HTTP 200 without end': [
    () => listenHttp(200, 'x'.repeat(100_000)),
    /^the response is larger than/,
  ],
  'HTTP 401': [() => listenHttp(401), /^HTTP 401 instead of 200$/],
  'HTTP 404': [() => listenHttp(404), /^HTTP 404 instead of 200$/],
  'HTTP 302': [() => listenHttp(302), /^HTTP 302 instead of 200$/],
  'the gateway’s admin port': [() => `${gateway.adminUrl}/`, /the gateway itself listens there/],
  'the gateway’s public port': [
    () => gateway.url.replace('127.0.0.1', '[::ffff:7f00:1]'),
    /the gateway itself listens there/,
  ],
}
for (const [what, [url, reason]] of Object.entries(addresses))
  test(`${what} does not show whether anything listens there, and the log has the reason`, async () => {
    const { call, lastFailure, row, line } = await callAt(await url())
    assert.deepEqual(call, { outcome: 'failed', detail: shown, http_status: null })
    assert.equal(lastFailure, shown)
    assert(row.includes(`payment.start failed — — ${shown}`), row)
    assert.match(line?.reason ?? '', reason)
  })
