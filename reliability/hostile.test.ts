// Smuggled and oversized requests, small floods of pages, forms and codes, and a large statement, against a gateway of one's
// own. The long run, with all floods and slow clients, is `npm run hostile`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayPath } from '@tillgate/protocol'
import { reachingAll } from '../packages/gateway/src/core/authority/context.ts'
import { maxInBurst } from '../packages/gateway/src/platform/http/admission/pipelining.ts'
import { ApiClient } from '../packages/gateway/test/support/admin-api.ts'
import { TestClock } from '../packages/gateway/test/support/clock.ts'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { createBody } from '../packages/gateway/test/support/order.ts'
import { farewell, openLine, placeOf, postBytes, sendBytes } from './hostile/bare-connection.ts'
import { oversizeForms, unreadChunks } from './hostile/oversize.ts'
import { largestStatement, manyParts } from './hostile/page-requests.ts'
import { smugglingForms } from './hostile/smuggling.ts'

// All of it comes from one address, which would soon have used up what it may cost.
const gateway = await startTestGateway({ environment: { FAILED_OPENINGS_PER_MINUTE: '10000' } })
const merchant = await gateway.addMerchant()
const place = placeOf(gateway.url)

async function requestFor(orderNo: string): Promise<string> {
  const sealed = await merchant.seal('service.trade.create', createBody({ now: Date.now(), orderNo }))
  return postBytes(place, { path: gatewayPath, body: JSON.stringify(sealed) })
}

async function isThere(orderNo: string): Promise<boolean> {
  return (await merchant.call('service.trade.query', { orderNo })).code === 20000
}

test('a request that is hidden in another one is never carried out', async () => {
  const hidden = await requestFor('hidden')
  for (const { name, bytes, answers } of smugglingForms(place, gatewayPath)) {
    const { statuses } = await sendBytes(place, bytes(hidden) + farewell)
    if (answers) assert.deepEqual(statuses, answers, name)
    else assert(statuses.length === 1 && (statuses[0] ?? 0) >= 400, `${name}: ${statuses.join(', ')}`)
    assert.equal(await isThere('hidden'), false, name)
  }
  // The same bytes behind a request that ends where everybody sees its end.
  const { statuses } = await sendBytes(place, `GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n${hidden}${farewell}`)
  assert.deepEqual(statuses, [200, 200, 200])
  assert(await isThere('hidden'))
})

test('what is too large is refused as such, and the line is cut', async () => {
  for (const [index, { name, bytes, status }] of oversizeForms(place, gatewayPath).entries()) {
    const { statuses, text } = await sendBytes({ ...place, localAddress: `127.0.0.${90 + index}` }, bytes)
    assert.deepEqual(statuses, status === undefined ? [] : [status], name)
    if (status === undefined) continue
    assert.match(text, /connection: close/i, name)
    assert.match(text, /"code":41300/, name)
  }
})

test('an unknown address’s requests behind one another are answered up to a bound, and beyond it the connection is cut', async () => {
  const forms = {
    empty: [`POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`, 415],
    refusedAtOnce: [`POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nx`, 415],
    nowhere: ['GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n', 404],
  } as const
  for (const [index, [request, status]] of Object.values(forms).entries()) {
    const last = request.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')
    const unknown = { ...place, localAddress: `127.0.0.${70 + index}` }
    const answered = await sendBytes(unknown, request.repeat(maxInBurst - 1) + last)
    assert.deepEqual(answered.statuses, Array(maxInBurst).fill(status))
    const cut = await sendBytes(unknown, request.repeat(maxInBurst) + last)
    assert.ok(cut.statuses.length <= maxInBurst, `${request}: ${cut.statuses.length} were answered`)
    // From here envelopes were opened.
    assert.equal(await isThere('never made'), false)
    const known = await sendBytes(place, request.repeat(maxInBurst) + last)
    assert.deepEqual(known.statuses, Array(maxInBurst + 1).fill(status))
  }
})

test('a body in chunks of one byte is cut off, also where nobody reads it', async () => {
  // It never ends by itself: that the line is closed at all shows that it was cut.
  const before = 'GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n'
  const forms = unreadChunks(gatewayPath).flatMap((bytes) => [bytes, before + bytes])
  for (const [index, bytes] of forms.entries()) {
    const sender = { ...place, localAddress: `127.0.0.${80 + index}` }
    const { statuses } = await sendBytes(sender, bytes)
    assert.ok(statuses.length <= 2)
    // Behind another request it is parsed before anybody looks at it, and counted all the same.
    if (bytes.startsWith(before)) assert.deepEqual((await sendBytes(sender, farewell)).statuses, [])
  }
})

test('a visitor who comes behind a flood of pages is answered before most of it', async () => {
  const ask = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
  const addresses = Array.from({ length: 100 }, (_, at) => `127.0.3.${1 + at}`)
  const flood = await Promise.all(addresses.map((localAddress) => openLine({ ...place, localAddress })))
  // Whoever asked for several pages is behind whoever asked for none.
  for (let asked = 0; asked < 3; asked++) await Promise.all(flood.map((line) => line.ask(ask)))
  const visitor = await openLine({ ...place, localAddress: '127.0.2.1' })
  let answered = 0
  const flooding = flood.map((line) => line.ask(ask).then(() => answered++))
  await visitor.ask(ask)
  assert.ok(answered < flood.length / 2, `${answered} of ${flood.length} were answered before`)
  await Promise.all(flooding)
  for (const line of [visitor, ...flood]) line.close()
})

async function linkPath(): Promise<string> {
  const body = { linkNo: 'flood', title: 'A flood', currency: 'EUR', amount: 12 }
  const { data } = await merchant.call('service.link.create', body)
  return new URL(String(data['linkUrl'])).pathname
}

/** What this process, gateway and clients alike, computes for so many requests from as many addresses. */
async function costMs(network: string, request: (turn: number) => string): Promise<number> {
  const lines = await Promise.all(
    Array.from({ length: 50 }, (_, at) => openLine({ ...place, localAddress: `${network}.${1 + at}` })),
  )
  const before = process.cpuUsage()
  for (let turn = 0; turn < 4; turn++) await Promise.all(lines.map((line) => line.ask(request(turn))))
  const { user, system } = process.cpuUsage(before)
  for (const line of lines) line.close()
  return (user + system) / 1_000
}

test('a form of many parts costs no more than a page', async () => {
  const host = new URL(gateway.url).host
  const page = () => `GET /merchant/sign-in HTTP/1.1\r\nhost: ${host}\r\n\r\n`
  await costMs('127.0.4', page)
  const pagesMs = await costMs('127.0.5', page)
  // As for the page: once before it is measured.
  await costMs('127.0.10', () => manyParts(host, '/merchant/sign-in'))
  const formsMs = await costMs('127.0.6', () => manyParts(host, '/merchant/sign-in'))
  assert(formsMs < pagesMs * 2, `${formsMs} ms for forms, ${pagesMs} ms for pages`)
})

test('the code of a payment link costs no more than its page, however often it is asked for', async () => {
  const path = await linkPath()
  const get = (of: string) => () => `GET ${of} HTTP/1.1\r\nhost: x\r\n\r\n`
  await costMs('127.0.7', get(path))
  const pagesMs = await costMs('127.0.8', get(path))
  const codesMs = await costMs('127.0.9', get(`${path}/qr.png`))
  assert(codesMs < pagesMs * 2, `${codesMs} ms for codes, ${pagesMs} ms for pages`)
})

test('the event loop goes on while the largest statement is read', async () => {
  const { apiTokens } = gateway.operations
  const given = { login: 'admin', name: 'importer', scopes: ['reconciliation:act'], days: 1 }
  const importer = new ApiClient(gateway, (await apiTokens.addToken(reachingAll('test'), given)).token)
  const query = { account: 'bank:main', dryRun: 'yes', reason: 'test' }
  const file = largestStatement('test')
  const startedAt = performance.now()
  let [lastTurnAt, longestGapMs] = [startedAt, 0]
  const turning = setInterval(() => {
    longestGapMs = Math.max(longestGapMs, performance.now() - lastTurnAt)
    lastTurnAt = performance.now()
  }, 5)
  await importer.data('reconcile.import', { query, file })
  clearInterval(turning)
  const tookMs = performance.now() - startedAt
  assert(longestGapMs < tookMs / 4, `the event loop stood still for ${longestGapMs} of ${tookMs} ms`)
})

test('what is not HTTP uses up the allowance of its address, but not that of a proxy', async () => {
  const environment = { FAILED_OPENINGS_PER_MINUTE: '2' }
  const clock = new TestClock()
  const direct = await startTestGateway({ clock, environment })
  const proxied = await startTestGateway({
    clock,
    environment: { ...environment, TRUSTED_PROXIES: '127.0.0.1' },
  })
  const sendTo = async ({ url }: { url: string }) =>
    (await sendBytes(placeOf(url), 'no HTTP\r\n\r\n')).statuses
  for (let sent = 0; sent < 3; sent++) assert.deepEqual(await sendTo(direct), [400])
  // Twice over: it is cut, and then not even listened to.
  for (let sent = 0; sent < 2; sent++) assert.deepEqual(await sendTo(direct), [])
  for (let sent = 0; sent < 5; sent++) assert.deepEqual(await sendTo(proxied), [400])
  clock.advance(180_000)
  assert.deepEqual(await sendTo(direct), [400])
})
