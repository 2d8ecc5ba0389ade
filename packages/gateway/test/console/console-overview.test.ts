// The overview's figures against the tables themselves: what is counted live, what the worker keeps, what happens when
// counting takes long or fails, and the requests of several processes as one sum.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { OrderStatus } from '@tillgate/protocol'
import { makeCountHours } from '../../src/overview/count-hours.ts'
import { makeReadOverview } from '../../src/overview/read-overview.ts'
import { makeRecentFigures } from '../../src/overview/recent-figures.ts'
import {
  addAmounts,
  countOrders,
  type Figures,
  isOpen,
  noFigures,
  successRate,
} from '../../src/overview/rules/overview.ts'
import { hourMs, sliceMs, startOf } from '../../src/overview/rules/time-slices.ts'
import { makeApiTraffic } from '../../src/overview/store/api-traffic.ts'
import { type CountSlices, makeCountSlices } from '../../src/overview/store/overview-counts.ts'
import { makeOverviewHours } from '../../src/overview/store/overview-hours.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { insertPastOrders, type PastOrder } from '../support/past-orders.ts'

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const { pool } = gateway
const admin = new ConsoleClient(gateway)
await admin.signIn()
const countSlices = makeCountSlices(pool)
const hours = makeOverviewHours(pool)
const traffic = makeApiTraffic(pool)
const nothingIsWrong = (error: unknown): void => assert.fail(String(error))

/** Past all that other tests made, on a clock of its own. */
let nextWeekMs = clock.now() + 60 * 24 * hourMs
function laterWeek(): TestClock {
  nextWeekMs += 60 * 24 * hourMs
  return new TestClock(nextWeekMs)
}

function overviewAt(at: TestClock, count: CountSlices = countSlices, onTrouble = nothingIsWrong) {
  const recent = makeRecentFigures({ countSlices: count, clock: at, onTrouble })
  return makeReadOverview({ recent, hours, traffic, clock: at })
}

async function countAll(at: TestClock): Promise<void> {
  const count = makeCountHours({ hours, countSlices, clock: at })
  for (let waitMs = 0; waitMs < 60_000; ) waitMs = await count()
}

const statuses = ['pending', 'confirming', 'success', 'failed', 'timeout', 'cancelled'] as const

function order(createdAtMs: number, more: Partial<PastOrder> = {}): PastOrder {
  return { merchantId: merchant.merchantId, status: 'success', createdAtMs, ...more }
}

test('the page shows orders, money, rates, times and callbacks of the window', async () => {
  assert.equal((await admin.get('/')).location, '/overview')
  assert.match((await admin.get('/overview?last=hour')).text, /No order was made in this time/)
  const uncounted = (await admin.get('/overview')).text
  assert.match(uncounted, /Nothing is counted yet/)
  assert.match(uncounted, /Not every hour is counted yet/)
  const nowMs = clock.now()
  await insertPastOrders(pool, [
    order(nowMs - 1_000, { amountMinor: 1_234_567n, tookMs: 900, callback: { deliveredAfterMs: 80 } }),
    order(nowMs - 2_000, { amountMinor: 33n, tookMs: 900, callback: { isExhausted: true } }),
    order(nowMs - 3_000, { status: 'failed', currency: 'JPY', amountMinor: 700n }),
    order(nowMs - 4_000, { status: 'pending', currency: 'JPY', amountMinor: 9n }),
  ])
  clock.advance(5_000)
  for (const last of ['hour', 'day', 'week', 'nonsense']) {
    const { status, text } = await admin.get(`/overview?last=${last}`)
    assert.equal(status, 200)
    for (const shown of [
      /<dt>Orders<\/dt><dd>4 <span[^>]*>1 still open/,
      /<dt>Success rate<\/dt><dd>66\.7 % <span[^>]*>of 3 that ended/,
      /<a href="\/orders\?status=success&amp;currency=USD">2<\/a><br><span class="money">12 346\.00&nbsp;USD/,
      /<a href="\/orders\?status=failed&amp;currency=JPY">1<\/a><br><span class="money">700&nbsp;JPY/,
      /<dt>Callbacks delivered<\/dt><dd>50 % <span[^>]*>of 2; half within [78]\d(\.\d+)? ms/,
      /<dt>Creation to payment, median<\/dt><dd>(8|9)\d\d ms/,
    ])
      assert.match(text, shown, last)
    assert.doesNotMatch(text, / style="/, 'the content security policy refuses it')
    if (last === 'hour') assert.doesNotMatch(text, /Not every hour is counted yet/)
  }
  assert.equal((await new ConsoleClient(gateway).get('/overview')).location, '/sign-in?next=%2Foverview')
})

test('a week adds up to what the tables say, to the last order and the last unit', async () => {
  const at = laterWeek()
  const nowMs = at.now() + 47 * 60_000
  const fromMs = startOf(nowMs, 6 * hourMs) - 27 * 6 * hourMs
  const made = Array.from({ length: 3_000 }, (_, index): PastOrder => {
    const status = statuses[(index * 7) % statuses.length] as OrderStatus
    // Also the very first and the very last moment of the window, and those beside them.
    const createdAtMs = Math.floor(fromMs - 2 + ((nowMs - fromMs + 2) * index) / 2_999)
    return order(createdAtMs, {
      status,
      currency: ['USD', 'JPY', 'TND'][index % 3] ?? 'USD',
      amountMinor: BigInt(index) ** 5n + 1n,
      ...(index % 4 === 0 && { callback: index % 8 === 0 ? { deliveredAfterMs: index } : {} }),
    })
  })
  await insertPastOrders(pool, made)
  at.advance(nowMs - at.now())
  await countAll(at)
  const { figures, points, isComplete } = await overviewAt(at)('week')
  const inside = made.filter(({ createdAtMs }) => createdAtMs >= fromMs)
  assert.equal(isComplete, true)
  assert.ok(inside.length < made.length, 'something lies before the window')
  for (const status of statuses) {
    for (const currency of ['USD', 'JPY', 'TND']) {
      const isSame = (each: { status: string; currency?: string }) =>
        each.status === status && each.currency === currency
      const expected = inside.filter(isSame)
      assert.equal(countOrders(figures, isSame), expected.length, `${currency} ${status}`)
      assert.equal(
        addAmounts(figures, isSame),
        expected.reduce((sum, { amountMinor = 0n }) => sum + amountMinor, 0n),
      )
    }
  }
  const told = inside.filter(({ callback, createdAtMs }) => callback && createdAtMs + 20_000 < nowMs)
  const madeCallbacks = figures.callbacks.delivered + figures.callbacks.waiting
  assert.ok(
    Math.abs(madeCallbacks - told.length) <= 1,
    'one is made before the window, or in its last seconds',
  )
  assert.equal(points.length, 28)
  assert.equal(points.at(-1)?.passedMs, nowMs - startOf(nowMs, 6 * hourMs))
})

test('an hour is counted again while something in it is open, ever more seldom, and then no more', async () => {
  const at = laterWeek()
  const hourAt = at.now()
  const [paymentId] = await insertPastOrders(pool, [
    order(hourAt + 1_000, { status: 'pending' }),
    order(hourAt + 2_000),
  ])
  const countedAt = async () => (await hours.read({ fromMs: hourAt, toMs: hourAt + 1 }))[0]?.countedAtMs
  const open = async () => {
    const [hour] = await hours.read({ fromMs: hourAt, toMs: hourAt + 1 })
    return hour && countOrders(hour.figures, isOpen)
  }
  at.advance(hourMs + 59_000)
  await countAll(at)
  assert.equal(await countedAt(), undefined, 'a commit may still be under way')
  at.advance(1_000)
  await countAll(at)
  const counts: number[] = []
  for (let last = await countedAt(), step = 0; step < 100; step++) {
    at.advance(3 * 60_000)
    await makeCountHours({ hours, countSlices, clock: at })()
    const now = await countedAt()
    if (now !== last) counts.push(step)
    last = now
  }
  assert.equal(await open(), 1)
  assert.ok(counts.length > 10 && counts.length < 40, `${counts.length} counts in five hours`)
  await pool.query(
    "update orders set status = 'timeout', completed_at = created_at + 1 where payment_id = $1",
    [paymentId],
  )
  at.advance(2 * hourMs)
  await countAll(at)
  assert.equal(await open(), 0)
  const last = await countedAt()
  at.advance(24 * hourMs)
  await countAll(at)
  assert.equal(await countedAt(), last, 'nothing in it changes any more')
})

test('one process counts at a time, and the claim of one that died runs out', async () => {
  const at = laterWeek()
  assert.equal(await hours.claim({ nowMs: at.now(), untilMs: at.now() + 60_000 }), true)
  assert.equal(await makeCountHours({ hours, countSlices, clock: at })(), 60_000)
  assert.deepEqual(await hours.read({ fromMs: at.now() - 9 * 24 * hourMs, toMs: at.now() }), [])
  at.advance(60_000)
  await countAll(at)
  assert.ok((await hours.read({ fromMs: at.now() - 9 * 24 * hourMs, toMs: at.now() })).length > 160)
})

test('a claim from a clock that ran far ahead holds nobody up', async () => {
  const at = laterWeek()
  const aheadMs = at.now() + 6 * hourMs
  assert.equal(await hours.claim({ nowMs: aheadMs, untilMs: aheadMs + 60_000 }), true)
  assert.equal(await hours.claim({ nowMs: at.now(), untilMs: at.now() + 60_000 }), true)
  assert.equal(await hours.claim({ nowMs: at.now(), untilMs: at.now() + 60_000 }), false)
  await hours.release(at.now() + 60_000)
})

test('an hour that takes too long is put off, and the others are counted', async () => {
  const at = laterWeek()
  const bad = startOf(at.now(), hourMs) - 5 * hourMs
  const asked: number[][] = []
  const count = makeCountHours({
    hours,
    clock: at,
    countSlices: async (range) => {
      asked.push([...range.startsAtMs])
      if (range.startsAtMs.includes(bad)) throw new Error('statement timeout')
      return countSlices(range)
    },
  })
  for (let waitMs = 0; waitMs < 60_000; ) waitMs = await count().catch(() => 0)
  assert.equal(asked.filter((starts) => starts.length === 1 && starts[0] === bad).length, 1, 'once alone')
  const counted = new Set(
    (await hours.read({ fromMs: bad - hourMs, toMs: at.now() })).map((hour) => hour.startsAtMs),
  )
  assert.deepEqual(
    [counted.has(bad), counted.has(bad - hourMs), counted.has(bad + hourMs)],
    [false, true, true],
  )
  const { isComplete, points } = await overviewAt(at)('day')
  assert.equal(isComplete, false)
  assert.equal(points.filter(({ figures }) => figures === undefined).length, 1)
  asked.length = 0
  at.advance(10 * 60_000)
  for (let waitMs = 0; waitMs < 60_000; ) waitMs = await count().catch(() => 0)
  assert.equal(asked.filter((starts) => starts.includes(bad)).length, 1, 'tried again after a while')
})

test('everybody who looks shares one count, and counting has its share of the time', async () => {
  const at = laterWeek()
  let counts = 0
  const recent = makeRecentFigures({
    clock: at,
    onTrouble: nothingIsWrong,
    countSlices: async ({ startsAtMs }) => {
      counts++
      return startsAtMs.map(() => noFigures)
    },
  })
  await Promise.all([recent(), recent(), recent()])
  at.advance(2_900)
  await recent()
  assert.equal(counts, 1)
  at.advance(200)
  await recent()
  assert.equal(counts, 2)
})

test('a page waits a moment for fresher figures, then shows those that it has; after trouble as well', async () => {
  const at = laterWeek()
  const count = {
    answer: (figures: readonly Figures[]): Promise<readonly Figures[]> => Promise.resolve(figures),
  }
  const troubles: unknown[] = []
  const recent = makeRecentFigures({
    clock: at,
    onTrouble: (error) => troubles.push(error),
    countSlices: ({ startsAtMs }) => count.answer(startsAtMs.map(() => noFigures)),
  })
  const firstAtMs = at.now()
  assert.equal((await recent())?.countedAtMs, firstAtMs)
  const slow = Promise.withResolvers<readonly Figures[]>()
  count.answer = () => slow.promise
  at.advance(5_000)
  const waiting = recent()
  at.advance(100)
  assert.equal((await waiting)?.countedAtMs, firstAtMs)
  slow.reject(new Error('statement timeout'))
  at.advance(5_000)
  assert.equal((await recent())?.countedAtMs, firstAtMs)
  assert.equal(troubles.length, 1)
  const failing = overviewAt(
    at,
    () => Promise.reject(new Error('away')),
    () => {},
  )
  const { countedAtMs, isComplete, figures } = await failing('hour')
  assert.deepEqual([countedAtMs, isComplete, successRate(figures)], [undefined, false, undefined])
})

test('requests of all processes are one sum, however often each is written', async () => {
  const at = laterWeek()
  const startsAtMs = startOf(at.now(), sliceMs)
  const counted = (requests: number) => [
    {
      startsAtMs,
      lengthMs: sliceMs,
      traffic: { requests, refused: 2, failed: 1, answeredAfter: new Map([[10, requests]]) },
    },
  ]
  const [one, other] = [randomUUID(), randomUUID()]
  await traffic.write(one, counted(5))
  await traffic.write(one, counted(7))
  await traffic.write(one, counted(7))
  await traffic.write(other, counted(4))
  const { traffic: sum, points } = await overviewAt(at)('hour')
  assert.deepEqual(sum, { requests: 11, refused: 4, failed: 2, answeredAfter: new Map([[10, 11]]) })
  assert.equal(points.at(-1)?.traffic.requests, 11)
  await traffic.removeBefore({ lengthMs: sliceMs, timeMs: startsAtMs + 1 })
  assert.equal((await overviewAt(at)('hour')).traffic.requests, 0)
})

test('the API’s own requests are on the page: answered and refused, and none that only waited', async () => {
  const before = /<dt>API requests<\/dt><dd>(\d+)/
  const requestsOf = async () => Number(before.exec((await admin.get('/overview?last=hour')).text)?.[1])
  const from = await requestsOf()
  await shop.order()
  await merchant.call('service.trade.query', { paymentId: 'nothing' })
  await gateway.post('/api/v1/gateway', '{}')
  for (let tries = 0; tries < 200 && (await requestsOf()) !== from + 3; tries++) clock.advance(10_000)
  const { text } = await admin.get('/overview?last=hour')
  assert.equal(Number(before.exec(text)?.[1]), from + 3)
  assert.match(text, /a second; [2-9] refused, 0 failed/)
  assert.match(text, /<dt>API answers, median<\/dt><dd>[\d.]+ m?s/)
})
