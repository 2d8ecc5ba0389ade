// Limits for page requests, on a listener configured like those of the gateway.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { makeControl } from '../../../test/support/admission.ts'
import { lateMs } from '../../platform/http/admission/admission.ts'
import { pageRate } from '../../platform/http/admission/admission-control.ts'
import { makeListener } from '../../platform/http/listener.ts'
import { limitPages } from './page-admission.ts'
import { sendMissingPage } from './pages/missing-page.ts'

/** The clock stands still until the test advances it. */
function serve({ trustedProxies = [] as string[], isPrivate = false } = {}) {
  let nowMs = 0
  const delaysMs: number[] = []
  const { admission } = makeControl({
    trustedProxies,
    isPrivate,
    time: {
      nowMs: () => nowMs,
      startTimer: (delayMs, expire) => {
        delaysMs.push(delayMs)
        queueMicrotask(expire)
        return () => {}
      },
      nextTurn: (go) => void setImmediate(go),
    },
  })
  const listener = makeListener({
    log: pino({ level: 'silent' }),
    newRequestId: () => 'id',
    readiness: async () => ({ ready: true }),
    isUnavailable: () => false,
    trustedProxies,
    onAnswered: () => {},
    limitPages,
    sendMissingPage,
    admission,
  })
  listener.get('/page', async () => 'a page')
  listener.get('/limited', async (_, reply) => reply.status(429).send('later'))
  listener.get('/address', async ({ ip }) => ip)
  return {
    delaysMs,
    ask: (url: string, { from = '203.0.113.1', accept = '*/*', via = '' } = {}) =>
      listener.inject({
        url,
        remoteAddress: from,
        headers: { accept, ...(via && { 'x-forwarded-for': via }) },
      }),
    pass(ms: number) {
      nowMs += ms
    },
  }
}

test('an address with too many page requests must wait, other addresses do not', async () => {
  const { ask, pass } = serve()
  // Requests for missing pages count as well.
  for (let asked = 0; asked < pageRate.burst; asked++)
    assert.equal((await ask(asked % 2 === 0 ? '/page' : '/nothing')).statusCode, asked % 2 === 0 ? 200 : 404)
  const refused = await ask('/nothing')
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '1'])
  assert.equal(refused.json().code, 42900)
  assert.equal((await ask('/page', { from: '203.0.113.2' })).statusCode, 200)
  pass(1_000 / pageRate.perSecond)
  assert.equal((await ask('/page')).statusCode, 200)
  assert.equal((await ask('/page')).statusCode, 429)
})

for (const isPrivate of [false, true])
  test(`a refusal by a limit of the page itself is late too, ${isPrivate ? 'also where operators ask' : 'where anybody asks'}`, async () => {
    const { ask, delaysMs } = serve({ isPrivate })
    const latenesses = () => delaysMs.filter((delayMs) => delayMs >= lateMs.least)
    assert.equal((await ask('/page')).statusCode, 200)
    assert.deepEqual(latenesses(), [])
    assert.equal((await ask('/limited')).statusCode, 429)
    assert.equal(latenesses().length, 1)
  })

test('clients that are rejected together are answered at different times', async () => {
  const { ask, delaysMs } = serve()
  for (let asked = 0; asked < 8; asked++) await ask('/limited')
  const sorted = delaysMs.filter((delayMs) => delayMs >= lateMs.least).toSorted((a, b) => a - b)
  assert.equal(sorted.length, 8)
  assert((sorted.at(-1) ?? 0) <= lateMs.most)
  const gaps = sorted.slice(1).map((delayMs, index) => delayMs - (sorted[index] ?? 0))
  assert(Math.min(...gaps) >= (lateMs.most - lateMs.least) / 16, `${gaps}`)
})

test('a rejected browser gets a page that explains why, and health checks are always answered', async () => {
  const { ask } = serve()
  for (let asked = 0; asked < pageRate.burst; asked++) await ask('/page')
  const refused = await ask('/page', { accept: 'text/html,application/xhtml+xml;q=0.9' })
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(refused.body, /<h1>Too many requests<\/h1>/)
  for (const path of ['/healthz', '/readyz']) assert.equal((await ask(path)).statusCode, 200)
})

test('the client address comes from trusted proxies; other proxies are ignored', async () => {
  const { ask } = serve({ trustedProxies: ['10.0.0.0/8'] })
  const [proxy, client, other] = ['10.0.0.1', '198.51.100.7', '203.0.113.9']
  for (const [from, via, address] of [
    [proxy, client, client],
    [proxy, `192.0.2.66, ${client}, 10.0.0.2`, client],
    [proxy, '', proxy],
    [other, client, other],
  ] as const)
    assert.equal((await ask('/address', { from, via })).body, address)
  for (let asked = 2; asked < pageRate.burst; asked++) await ask('/page', { from: proxy, via: client })
  assert.equal((await ask('/page', { from: proxy, via: client })).statusCode, 429)
  assert.equal((await ask('/page', { from: proxy, via: other })).statusCode, 200)
})
