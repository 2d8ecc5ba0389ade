// Destinations that share a host: what one of them does to itself, to its neighbors and to other merchants there, and
// what only the host itself can do to all of them.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, type TestContext, test } from 'node:test'
import { makeCallbackId } from '@tillgate/protocol'
import type { Post } from '../../src/core/callbacks/deliver-callbacks.ts'
import { makePurgeCallbacks } from '../../src/core/callbacks/purge-callbacks.ts'
import { idAtEndpoint } from '../../src/core/callbacks/rules/endpoint.ts'
import type { Clock } from '../../src/platform/runtime/clock.ts'
import type { Delivery } from '../../src/platform/runtime/delivery.ts'
import { actingAs } from '../support/acting.ts'
import { acknowledged, answered, makeCallbackWorld, until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { testOperations } from '../support/operations.ts'

const clock = new TestClock()
const world = await makeCallbackWorld(clock)
const broken = 'https://shop.example/broken'
const healthy = 'https://shop.example/healthy'

// Before a test and not after it: the worker of the test before ends only after that test's `afterEach`.
beforeEach(() => world.pool.query('truncate callback_queue, callback_hosts, callback_destinations'))

const unreachable = (reason: 'connect' | 'dns' | 'tls' | 'timeout' | 'closed' | 'protocol'): Delivery => ({
  kind: 'unreachable',
  reason,
  detail: '',
  durationMs: 1,
})

interface Sent {
  readonly url: string
  readonly atMs: number
}

/** Starts a worker and keeps what it sends. */
function send(t: TestContext, answerTo: (url: string) => Delivery | Promise<Delivery>) {
  const sent: Sent[] = []
  const post: Post = async ({ url }) => {
    sent.push({ url, atMs: clock.now() })
    return answerTo(url)
  }
  const worker = world.startWorker(t, post)
  return { sent, worker, sentTo: (url: string) => sent.filter((each) => each.url === url).length }
}

/** One after the other, so that the fifth failure in a row is known to be the fifth. */
async function failInARow(url: string, count: number, more: { merchantId?: string } = {}): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { callbackId } = await world.queueCallback(url, more)
    await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
  }
}

const isDelivered = async (callbackId: string): Promise<boolean> =>
  (await world.stored(callbackId)).state === 'delivered'

describe('a destination that fails', () => {
  for (const [what, answer] of [
    ['answers HTTP 500', answered(500)],
    ['answers HTTP 429', answered(429)],
    ['hangs up', unreachable('closed')],
    ['speaks no HTTP', unreachable('protocol')],
    ['accepts the request and never answers', { ...unreachable('timeout'), wasSent: true }],
  ] as const) {
    test(`and ${what} is paused, and a healthy one on the same host is not`, async (t) => {
      const { sentTo } = send(t, (url) => (url === broken ? answer : acknowledged))
      await failInARow(broken, 5)
      const waiting = await world.queueCallback(broken)
      // Nobody moves the clock: whatever waits for the end of a pause waits for ever.
      for (let i = 0; i < 20; i++) {
        const { callbackId } = await world.queueCallback(healthy)
        await until(() => isDelivered(callbackId))
      }
      assert.equal(sentTo(healthy), 20)
      assert.equal(sentTo(broken), 5, 'nothing more goes to the broken destination')
      assert.equal((await world.stored(waiting.callbackId)).attemptsMade, 0)
    })
  }

  test('delays no refund callback to its neighbor', async (t) => {
    send(t, (url) => (url === broken ? answered(500) : acknowledged))
    await failInARow(broken, 5)
    clock.advance(5_000)
    // The probe fails, and the pause grows.
    await world.queueCallback(broken)
    await until(async () => (await world.history.listFailingDestinations())[0]?.pauses === 2)
    const { callbackId } = await world.queueCallback(healthy, { eventName: 'payment.refund.success' })
    await until(() => isDelivered(callbackId))
    const [attempt] = await world.history.listAttempts(await world.stored(callbackId))
    assert.equal((attempt?.startedAtMs ?? 0) - (await world.stored(callbackId)).createdAtMs, 0)
  })

  test('delays no other merchant on its host, not even one with the same address', async (t) => {
    const neighbor = await world.addMerchant('Neighbor')
    let isNeighbor = false
    const { sent } = send(t, () => (isNeighbor ? acknowledged : answered(500)))
    await failInARow(broken, 5)
    isNeighbor = true
    await world.queueCallback(broken)
    const { callbackId } = await world.queueCallback(broken, { merchantId: neighbor })
    await until(() => isDelivered(callbackId))
    assert.equal(sent.length, 6, 'the first merchant’s own callback still waits')
  })

  test('is the same destination whatever its query is', async (t) => {
    const { sent } = send(t, () => answered(500))
    for (let order = 1; order <= 5; order++) await failInARow(`${broken}?order=${order}`, 1)
    await world.queueCallback(`${broken}?order=6`)
    const [failing] = await world.history.listFailingDestinations()
    assert.deepEqual([failing?.url, failing?.failures, failing?.pauses], [broken, 5, 1])
    assert.equal(sent.length, 5)
  })

  test('is probed with one callback at the end of its pause, and gets all that waits once it answers', async (t) => {
    let isBack = false
    const { sentTo } = send(t, (url) => (url === broken && !isBack ? answered(503) : acknowledged))
    await failInARow(broken, 5)
    const waiting: string[] = []
    for (let i = 0; i < 10; i++) waiting.push((await world.queueCallback(broken)).callbackId)
    const pauseEnd = async () => (await world.history.listFailingDestinations())[0]?.pausedUntilMs ?? 0
    assert.equal((await pauseEnd()) - clock.now(), 5_000)
    clock.advance(4_999)
    const { callbackId } = await world.queueCallback(healthy)
    await until(() => isDelivered(callbackId))
    assert.equal(sentTo(broken), 5)
    clock.advance(1)
    await until(async () => (await world.history.listFailingDestinations())[0]?.pauses === 2)
    assert.equal(sentTo(broken), 6)
    assert.equal((await pauseEnd()) - clock.now(), 10_000)
    isBack = true
    clock.advance(10_000)
    await until(async () => {
      clock.advance(5)
      const states = await Promise.all(waiting.map(isDelivered))
      // One of them was the probe that failed, and waits for its own retry.
      return states.filter((each) => each).length === 9
    })
    assert.deepEqual(await world.history.listFailingDestinations(), [])
  })

  test('is listed with its path and its reason, and so is one that rejects, which is not paused', async (t) => {
    const { sentTo } = send(t, (url) => (url.includes('/gone') ? answered(404) : acknowledged))
    await failInARow('https://shop.example/gone?order=1', 7)
    assert.equal(sentTo('https://shop.example/gone?order=1'), 7)
    const [failing] = await world.history.listFailingDestinations()
    assert.deepEqual(
      [failing?.merchantId, failing?.host, failing?.url, failing?.reason, failing?.failures],
      [world.merchantId, 'shop.example', 'https://shop.example/gone', 'HTTP 404', 7],
    )
    assert.equal(failing?.pausedUntilMs, undefined)
    assert.deepEqual(await world.history.listFailingHosts(), [])
    const counts = await world.history.countCallbacks(clock.now())
    assert.deepEqual([counts.failingDestinations, counts.pausedDestinations, counts.failingHosts], [1, 0, 0])
  })
})

describe('what is kept of a destination that fails', () => {
  const tidy = () =>
    makePurgeCallbacks({ history: world.history, makeEmails: () => [], historyDays: 90, clock })()
  const failing = () => world.history.listFailingDestinations()
  const dayMs = 86_400_000

  test('what a paused destination kept from every chance is exhausted in the end, and its neighbor’s is not', async () => {
    const [gone, late] = [await world.queueCallback(broken), await world.queueCallback(healthy)]
    await world.pool.query(
      `insert into callback_destinations (merchant_id, host, destination_id, endpoint_id, url, failures, failing_since,
                                          failed_at, reason, pauses, paused_at, paused_until)
       select merchant_id, host, destination_id, '', $2, 9, $3, $3, 'HTTP 500', 3, $3, $3::bigint + $4
         from callback_queue where callback_id = $1`,
      [gone.callbackId, broken, clock.now(), 8 * dayMs],
    )
    clock.advance(7 * dayMs)
    assert.equal((await tidy()).exhausted, 0)
    clock.advance(1)
    assert.equal((await tidy()).exhausted, 1)
    assert.equal((await world.stored(gone.callbackId)).state, 'exhausted')
    assert.equal((await world.stored(late.callbackId)).state, 'waiting')
  })

  test('it is forgotten a day after its last failure where nothing waits for it, and not before', async (t) => {
    send(t, () => answered(500))
    await failInARow('https://shop.example/orders/1', 1)
    await failInARow('https://shop.example/orders/2', 1)
    const [kept] = (await failing()).filter(({ url }) => url.endsWith('/2'))
    await world.pool.query('delete from callback_queue where destination_id <> $1', [kept?.destinationId])
    await world.pool.query('update callback_queue set due_at = $1', [clock.now() + 30 * dayMs])
    clock.advance(dayMs)
    await tidy()
    assert.equal((await failing()).length, 2)
    clock.advance(1)
    await tidy()
    assert.deepEqual(
      (await failing()).map(({ url }) => url),
      ['https://shop.example/orders/2'],
    )
  })

  test('an operator who resumes a host frees the destinations there', async (t) => {
    const { sentTo } = send(t, () => answered(500))
    await failInARow(broken, 5)
    const other = 'https://other.example/broken'
    await failInARow(other, 5)
    await world.queueCallback(broken)
    await world.queueCallback(other)
    const { hosts } = actingAs(testOperations(world.pool, { clock }).operations, 'test')
    await hosts.resumeHost('shop.example', 'it is mended')
    clock.advance(1_000)
    await until(() => sentTo(broken) === 6)
    assert.equal(sentTo(other), 5)
    assert.ok((await failing()).some(({ url }) => url === other))
    await assert.rejects(hosts.resumeHost('unknown.example', 'test'), /Neither unknown.example/)
  })
})

test('an endpoint that fails delays neither callbackUrl nor another endpoint at the very same address', async (t) => {
  const merchantId = await world.addMerchant('Endpoints')
  const { endpoints } = actingAs(testOperations(world.pool, { clock }).operations, 'test')
  const add = async () => {
    const wanted = { url: healthy, format: 'standard', events: undefined } as const
    return (await endpoints.addEndpoint(merchantId, wanted, 'test')).endpoint
  }
  const [failing, working] = [await add(), await add()]
  const sent: string[] = []
  const ofFailing = new Set<string>()
  world.startWorker(t, async ({ headers }) => {
    const id = headers?.['webhook-id'] ?? 'envelope'
    sent.push(id)
    return ofFailing.has(id) ? answered(500) : acknowledged
  })
  for (let i = 1; i <= 8; i++) {
    // Before the worker may send it.
    const orderId = makeCallbackId(clock.now(), randomBytes)
    ofFailing.add(idAtEndpoint(orderId, failing.endpointId))
    await world.queueCallback(healthy, { merchantId, callbackId: orderId })
    await until(async () => (await world.stored(orderId)).state === 'delivered')
    await until(() => isDelivered(idAtEndpoint(orderId, working.endpointId)))
    if (i <= 5)
      await until(
        async () => (await world.stored(idAtEndpoint(orderId, failing.endpointId))).attemptsMade === 1,
      )
  }
  assert.equal(sent.filter((id) => ofFailing.has(id)).length, 5)
  const [listed] = await world.history.listFailingDestinations()
  assert.deepEqual([listed?.endpointId, listed?.url], [failing.endpointId, healthy])
})

test('what a gateway of the release before queued is sent, and has the health of its merchant and host', async (t) => {
  const made = await Promise.all([broken, healthy, healthy].map((url) => world.queueCallback(url)))
  await world.pool.query('update callback_queue set destination_id = default')
  const { sent } = send(t, (url) => (url === broken ? answered(500) : acknowledged))
  await until(async () =>
    (await Promise.all(made.slice(1).map((each) => isDelivered(each.callbackId)))).every(Boolean),
  )
  await until(async () => (await world.stored(made[0]?.callbackId ?? '')).attemptsMade === 1)
  assert.equal(sent.length, 3)
})

describe('a host that fails', () => {
  for (const reason of ['connect', 'dns', 'tls', 'timeout'] as const) {
    test(`by ${reason} is paused for every destination and merchant`, async (t) => {
      const neighbor = await world.addMerchant(`Neighbor ${reason}`)
      const { sent } = send(t, () => unreachable(reason))
      await failInARow(broken, 3)
      await failInARow(healthy, 2, { merchantId: neighbor })
      const [host] = await world.history.listFailingHosts()
      assert.deepEqual([host?.host, host?.failures, host?.pauses], ['shop.example', 5, 1])
      assert.deepEqual(await world.history.listFailingDestinations(), [], 'the host is at fault, not they')
      await world.queueCallback(broken)
      await world.queueCallback(healthy)
      await world.queueCallback(healthy, { merchantId: neighbor })
      clock.advance(4_999)
      assert.equal(sent.length, 5)
    })
  }

  test('is probed on the turn of any destination, and one answer frees all of them', async (t) => {
    let isBack = false
    const { sent, sentTo } = send(t, (url) =>
      isBack ? (url === broken ? answered(500) : acknowledged) : unreachable('connect'),
    )
    await failInARow(broken, 5)
    const waiting = await world.queueCallback(healthy)
    isBack = true
    clock.advance(5_000)
    // The callbacks that failed wait for their own retries: the probe is that of a destination that never failed.
    await until(() => isDelivered(waiting.callbackId))
    assert.equal(sent.length, 6)
    assert.deepEqual(await world.history.listFailingHosts(), [])
    await failInARow(broken, 1)
    assert.equal(sentTo(broken), 6)
  })

  test('is back when any of its destinations answers, even with HTTP 500', async (t) => {
    let answer: Delivery = unreachable('connect')
    send(t, () => answer)
    await failInARow(broken, 4)
    answer = answered(500)
    await failInARow(broken, 1)
    assert.deepEqual(await world.history.listFailingHosts(), [])
    assert.equal((await world.history.listFailingDestinations())[0]?.failures, 1)
  })
})

test('a slow destination leaves slots of its host to a fast one', async (t) => {
  const hanging: (() => void)[] = []
  let isOver = false
  t.after(() => {
    isOver = true
    for (const end of hanging) end()
  })
  const { sentTo } = send(t, (url) =>
    url === healthy || isOver
      ? acknowledged
      : new Promise<Delivery>((resolve) => hanging.push(() => resolve(acknowledged))),
  )
  const first = await world.queueCallback(healthy)
  await until(() => isDelivered(first.callbackId))
  for (let i = 0; i < 300; i++) await world.queueCallback(broken)
  await until(() => hanging.length >= 8)
  for (let i = 0; i < 50; i++) {
    const { callbackId } = await world.queueCallback(healthy)
    await until(() => isDelivered(callbackId))
  }
  assert.equal(sentTo(healthy), 51)
})

test('a thousand addresses that are due together are sent without waiting for further looks', async (t) => {
  const { pool, merchantId } = world
  await world.queueCallback('https://many.example/')
  await pool.query(
    `with made as (
       insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at,
                              next_attempt_at)
       select $1, gen_random_uuid(), (select payment_id from orders where merchant_id = $1 limit 1), 'e' || n,
              'https://many.example/orders/' || n, 'many.example', '{}', $2, $2
         from generate_series(1, 1500) as n
       returning callback_id)
     insert into callback_queue (callback_id, merchant_id, host, due_at, destination_id)
     select callback_id, $1, 'many.example', $2, callback_id from made`,
    [merchantId, clock.now()],
  )
  // Moments pass when they are waited for, and a second never does: it looks once, and again only because there is more.
  let nowMs = clock.now()
  const momentary: Clock = {
    now: () => nowMs,
    wait(durationMs, signal) {
      if (durationMs > 25) return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      nowMs += durationMs
      return Promise.resolve()
    },
  }
  let sent = 0
  world.startWorker(
    t,
    async () => {
      sent++
      return acknowledged
    },
    { clock: momentary },
  )
  await until(() => sent === 1_501)
})

test('addresses that differ for every order share what is known of their host', async (t) => {
  const { sent } = send(t, () => acknowledged)
  const made: string[] = []
  for (let order = 0; order < 200; order++)
    made.push((await world.queueCallback(`https://shop.example/orders/${order}`)).callbackId)
  await until(async () => (await world.history.countCallbacks(clock.now())).waiting === 0)
  assert.equal(new Set(sent.map(({ url }) => url)).size, 200)
})
