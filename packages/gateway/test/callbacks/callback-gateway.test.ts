// Callbacks of a whole gateway over real sockets: what each answer of a merchant comes to, sending again by the
// merchant and by the operator's command line, and the keys by which a merchant checks them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import {
  makeCallbackId,
  makePaymentId,
  openCallback,
  parseCallbackEnvelope,
  parsePublicKey,
} from '@tillgate/protocol'
import { makePurgeCallbacks } from '../../src/core/callbacks/purge-callbacks.ts'
import { makeCallbackHistory } from '../../src/core/callbacks/store/callback-history.ts'
import { insertCallbacks } from '../../src/core/callbacks/store/callbacks.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { until } from '../support/callbacks.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { startTestGateway } from '../support/gateway.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant()
const history = makeCallbackHistory(gateway.pool)

const arrived: { path: string; body: string }[] = []
let canaryHits = 0
const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/right': (_request, response) => response.end('{"code":20000,"msg":""}'),
  '/wrong': (_request, response) => response.end('thank you'),
  '/empty': (_request, response) => response.end(),
  '/201': (_request, response) => response.writeHead(201).end('{"code":20000,"msg":""}'),
  '/204': (_request, response) => response.writeHead(204).end(),
  '/301': (_request, response) => response.writeHead(301, { location: '/canary' }).end(),
  '/404': (_request, response) => response.writeHead(404).end('no such page'),
  '/500': (_request, response) => response.writeHead(500).end('oops'),
  '/closed': (request) => request.socket.destroy(),
  '/canary': (_request, response) => {
    canaryHits++
    response.end()
  },
}
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const path = request.url ?? ''
  arrived.push({ path, body: Buffer.concat(chunks).toString() })
  answers[path]?.(request, response)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close().closeAllConnections())
// Safe: it listens on TCP.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** An order that has timed out, with the callback that says so; the gateway finds it within a second. */
async function timedOutOrder(path: string, heldReason?: string): Promise<string> {
  const nowMs = Date.now()
  const { merchantId } = merchant
  const paymentId = makePaymentId(nowMs, randomBytes)
  const callbackUrl = origin + path
  await gateway.pool.transaction(async (transaction) => {
    await transaction.query(
      `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                           payment_time, expires_at, callback_url, content, created_at)
       values ($1, $2, $2, 'timeout', 'WEB', 100, 'USD', $3::bigint, $3::bigint + 300000, $4, '{}', $3)`,
      [merchantId, paymentId, nowMs, callbackUrl],
    )
    await insertCallbacks(transaction, [
      {
        merchantId,
        callbackId: makeCallbackId(nowMs, randomBytes),
        paymentId,
        refundId: undefined,
        eventName: 'payment.order.timeout',
        callbackUrl,
        body: JSON.stringify({ merchantId, paymentId, status: 'timeout' }),
        createdAtMs: nowMs,
      },
    ])
    await transaction.query('update callbacks set held_reason = $2 where payment_id = $1', [
      paymentId,
      heldReason ?? null,
    ])
  })
  return paymentId
}

async function callbackOf(paymentId: string) {
  const [callback] = await history.listCallbacks({ merchantId: merchant.merchantId, paymentId }, { limit: 1 })
  return callback
}

async function attempted(paymentId: string, attempts = 1) {
  await until(async () => ((await callbackOf(paymentId))?.attemptsMade ?? 0) >= attempts)
  const callback = await callbackOf(paymentId)
  assert(callback)
  return callback
}

describe('an answer of a merchant', () => {
  const expected = {
    '/right': ['delivered', false, 200, 'acknowledged'],
    '/wrong': ['delivered', true, 200, 'acknowledged'],
    '/empty': ['delivered', true, 200, 'acknowledged'],
    '/201': ['waiting', false, 201, 'refused'],
    '/204': ['waiting', false, 204, 'refused'],
    '/301': ['waiting', false, 301, 'refused'],
    '/404': ['waiting', false, 404, 'refused'],
    '/500': ['waiting', false, 500, 'refused'],
    '/closed': ['waiting', false, undefined, 'closed'],
  } as const
  test('decides what becomes of the callback', async () => {
    const orders = await Promise.all(
      Object.keys(expected).map(async (path) => [path, await timedOutOrder(path)]),
    )
    for (const [path = '', paymentId = ''] of orders) {
      const { state, isWarned, lastHttpStatus, lastOutcome, ...callback } = await attempted(paymentId)
      const wanted = expected[path as keyof typeof expected]
      assert.deepEqual([state, isWarned, lastHttpStatus, lastOutcome], wanted, path)
      const afterMs = (callback.nextAttemptAtMs ?? 0) - (callback.firstAttemptAtMs ?? 0)
      if (state === 'waiting') assert.ok(afterMs >= 27_000 && afterMs <= 33_000, `${path} after ${afterMs}`)
      else assert.equal(callback.nextAttemptAtMs, undefined)
      const [attempt] = await history.listAttempts(callback)
      if (path === '/404') assert.equal(attempt?.answer?.toString(), 'no such page')
    }
    assert.equal(canaryHits, 0, 'no redirect is followed')
  })
})

test('a merchant opens a callback with its AES key and the gateway’s published key', async () => {
  const paymentId = await timedOutOrder('/right')
  const { callbackId } = await attempted(paymentId)
  const sent = arrived.find(({ body }) => body.includes(callbackId))
  const envelope = parseCallbackEnvelope(sent?.body ?? '')
  const response = await fetch(`${gateway.url}/platform-keys`)
  assert.match(response.headers.get('cache-control') ?? '', /max-age=60/)
  const { keys } = (await response.json()) as { keys: { keyId: string; publicKey: string }[] }
  assert.equal(keys.length, 1)
  const publicKeys = keys.map(({ publicKey }) => parsePublicKey(publicKey))
  const body = await openCallback(envelope, { aesKeys: [merchant.aesKey], publicKeys })
  const result = JSON.parse(body ?? '')
  assert.deepEqual([result.paymentId, result.status], [paymentId, 'timeout'])
  assert.equal(envelope.eventName, 'payment.order.timeout')
})

describe('service.trade.callback', () => {
  test('sends an order’s callbacks again, and not twice for two who ask at once', async () => {
    const paymentId = await timedOutOrder('/right')
    const { callbackId } = await attempted(paymentId)
    const nowMs = Date.now()
    const asked = await Promise.all(
      Array.from({ length: 5 }, (_, each) =>
        merchant.call('service.trade.callback', { paymentId }, { timestamp: nowMs - each }),
      ),
    )
    assert.deepEqual(asked.map(({ data }) => data.queued).sort(), [0, 0, 0, 0, 1])
    assert.equal(asked[0]?.data.paymentId, paymentId)
    const again = await attempted(paymentId, 2)
    assert.deepEqual([again.callbackId, again.state, again.retriesMade], [callbackId, 'delivered', 0])
    const ids = arrived.filter(({ body }) => body.includes(callbackId))
    assert.equal(ids.length, 2)
    assert.notEqual(ids[0]?.body, ids[1]?.body)
    const { data } = await merchant.call('service.trade.callback', { paymentId })
    assert.equal(data.queued, 0, 'once a minute is enough')
  })

  test('an envelope that comes again, also at another gateway, queues nothing and has the same answer', async () => {
    const paymentId = await timedOutOrder('/right')
    await attempted(paymentId)
    const second = await startTestGateway({ share: gateway })
    const envelope = JSON.stringify(await merchant.seal('service.trade.callback', { paymentId }))
    const send = (to: typeof gateway) =>
      to.post('/api/v1/gateway', envelope, { 'content-type': 'application/json' })
    const asked = await Promise.all([send(gateway), send(second), send(gateway)])
    await attempted(paymentId, 2)
    // As two minutes later: the once-a-minute rule no longer holds anything back.
    await gateway.pool.query('update callbacks set resent_at = resent_at - 120000 where payment_id = $1', [
      paymentId,
    ])
    for (const to of [gateway, second]) asked.push(await send(to))
    assert.deepEqual(
      asked.map(({ data }) => data.queued),
      [1, 1, 1, 1, 1],
    )
    assert.equal((await callbackOf(paymentId))?.attemptsMade, 2)
    const { rows } = await gateway.pool.query(
      'select 1 from callback_queue q join callbacks c using (callback_id) where c.payment_id = $1',
      [paymentId],
    )
    assert.equal(rows.length, 0)
    const { data } = await merchant.call('service.trade.callback', { paymentId })
    assert.equal(data.queued, 1, 'a new request is a new wish')
  })

  test('leaves the planned retry of a waiting callback where it was', async () => {
    const paymentId = await timedOutOrder('/404')
    const before = await attempted(paymentId)
    const { data } = await merchant.call('service.trade.callback', { paymentId })
    assert.equal(data.queued, 1)
    const after = await attempted(paymentId, 2)
    assert.deepEqual(
      [after.state, after.retriesMade, after.nextAttemptAtMs],
      ['waiting', 0, before.nextAttemptAtMs],
    )
  })

  test('another merchant’s order does not exist', async () => {
    const paymentId = await timedOutOrder('/right')
    const other = await gateway.addMerchant()
    const { code } = await other.call('service.trade.callback', { paymentId })
    assert.equal(code, 40400)
  })
})

describe('what is acknowledged at its first attempt', () => {
  async function rowOf(callbackId: string) {
    const { rows } = await gateway.pool.query<{ attempts_made: number; delivered_at: string | null }>(
      'select attempts_made, delivered_at from callbacks where callback_id = $1',
      [callbackId],
    )
    return rows[0]
  }

  test('is written down as that attempt alone, and found as delivered', async () => {
    const paymentId = await timedOutOrder('/right')
    const callback = await attempted(paymentId)
    assert.deepEqual(await rowOf(callback.callbackId), { attempts_made: 0, delivered_at: null })
    const [attempt, ...more] = await history.listAttempts(callback)
    assert.deepEqual(more, [])
    assert.equal(callback.attemptsMade, 1)
    assert.equal(callback.firstAttemptAtMs, attempt?.startedAtMs)
    assert.equal(callback.deliveredAtMs, (attempt?.startedAtMs ?? 0) + (attempt?.durationMs ?? 0))
    const { merchantId } = merchant
    const listed = (state: 'delivered' | 'waiting' | 'exhausted') =>
      history.listCallbacks({ merchantId, paymentId, state }, { limit: 1 })
    const counts = await Promise.all([listed('delivered'), listed('waiting'), listed('exhausted')])
    assert.deepEqual(
      counts.map(({ length }) => length),
      [1, 0, 0],
    )
  })

  test('has it in its own row once it is sent again, or loses its attempts', async () => {
    const resent = await attempted(await timedOutOrder('/right'))
    const pruned = await attempted(await timedOutOrder('/right'))
    await merchant.call('service.trade.callback', { paymentId: resent.paymentId })
    const again = await attempted(resent.paymentId, 2)
    assert.equal((await rowOf(resent.callbackId))?.attempts_made, 2)
    assert.deepEqual(
      [again.firstAttemptAtMs, again.deliveredAtMs],
      [resent.firstAttemptAtMs, resent.deliveredAtMs],
    )
    assert.deepEqual(
      (await history.listAttempts(again)).map(({ attempt, isResend }) => [attempt, isResend]),
      [
        [1, false],
        [2, true],
      ],
    )
    assert.ok((await history.prune({ olderThanMs: Date.now() + 60_000, limit: 1_000 })) >= 1)
    // As when its partition is dropped.
    await gateway.pool.query('delete from callback_attempts where merchant_id = $1 and callback_id = $2', [
      pruned.merchantId,
      pruned.callbackId,
    ])
    assert.deepEqual(await callbackOf(pruned.paymentId), { ...pruned, body: undefined })
  })

  test('says no more that it could not be tried', async () => {
    const paymentId = await timedOutOrder('/right', 'no_live_aes_key')
    const { state, heldReason } = await attempted(paymentId)
    assert.deepEqual([state, heldReason], ['delivered', undefined])
  })
})

test('old texts go in small batches, what waits stays, and what is gone is not sent again', async () => {
  const delivered = await attempted(await timedOutOrder('/right'))
  const waiting = await attempted(await timedOutOrder('/404'))
  const clock = { ...systemClock, now: () => Date.now() + 91 * 86_400_000 }
  const tidy = makePurgeCallbacks({
    history: { ...history, exhaustOverdue: async () => [] },
    makeEmails: () => [],
    historyDays: 90,
    clock,
  })
  const { pruned } = await tidy()
  assert.ok(pruned >= 1)
  assert.equal((await callbackOf(delivered.paymentId))?.body, undefined)
  assert.equal((await callbackOf(waiting.paymentId))?.body, waiting.body)
  assert.equal((await history.listAttempts(waiting)).length, 1)
  assert.equal((await tidy()).pruned, 0)
  const { data } = await merchant.call('service.trade.callback', { paymentId: delivered.paymentId })
  assert.equal(data.queued, 0)
})

describe('tillgate callback', () => {
  async function tillgate(...args: string[]): Promise<{ code: number; output: string }> {
    const { code, out, err } = await runCommand(databaseOf(gateway), ['callback', ...args])
    return { code, output: out + err }
  }

  test('lists by filter, shows every attempt, and sends again with an entry in the audit', async () => {
    const { callbackId, paymentId } = await attempted(await timedOutOrder('/500'))
    const listed = await tillgate('list', '--payment', paymentId, '--state', 'waiting', '--json')
    assert.deepEqual(
      JSON.parse(listed.output).callbacks.map((callback: { callbackId: string }) => callback.callbackId),
      [callbackId],
    )
    const shown = await tillgate('show', callbackId)
    assert.match(shown.output, /500 +oops/)
    const resent = await tillgate('resend', callbackId, '--reason', 'asked by mail')
    assert.equal(resent.code, 0, resent.output)
    await attempted(paymentId, 2)
    const { rows } = await gateway.pool.query("select reason from audit where act = 'callback.resend'")
    assert.deepEqual(rows, [{ reason: 'asked by mail' }])
  })

  test('sends many again, so many a second', async () => {
    const orders = await Promise.all(Array.from({ length: 3 }, () => timedOutOrder('/204')))
    for (const paymentId of orders) await attempted(paymentId)
    const host = new URL(origin).host
    const since = new Date(Date.now() - 60_000).toISOString()
    const sent = await tillgate(
      'resend-matching',
      '--host',
      host,
      '--since',
      since,
      '--event',
      'payment.order.timeout',
      '--rate',
      '2',
      '--reason',
      'outage',
      '--json',
    )
    const { found, queued, lastDueAtMs } = JSON.parse(sent.output)
    assert.ok(found >= 3 && queued >= 3, sent.output)
    const { rows } = await gateway.pool.query<{ due_at: string }>(
      'select due_at from callback_queue where is_resend order by due_at',
    )
    const dues = rows.map((row) => Number(row.due_at))
    assert.ok(dues.every((due, index) => index === 0 || due - (dues[index - 1] ?? 0) >= 500))
    assert.ok(lastDueAtMs >= (dues.at(-1) ?? 0))
  })

  test('without a filter nothing is sent', async () => {
    const { code, output } = await tillgate('resend-matching', '--reason', 'everything')
    assert.equal(code, 1)
    assert.match(output, /Filter by at least one field/)
  })
})
