// The queue under everything that could make it unfair, slow or wrong: dead hosts, a million rows, two workers,
// lost claims, keys that are gone.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { reachingAll } from '../../src/core/authority/context.ts'
import { makePurgeCallbacks } from '../../src/core/callbacks/purge-callbacks.ts'
import { makeManageCallbacks } from '../../src/core/callbacks/resend-callbacks.ts'
import { claimStatement } from '../../src/core/callbacks/store/callback-queue.ts'
import type { Delivery } from '../../src/platform/runtime/delivery.ts'
import { actingAs } from '../support/acting.ts'
import { acknowledged, answered, makeCallbackWorld, until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { testOperations } from '../support/operations.ts'

/** Of what a gateway of the release before has queued. */
const nilId = '00000000-0000-0000-0000-000000000000'
const refused = { kind: 'unreachable', reason: 'connect', detail: 'ECONNREFUSED', durationMs: 1 } as const

function hostOf(url: string): string {
  return new URL(url).host
}

const clock = new TestClock()
const world = await makeCallbackWorld(clock)

describe('dead hosts', () => {
  test('a thousand hosts that hang do not hold up a healthy one', async (t) => {
    const good = await world.addMerchant('Good')
    const hanging: (() => void)[] = []
    const delivered: string[] = []
    let isOver = false
    t.after(() => {
      isOver = true
      for (const end of hanging) end()
    })
    const timedOut: Delivery = { ...refused, reason: 'timeout' }
    const worker = world.startWorker(t, ({ url }) => {
      if (hostOf(url) === 'good.example') {
        delivered.push(url)
        return Promise.resolve(acknowledged)
      }
      if (isOver) return Promise.resolve(timedOut)
      return new Promise<Delivery>((resolve) => hanging.push(() => resolve(timedOut)))
    })
    // The good host is known; then a thousand others get three callbacks each, all due before its next ones.
    await world.queueCallback('https://good.example/first', { merchantId: good })
    await until(() => delivered.length === 1)
    await world.queueCallback('https://0.dead.example/')
    await world.pool.query(
      `with made as (
         insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body,
                                created_at, next_attempt_at)
         select $1, gen_random_uuid(), (select payment_id from orders where merchant_id = $1 limit 1),
                'e' || n || '.' || k, 'https://' || n || '.dead.example/', n || '.dead.example', '{}', $2, $2
           from generate_series(1, 1000) as n, generate_series(1, 3) as k
         returning callback_id, host)
       insert into callback_queue (callback_id, merchant_id, host, due_at)
       select callback_id, $1, host, $2 from made`,
      [world.merchantId, clock.now() - 60_000],
    )
    clock.advance(1_000)
    // All that one merchant may have under way hangs.
    await until(() => hanging.length >= 256)
    for (let i = 0; i < 50; i++) await world.queueCallback(`https://good.example/${i}`, { merchantId: good })
    await until(() => delivered.length === 51)
    assert.equal(worker.counts().unreachable, 0, 'the dead ones still hang')
    await world.pool.query('truncate callback_queue, callback_hosts, callback_destinations')
  })

  test('a host that fails five times is paused, probed with one, and back in full after a success', async (t) => {
    let isBack = false
    const sent: number[] = []
    const worker = world.startWorker(t, async () => {
      sent.push(clock.now())
      return isBack ? acknowledged : refused
    })
    const made: string[] = []
    for (let i = 0; i < 30; i++) {
      made.push((await world.queueCallback('https://down.example/callbacks')).callbackId)
      // One after the other, so that it is known which of them are failures before the pause.
      if (i < 5) await until(async () => (await world.stored(made[i] ?? '')).attemptsMade === 1)
    }
    const [host] = await world.history.listFailingHosts()
    assert.deepEqual([host?.host, host?.failures, host?.pauses], ['down.example', 5, 1])
    assert.equal(worker.counts().hostPauses, 1)
    const counts = await world.history.countCallbacks(clock.now())
    assert.deepEqual([counts.pausedHosts, counts.waiting], [1, 30])
    assert.equal(sent.length, 5)

    clock.advance((host?.pausedUntilMs ?? 0) - clock.now() - 1)
    assert.equal(sent.length, 5, 'nothing is sent during the pause')
    clock.advance(1)
    await until(async () => (await world.history.listFailingHosts())[0]?.pauses === 2)
    assert.equal(sent.length, 6, 'one is sent to see')

    isBack = true
    const [again] = await world.history.listFailingHosts()
    assert.equal((again?.pausedUntilMs ?? 0) - clock.now(), 10_000)
    clock.advance(10_000)
    await until(() => sent.length > 6)
    // The five that failed first, and the probe, wait for their own retries; all others go at once, or, where the
    // worker looked just before the success was written down, with its next look.
    await until(async () => {
      clock.advance(5)
      const filter = { state: 'delivered', host: 'down.example' } as const
      return (await world.history.listCallbacks(filter, { limit: 100 })).length >= 24
    })
    assert.deepEqual(await world.history.listFailingHosts(), [])
    const first = await world.stored(made[0] ?? '')
    if (first.state === 'waiting') {
      const offsetMs = (first.nextAttemptAtMs ?? 0) - (first.firstAttemptAtMs ?? 0)
      assert.ok(offsetMs >= 27_000 && offsetMs <= 33_000, 'the ladder is as it was')
    }
    clock.advance(60_000)
    await until(async () => (await world.history.countCallbacks(clock.now())).waiting === 0)
    assert.equal(
      sent.length,
      6 + 30,
      'every callback arrived, and none was sent more often than its failures',
    )
  })

  test('an answer that was under way when an operator paused its host does not end the pause', async (t) => {
    await world.pool.query('truncate callback_queue, callback_hosts, callback_destinations')
    const { pauseHost } = actingAs(testOperations(world.pool, { clock }).operations, 'test').hosts
    const answers: (() => void)[] = []
    const sent: string[] = []
    world.startWorker(t, ({ url }) => {
      sent.push(url)
      if (url.endsWith('/fails')) return Promise.resolve(refused)
      if (!url.endsWith('/slow')) return Promise.resolve(acknowledged)
      return new Promise<Delivery>((resolve) => answers.push(() => resolve(acknowledged)))
    })
    const failing = await world.queueCallback('https://paused.example/fails')
    await until(async () => (await world.stored(failing.callbackId)).attemptsMade === 1)
    const slow = await world.queueCallback('https://paused.example/slow')
    await until(() => answers.length === 1)
    clock.advance(1)
    await pauseHost({ host: 'paused.example', forMs: 20_000, reason: 'test' })
    for (const answer of answers) answer()
    await until(async () => (await world.stored(slow.callbackId)).state === 'delivered')
    const [host] = await world.history.listFailingHosts()
    assert.equal(host?.pausedUntilMs, clock.now() + 20_000)
    await world.queueCallback('https://paused.example/later')
    clock.advance(19_999)
    assert.ok(!sent.includes('https://paused.example/later'))
    clock.advance(1)
    await until(async () => (await world.history.listFailingHosts()).length === 0)
    assert.ok(sent.includes('https://paused.example/later'))
    await world.pool.query('truncate callback_queue, callback_hosts, callback_destinations')
  })

  test('what a paused host kept from every chance is exhausted in the end, not forgotten', async () => {
    await world.pool.query('truncate callback_queue, callback_hosts, callback_destinations')
    const { callbackId } = await world.queueCallback('https://gone.example/')
    const late = await world.queueCallback('https://late.example/')
    await world.pool.query(
      `insert into callback_hosts (host, failures, failing_since, reason, pauses, paused_at, paused_until)
       values ('gone.example', 9, $1, 'connect', 3, $1, $2)`,
      [clock.now(), clock.now() + 8 * 86_400_000],
    )
    const tidy = makePurgeCallbacks({ history: world.history, makeEmails: () => [], historyDays: 90, clock })
    clock.advance(7 * 86_400_000)
    assert.equal((await tidy()).exhausted, 0)
    clock.advance(1)
    assert.equal((await tidy()).exhausted, 1)
    assert.equal((await world.stored(callbackId)).state, 'exhausted')
    assert.equal((await world.stored(late.callbackId)).state, 'waiting', 'what nobody kept back is only late')
    const manage = makeManageCallbacks({
      stores: world,
      clock,
      random: randomBytes,
    })
    await manage.resendOne(reachingAll('test'), { callbackId }, 'it never had a chance')
    const { rowCount } = await world.pool.query('select from callback_queue where callback_id = $1', [
      callbackId,
    ])
    assert.equal(rowCount, 1)
  })
})

describe('two hundred thousand waiting callbacks', () => {
  const nowMs = clock.now()

  before(async () => {
    await world.pool.query('truncate callback_queue, callback_hosts, callback_destinations')
    // Half of them due at one dead and paused host, the others in a thousand lanes and due tomorrow.
    await world.pool.query(
      `insert into callback_queue (callback_id, merchant_id, host, due_at)
     select gen_random_uuid(), $1, 'dead.example', $2::bigint - 1000000 + n from generate_series(1, 100000) as n`,
      [world.merchantId, nowMs],
    )
    await world.pool.query(
      `insert into callback_queue (callback_id, merchant_id, host, due_at)
     select gen_random_uuid(), $1, (n % 1000) || '.example', $2::bigint + 86400000 + n from generate_series(1, 100000) as n`,
      [world.merchantId, nowMs],
    )
    await world.pool.query(
      `insert into callback_hosts (host, failures, failing_since, reason, pauses, paused_at, paused_until)
     values ('dead.example', 9, $1, 'connect', 3, $1, $1::bigint + 60000)`,
      [nowMs],
    )
    await world.pool.query('analyze callback_queue')
  })

  after(() => world.pool.query('truncate callback_queue, callback_hosts, callback_destinations'))

  async function plansOf(statement: { text: string; values: readonly unknown[] }): Promise<string> {
    const { rows } = await world.pool.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers, costs off) ${statement.text}`,
      statement.values,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  test('an index decides what is claimed', async () => {
    const request = {
      lanes: ['7.example', '8.example', 'dead.example'].map((host) => ({
        merchantId: world.merchantId,
        host,
        destinationId: nilId,
        most: 32,
      })),
      nowMs: nowMs + 2 * 86_400_000,
      claimId: randomUUID(),
      claimedUntilMs: nowMs + 3 * 86_400_000,
      probeUntilMs: nowMs + 3 * 86_400_000,
    }
    const plan = await plansOf(claimStatement(request))
    assert.match(plan, /Index Scan using callback_queue_lines on callback_queue/)
    assert.match(plan, /Tid Scan on callback_queue/)
    assert.doesNotMatch(plan, /Seq Scan on callback_queue/)
    assert.doesNotMatch(plan, /Sort Key: q\.due_at/)
    // What is read does not grow with the queue: some pages for each of some 96 rows.
    const pages = Math.max(
      ...[...plan.matchAll(/shared hit=(\d+)(?: read=(\d+))?/g)].map(
        ([, hit, read]) => Number(hit) + Number(read ?? 0),
      ),
    )
    assert.ok(pages < 3_000, `${pages} pages were touched`)
  })

  test('a healthy lane behind a hundred thousand due ones is found and served', async (t) => {
    const sent: string[] = []
    const callback = await world.queueCallback('https://zz.example/callbacks')
    const heapBefore = process.memoryUsage().heapUsed
    const worker = world.startWorker(t, async ({ url }) => {
      sent.push(url)
      return acknowledged
    })
    // The worker was not told: it finds the lane by looking.
    await until(async () => {
      clock.advance(25)
      return (await world.stored(callback.callbackId)).state === 'delivered'
    })
    assert.deepEqual(sent, ['https://zz.example/callbacks'])
    assert.equal(worker.counts().inFlight, 0)
    const grownBytes = process.memoryUsage().heapUsed - heapBefore
    assert.ok(grownBytes < 50_000_000, `${grownBytes} bytes for all that waits`)
  })
})

describe('claims', () => {
  test('two workers over one queue never send the same callback', async (t) => {
    const seen = new Map<string, number>()
    const perWorker = [0, 0]
    for (const which of [0, 1]) {
      world.startWorker(t, async ({ body }) => {
        const { id } = JSON.parse(body)
        seen.set(id, (seen.get(id) ?? 0) + 1)
        perWorker[which] = (perWorker[which] ?? 0) + 1
        return acknowledged
      })
    }
    const made: string[] = []
    for (let i = 0; i < 120; i++)
      made.push((await world.queueCallback(`https://${i % 7}.example/`)).callbackId)
    await until(async () => (await world.history.countCallbacks(clock.now())).waiting === 0)
    assert.deepEqual([...seen.keys()].sort(), made.sort())
    assert.deepEqual([...new Set(seen.values())], [1])
    assert.ok(
      perWorker.every((count) => count > 0),
      `both work: ${perWorker.join(' and ')}`,
    )
  })

  test('a worker whose claim ran out writes nothing, and the next one sends with the same id', async (t) => {
    const { callbackId } = await world.queueCallback('https://slow.example/')
    const first = Promise.withResolvers<Delivery>()
    const bodies: string[] = []
    // Its time stands still from the first attempt on, and goes on when the test is over, so that it can stop.
    const standing = new TestClock(clock.now())
    t.after(() => {
      first.resolve(acknowledged)
      standing.advance(120_000)
    })
    const slow = world.startWorker(
      t,
      ({ body }) => {
        bodies.push(body)
        return first.promise
      },
      { clock: standing },
    )
    await until(() => bodies.length === 1)
    // That is longer than its claim holds; another takes over.
    clock.advance(61_000)
    const quick = world.startWorker(t, async ({ body }) => {
      bodies.push(body)
      return answered(404)
    })
    await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
    first.resolve(acknowledged)
    await until(() => slow.counts().claimsLost === 1)
    const stored = await world.stored(callbackId)
    assert.deepEqual([stored.state, stored.lastHttpStatus, stored.attemptsMade], ['waiting', 404, 1])
    assert.equal(quick.counts().refused, 1)
    const ids = await Promise.all(bodies.map(async (body) => (await world.open(body)).id))
    assert.deepEqual(ids, [callbackId, callbackId])
  })

  test('a worker that is stopped gives back what it had not begun', async (t) => {
    const held = Promise.withResolvers<Delivery>()
    t.after(() => held.resolve(acknowledged))
    let sent = 0
    const worker = world.startWorker(t, () => {
      sent++
      return held.promise
    })
    for (let i = 0; i < 40; i++) await world.queueCallback(`https://many${i}.example/`)
    await until(() => sent > 0)
    const stopped = worker.stop()
    held.resolve(acknowledged)
    await stopped
    const { rows } = await world.pool.query('select from callback_queue where claim_id is not null')
    assert.equal(rows.length, 0)
    await world.pool.query('truncate callback_queue')
  })

  test('a merchant without a live AES key is told once it has one; meanwhile nothing is used up', async (t) => {
    const merchantId = await world.addMerchant('Keyless')
    const { keys } = await world.manage.showMerchant(merchantId)
    const aes = keys.find(({ kind }) => kind === 'aes')
    await world.manage.revokeKey({ merchantId, keyId: aes?.keyId ?? '', reason: 'lost', confirm: true })
    clock.advance(10_000)
    const bodies: string[] = []
    const worker = world.startWorker(t, async ({ body }) => {
      bodies.push(body)
      return acknowledged
    })
    const { callbackId } = await world.queueCallback('https://keyless.example/', { merchantId })
    await until(async () => (await world.stored(callbackId)).heldReason !== undefined)
    const held = await world.stored(callbackId)
    assert.deepEqual([held.state, held.heldReason, held.attemptsMade], ['waiting', 'no_live_aes_key', 0])
    assert.equal(worker.counts().held, 1)
    await world.manage.addKey(merchantId, { kind: 'aes' })
    clock.advance(10 * 60_000)
    await until(async () => (await world.stored(callbackId)).state === 'delivered')
    assert.equal(bodies.length, 1)
  })

  test('a host taken off the merchant’s list gets no further attempt until it is listed again', async (t) => {
    const merchantId = await world.addMerchant('Moved')
    const list = (...callbackHosts: string[]) =>
      world.manage.changeMerchant(merchantId, { callbackHosts }, { reason: 'moved' })
    await list('old.example', 'new.example')
    const urls: string[] = []
    world.startWorker(t, async ({ url }) => {
      urls.push(url)
      return url.includes('old') && urls.length === 1 ? { ...acknowledged, httpStatus: 500 } : acknowledged
    })
    const { callbackId } = await world.queueCallback('https://old.example/', { merchantId })
    await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
    await list('new.example')
    clock.advance(10 * 60_000)
    await until(async () => (await world.stored(callbackId)).heldReason !== undefined)
    const held = await world.stored(callbackId)
    assert.deepEqual([held.state, held.heldReason, held.attemptsMade], ['waiting', 'host_not_on_list', 1])
    const { callbackId: allowed } = await world.queueCallback('https://new.example/', { merchantId })
    await until(async () => (await world.stored(allowed)).state === 'delivered')
    assert.deepEqual(urls, ['https://old.example/', 'https://new.example/'])
    await list('old.example')
    clock.advance(10 * 60_000)
    await until(async () => (await world.stored(callbackId)).state === 'delivered')
    assert.equal((await world.stored(callbackId)).heldReason, undefined)
  })

  test('a resend that is held back moves no retry', async (t) => {
    const merchantId = await world.addMerchant('Held')
    const list = (...callbackHosts: string[]) =>
      world.manage.changeMerchant(merchantId, { callbackHosts }, { reason: 'test' })
    world.startWorker(t, async () => answered(404))
    const { callbackId } = await world.queueCallback('https://held.example/', { merchantId })
    const attempted = (count: number) =>
      until(async () => (await world.stored(callbackId)).attemptsMade === count)
    for (let attempts = 1; attempts <= 4; attempts++) {
      await attempted(attempts)
      if (attempts === 4) break
      clock.advance(((await world.stored(callbackId)).nextAttemptAtMs ?? 0) - clock.now())
    }
    const { nextAttemptAtMs: planned, retriesMade } = await world.stored(callbackId)
    assert.ok((planned ?? 0) > clock.now() + 60 * 60_000)
    await list('other.example')
    clock.advance(60_000)
    const manage = makeManageCallbacks({ stores: world, clock, random: randomBytes })
    await manage.resendOne(reachingAll('test'), { callbackId }, 'test')
    await until(async () => {
      clock.advance(1_000)
      return (await world.stored(callbackId)).heldReason !== undefined
    })
    assert.equal((await world.stored(callbackId)).nextAttemptAtMs, planned)
    await list('held.example')
    clock.advance(11 * 60_000)
    await attempted(5)
    const after = await world.stored(callbackId)
    assert.deepEqual([after.nextAttemptAtMs, after.retriesMade], [planned, retriesMade])
  })

  test('a suspended merchant is still told what happened', async (t) => {
    const merchantId = await world.addMerchant('Suspended')
    await world.manage.suspendMerchant(merchantId, 'test')
    world.startWorker(t, async () => acknowledged)
    const { callbackId } = await world.queueCallback('https://suspended.example/', { merchantId })
    await until(async () => (await world.stored(callbackId)).state === 'delivered')
  })
})

test('a callback is sent at once after its commit, without waiting for the next look', async (t) => {
  // Nobody moves its time: the next look never comes.
  const world = await makeCallbackWorld(new TestClock())
  let sent = 0
  world.startWorker(t, async () => {
    sent++
    return acknowledged
  })
  for (let queued = 1; queued <= 20; queued++) {
    await world.queueCallback('https://quick.example/')
    await until(() => sent === queued)
  }
})
