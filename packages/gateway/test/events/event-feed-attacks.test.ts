// The feed of events over the admin API, by whoever means it no good: positions of their own making, tokens that are for
// something else or have ended, readers who take all places, and readers while everybody writes.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as startRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { reachingAll } from '../../src/core/authority/context.ts'
import type { Scope } from '../../src/identity/operators/rules/api-token.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const clock = new TestClock()
const environment = { EVENT_FEED_DAYS: '7', MERCHANT_REQUESTS_PER_SECOND: '1000' }
const gateway = await startTestGateway({ clock, environment })
const second = await startTestGateway({ clock, environment, share: gateway })
const { operations } = gateway
const path = '/api/admin/v1/events'
let tokens = 0
const { token } = await addToken(['events:read'])
const [one, two, three] = [
  await gateway.addMerchant(),
  await gateway.addMerchant(),
  await gateway.addMerchant(),
]
await one.paidOrder()

async function addToken(scopes: readonly Scope[], login = 'admin') {
  return operations.apiTokens.addToken(reachingAll('test'), {
    login,
    name: `feed-${++tokens}`,
    scopes,
    days: 1,
  })
}

async function lastPosition(): Promise<number> {
  while ((await gateway.stores.events.giveNumbers(500)) > 0) {}
  return (await gateway.stores.events.readState()).lastPosition
}

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly at?: string
}

function start(
  query: string,
  {
    method = 'GET',
    headers = { authorization: `Bearer ${token}` },
    at = `${gateway.adminUrl}${path}`,
  }: Sent = {},
) {
  return startRequest(at + query, { method, headers, agent: false }).end()
}

async function answerOf(request: ReturnType<typeof start>) {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const body = await text(response)
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}

async function ask(query: string, sent?: Sent) {
  // The rate of the token comes back with time.
  clock.advance(1_000)
  return answerOf(start(query, sent))
}

test('a position, a number or a wait that is none is refused at its field, at once', async () => {
  const wrong = [
    ...['-1', '-0', '+1', '1.5', '1e3', '1e400', '0x10', '1n', '1_000', '1,2', '[]', '%7B%7D', 'true'],
    ...[
      'NaN',
      'Infinity',
      'null',
      'undefined',
      'latest',
      '%00',
      '0%00',
      '%201',
      '1%0A',
      '%D9%A3',
      '%EF%BC%91',
    ],
    ...["1'--", '1;select', '9007199254740993', '9'.repeat(20), '9'.repeat(300)],
  ]
  for (const name of ['after', 'limit', 'waitSeconds'])
    for (const value of wrong) {
      const { status, body } = await ask(`?${name}=${value}`)
      assert.equal(status, 400, `${name}=${value}: ${body}`)
      // No text here can have a NUL, wherever it stands.
      if (!value.includes('%00')) assert.equal(JSON.parse(body).data.field, name, body)
    }
  for (const query of [
    '?limit=0',
    '?limit=501',
    '?waitSeconds=26',
    '?after=1&after=2',
    '?after[]=1',
    '?AFTER=1',
  ])
    assert.equal((await ask(query)).status, 400, query)
  assert.equal((await ask('?after=9007199254740991')).status, 400)
  const { status, body } = await ask('?after=0')
  assert.deepEqual([status, JSON.parse(body).data.events[0].position], [200, 1])
})

test('no other token, header, cookie, method or listener reads it', async () => {
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  for (const scope of ['orders:read', 'audit:read'] as const) {
    const other = await addToken([scope])
    assert.equal((await ask('', { headers: { authorization: `Bearer ${other.token}` } })).status, 403, scope)
  }
  const basic = Buffer.from(`admin:${token}`).toString('base64')
  for (const headers of [
    {},
    { cookie },
    { authorization: `Basic ${basic}` },
    { authorization: `Bearer ${token.slice(0, -1)}` },
    { authorization: `Bearer ${token.toUpperCase()}` },
    { authorization: `Bearer ${token}, Bearer ${token}` },
    { 'x-api-key': token },
  ] as Record<string, string>[])
    assert.equal((await ask(`?token=${token}&access_token=${token}`, { headers })).status, 401)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
    assert.equal((await ask('', { method })).status, 405, method)
  for (const at of [path, `/cgi${path}`, `/admin${path}`])
    assert.equal((await ask('', { at: gateway.url + at })).status, 404, at)
  for (const at of [`/${path}`, `${path}/`, path.toUpperCase(), `${path};x`, `${path}%2f`, `${path}.json`])
    assert.equal((await ask('', { at: gateway.adminUrl + at })).status, 404, at)
})

test('a reader whose access ends while it waits is told nothing of what happens then', async () => {
  const { operators } = actingAs(operations, 'test')
  const ends = {
    revoked: (_login: string, tokenId: string) =>
      operations.apiTokens.revokeToken(reachingAll('test'), tokenId, { login: undefined, reason: 'leaked' }),
    disabled: (login: string) => operators.disableOperator(login, 'left'),
    'signed out everywhere': (login: string) => operations.operatorAccounts.sessions.endAll(login, 'test'),
    expired: (_login: string, tokenId: string) =>
      gateway.pool.query('update api_tokens set expires_at = 1 where token_id = $1', [tokenId]),
  }
  for (const [how, end] of Object.entries(ends)) {
    const login = `reader-${how.split(' ')[0]}`
    await operators.addOperator({ login, role: 'admin', password: 'a password of a reader' })
    const own = await addToken(['events:read'], login)
    const headers = { authorization: `Bearer ${own.token}` }
    const waiting = answerOf(start(`?after=${await lastPosition()}&waitSeconds=25`, { headers }))
    const touched = () =>
      gateway.pool.query('select 1 from api_tokens where token_id = $1 and last_used_at is not null', [
        own.apiToken.tokenId,
      ])
    await until(async () => (await touched()).rowCount === 1)
    await end(login, own.apiToken.tokenId)
    await one.paidOrder()
    clock.advance(1_000)
    const { status, body } = await waiting
    assert.equal(status, 401, `${how}: ${body}`)
    assert.doesNotMatch(body, /payment\.order/)
  }
})

test('one operator’s readers leave places for others, and those who leave give theirs back', async () => {
  const query = `?after=${await lastPosition()}&waitSeconds=25`
  const greedy = Array.from({ length: 12 }, () => start(query))
  const answers: number[] = []
  for (const each of greedy) {
    each.once('error', () => {})
    each.once('response', (response) => answers.push(response.resume().statusCode ?? 0))
  }
  await until(async () => answers.length === 8)
  assert.deepEqual(answers, Array(8).fill(429))
  await actingAs(operations, 'test').operators.addOperator({
    login: 'other',
    role: 'viewer',
    password: 'a password of another',
  })
  const own = await addToken(['events:read'], 'other')
  const headers = { authorization: `Bearer ${own.token}` }
  const other = answerOf(start(query, { headers }))
  // What does not wait is answered whoever waits.
  assert.equal((await ask('?after=0')).status, 200)
  const refused = await ask(query)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
  for (const each of greedy) each.destroy()
  let again = { status: 429 }
  const asking = async () => {
    clock.advance(1_000)
    const request = start(query)
    request.once('error', () => {})
    const answered = await Promise.race([
      answerOf(request),
      // Longer than it takes to be refused.
      gateway.pool.query('select pg_sleep(0.5)').then(() => ({ status: 0 })),
    ])
    request.destroy()
    return answered
  }
  await until(async () => {
    again = await asking()
    return again.status === 0
  })
  assert.equal(again.status, 0, 'it waits')
  await one.paidOrder()
  clock.advance(1_000)
  assert.equal((await other).status, 200)
})

/** Hears what endpoints are told, by the merchant whose address it is. */
async function listen() {
  const heard = new Map<string, string[]>()
  const server = createServer(async (request, response) => {
    const of = (request.url ?? '').slice(1)
    const body = JSON.parse(await text(request))
    heard.set(of, [...(heard.get(of) ?? []), `${body.data.merchantId} ${body.type} ${body.data.paymentId}`])
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  // Safe: it listens on TCP.
  return { heard, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('readers at two gateways see every event of everybody who pays at once, in order and without a gap', async () => {
  const { heard, origin } = await listen()
  const { endpoints } = actingAs(operations, 'test')
  for (const { merchantId } of [one, two, three])
    await endpoints.addEndpoint(
      merchantId,
      { url: `${origin}/${merchantId}`, format: 'standard', events: undefined },
      'test',
    )
  const from = await lastPosition()
  let through: number | undefined
  const follow = async (at: string) => {
    const seen: {
      position: number
      eventId: string
      eventName: string
      merchantId: string
      paymentId: string
    }[] = []
    for (let position = from; position !== through; ) {
      const { status, body } = await ask(`?after=${position}&limit=7`, { at: at + path })
      assert.equal(status, 200, body)
      const { events, next } = JSON.parse(body).data
      seen.push(...events)
      position = next
    }
    return seen
  }
  const following = [gateway, second, second].map(({ adminUrl }) => follow(adminUrl))
  const made = await Promise.all(
    Array.from({ length: 45 }, async (_, index) => {
      const merchant = [one, two, three][index % 3] ?? one
      const paymentId = await merchant.paidOrder()
      const refund = { paymentId, referRefundNo: `refund ${index}`, refundAmount: 1 }
      if (index % 4 === 0) await merchant.call('service.trade.refund', refund)
      return [paymentId, merchant.merchantId] as const
    }),
  )
  await until(async () => {
    const { rowCount } = await gateway.pool.query('select 1 from orders where refund_held_minor > 0 limit 1')
    return rowCount === 0
  })
  through = await lastPosition()
  const all = await Promise.all(following)
  const owners = new Map(made)
  for (const seen of all) {
    assert.deepEqual(
      seen.map(({ position }) => position),
      Array.from({ length: (through ?? from) - from }, (_, index) => from + 1 + index),
    )
    assert.equal(new Set(seen.map(({ eventId }) => eventId)).size, seen.length)
    for (const { paymentId, merchantId } of seen) assert.equal(merchantId, owners.get(paymentId))
    for (const [paymentId] of made) {
      const steps = seen.flatMap((event) => (event.paymentId === paymentId ? [event.eventName] : []))
      assert.deepEqual(steps.slice(0, 2), ['payment.order.confirming', 'payment.order.success'])
    }
  }
  // And each merchant's endpoint hears of all that is its own, and of nobody else's.
  const [seen = []] = all
  for (const { merchantId } of [one, two, three]) {
    const own = seen.filter((event) => event.merchantId === merchantId)
    await until(async () => heard.get(merchantId)?.length === own.length)
    assert.deepEqual(
      heard.get(merchantId)?.toSorted(),
      own.map(({ eventName, paymentId }) => `${merchantId} ${eventName} ${paymentId}`).toSorted(),
    )
    for (const { endpointId } of await endpoints.listEndpoints(merchantId))
      for (const another of [one, two, three].filter((each) => each.merchantId !== merchantId))
        await assert.rejects(
          endpoints.showEndpoint({ merchantId: another.merchantId, endpointId }),
          /Endpoint .* does not exist/,
        )
  }
})
