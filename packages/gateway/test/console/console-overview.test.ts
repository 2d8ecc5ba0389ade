// The overview's figures against the tables themselves: what is counted live, what the worker keeps, and what happens
// when counting takes long or fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderStatus } from '@tillgate/protocol'
import { countDueHour } from '../../src/finance/overview/count-due-hour.ts'
import { makeReadOverview } from '../../src/finance/overview/read-overview.ts'
import {
  amountOf,
  callbacksOf,
  countOf,
  hasEnded,
  hourMs,
  ordersOf,
  startOf,
  successRate,
} from '../../src/finance/overview/rules/overview.ts'
import type { OverviewHours } from '../../src/finance/overview/store/overview-hours.ts'
import { until } from '../support/callbacks.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { logTo } from '../support/log.ts'
import { insertPastOrders, type PastOrder } from '../support/past-orders.ts'

const shop = await openCheckoutShop()
const { gateway, clock, merchant } = shop
const { pool, stores } = gateway
const admin = new ConsoleClient(gateway)
await admin.signIn()
const { overviewHours: hours } = stores
const nothingIsWrong = (error: unknown): void => assert.fail(String(error))

/** Past all that other tests made, on a clock of its own. */
let nextWeekMs = clock.now() + 60 * 24 * hourMs
function laterWeek(): TestClock {
  nextWeekMs += 60 * 24 * hourMs
  return new TestClock(nextWeekMs)
}

function overviewAt(at: TestClock, count: OverviewHours['count'] = hours.count, onTrouble = nothingIsWrong) {
  const log = logTo(({ err }) => onTrouble(err))
  return makeReadOverview({ hours: { ...hours, count }, clock: at, log })
}

async function countAll(at: TestClock, counting = hours): Promise<void> {
  for (let waitMs = 0; waitMs < 60_000; ) waitMs = await countDueHour(counting, at.now()).catch(() => 0)
}

/** When the hours of these days were counted. */
async function countedTimes(at: TestClock): Promise<ReadonlyMap<number, number>> {
  const { countedAtMs } = await hours.read({
    fromMs: at.now() - 20 * 24 * hourMs,
    toMs: at.now(),
    pointMs: hourMs,
  })
  return countedAtMs
}

const statuses = ['pending', 'confirming', 'success', 'failed', 'timeout', 'cancelled'] as const

function order(createdAtMs: number, more: Partial<PastOrder> = {}): PastOrder {
  return { merchantId: merchant.merchantId, status: 'success', createdAtMs, ...more }
}

test('the page shows orders, money, rates, times and callbacks of the window', async () => {
  assert.equal((await admin.get('/')).location, '/overview')
  assert.match((await admin.get('/overview?last=hour')).text, /No orders in this period/)
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
  await until(async () => (await admin.get('/overview?last=hour')).text.includes('<dt>Orders</dt><dd>4 '))
  for (const last of ['hour', 'day', 'week', 'nonsense']) {
    const { status, text } = await admin.get(`/overview?last=${last}`)
    assert.equal(status, 200)
    for (const shown of [
      /<dt>Orders<\/dt><dd>4 <span[^>]*>1 open/,
      /<dt>Success rate<\/dt><dd>66\.7% <span[^>]*>of 3 ended/,
      /<a href="\/orders\?status=success&amp;currency=USD">2<\/a><br><span class="money">12,346\.00&nbsp;USD/,
      /<a href="\/orders\?status=failed&amp;currency=JPY">1<\/a><br><span class="money">700&nbsp;JPY/,
      /<dt>Callbacks delivered<\/dt><dd>50% <span[^>]*>of 2</,
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
  const { tallies, points, isComplete } = await overviewAt(at)('week')
  const inside = made.filter(({ createdAtMs }) => createdAtMs >= fromMs)
  assert.equal(isComplete, true)
  assert.ok(inside.length < made.length, 'something lies before the window')
  for (const status of statuses) {
    for (const currency of ['USD', 'JPY', 'TND']) {
      const expected = inside.filter((each) => each.status === status && each.currency === currency)
      const found = ordersOf(tallies, (each) => each.state === status && each.currency === currency)
      assert.equal(countOf(found), expected.length, `${currency} ${status}`)
      assert.equal(
        amountOf(found),
        expected.reduce((sum, { amountMinor = 0n }) => sum + amountMinor, 0n),
      )
    }
  }
  const told = inside.filter(({ callback, createdAtMs }) => callback && createdAtMs + 20_000 < nowMs)
  const madeCallbacks = countOf(callbacksOf(tallies))
  assert.ok(
    Math.abs(madeCallbacks - told.length) <= 1,
    'one is made before the window, or in its last seconds',
  )
  assert.equal(points.length, 28)
  assert.equal(points.at(-1)?.startsAtMs, startOf(nowMs, 6 * hourMs))
})

test('an hour is counted again while something in it is open, ever more seldom, and then no more', async () => {
  const at = laterWeek()
  const hourAt = at.now()
  const [paymentId] = await insertPastOrders(pool, [
    order(hourAt + 1_000, { status: 'pending' }),
    order(hourAt + 2_000),
  ])
  const countedAt = async () => (await countedTimes(at)).get(hourAt)
  const open = async () => {
    const { tallies } = await hours.read({ fromMs: hourAt, toMs: hourAt + 1, pointMs: hourMs })
    return countOf(ordersOf(tallies, (tally) => !hasEnded(tally)))
  }
  at.advance(hourMs + 59_000)
  await countAll(at)
  assert.equal(await countedAt(), undefined, 'a commit may still be under way')
  at.advance(1_000)
  await countAll(at)
  const counts: number[] = []
  for (let last = await countedAt(), step = 0; step < 100; step++) {
    at.advance(3 * 60_000)
    await countDueHour(hours, at.now())
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

test('an hour is counted by one process alone, and one that died or takes too long holds up nothing else', async () => {
  const at = laterWeek()
  const bad = startOf(at.now(), hourMs) - 5 * hourMs
  const asked: number[] = []
  const counting = {
    ...hours,
    count: async (...[hoursMs, options]: Parameters<OverviewHours['count']>) => {
      asked.push(...hoursMs)
      if (hoursMs.includes(bad)) throw new Error('statement timeout')
      return hours.count(hoursMs, options)
    },
  }
  await Promise.all([countAll(at, counting), countAll(at, counting), countAll(at, counting)])
  assert.ok(asked.length > 15 * 24 - 2)
  assert.equal(new Set(asked).size, asked.length, 'each once')
  const counted = await countedTimes(at)
  assert.deepEqual(
    [bad - hourMs, bad, bad + hourMs].map((hour) => counted.has(hour)),
    [true, false, true],
  )
  const { isComplete, points } = await overviewAt(at)('day')
  assert.equal(isComplete, false)
  assert.equal(points.filter(({ tallies }) => tallies === undefined).length, 1)
  asked.length = 0
  at.advance(10 * 60_000)
  await countAll(at, counting)
  assert.equal(asked.filter((hour) => hour === bad).length, 1, 'tried again after a while')
})

test('a window stands beside the one before it, point by point', async () => {
  const at = laterWeek()
  await insertPastOrders(pool, [
    order(at.now() - 30 * hourMs),
    order(at.now() - 30 * hourMs),
    order(at.now() - 6 * hourMs),
  ])
  await countAll(at)
  const { points, tallies } = await overviewAt(at)('day')
  const point = points.find(({ startsAtMs }) => startsAtMs === startOf(at.now(), hourMs) - 6 * hourMs)
  assert.deepEqual([countOf(point?.tallies ?? []), countOf(point?.before ?? [])], [1, 2])
  assert.equal(countOf(tallies), 1)
})

test('everybody who looks shares one count, and counting has its share of the time', async () => {
  const at = laterWeek()
  let counts = 0
  const overview = overviewAt(at, async () => {
    counts++
  })
  await Promise.all([overview('hour'), overview('day'), overview('week')])
  at.advance(2_900)
  await overview('hour')
  assert.equal(counts, 1)
  at.advance(200)
  await overview('hour')
  assert.equal(counts, 2)
})

test('a page waits a moment for fresher figures, then shows those that it has; after trouble as well', async () => {
  const at = laterWeek()
  const troubles: unknown[] = []
  let count: OverviewHours['count'] = hours.count
  const overview = overviewAt(
    at,
    (...args) => count(...args),
    (error) => {
      troubles.push(error)
    },
  )
  const firstAtMs = at.now()
  assert.equal((await overview('hour')).countedAtMs, firstAtMs)
  const slow = Promise.withResolvers<void>()
  count = () => slow.promise
  at.advance(5_000)
  const waiting = overview('hour')
  at.advance(100)
  assert.equal((await waiting).countedAtMs, firstAtMs)
  slow.reject(new Error('statement timeout'))
  at.advance(5_000)
  assert.equal((await overview('hour')).countedAtMs, firstAtMs)
  assert.equal(troubles.length, 1)
  const failing = overviewAt(
    laterWeek(),
    () => Promise.reject(new Error('away')),
    () => {},
  )
  const { countedAtMs, isComplete, tallies } = await failing('hour')
  assert.deepEqual([countedAtMs, isComplete, successRate(tallies)], [undefined, false, undefined])
})
