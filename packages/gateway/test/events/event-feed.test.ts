// The operator's feed of events over a real database: positions without gaps however transactions overlap, an order's
// events in their order whatever the clocks say, waiting, and what is said of positions that are no longer there.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type EventName, makeCallbackId, makePaymentId } from '@tillgate/protocol'
import { makePurgeEvents } from '../../src/core/callbacks/events/purge-events.ts'
import { makeReadEvents } from '../../src/core/callbacks/events/read-events.ts'
import { insertEvents, makeEventStore } from '../../src/core/callbacks/events/store/events.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'

const { pool } = await freshDatabase()
const clock = new TestClock(Date.UTC(2026, 10, 16))
const store = makeEventStore(pool)
const feed = makeReadEvents({ events: store, clock })
const dayMs = 86_400_000

function event(eventName: EventName, { paymentId = '', atMs = clock.now() } = {}) {
  return {
    merchantId: '100000000000000001',
    callbackId: makeCallbackId(atMs, randomBytes),
    eventName,
    paymentId: paymentId || makePaymentId(atMs, randomBytes),
    refundId: undefined,
    callbackUrl: undefined,
    body: '{"status":"success"}',
    createdAtMs: atMs,
  }
}

const readAll = async (after: number | undefined, limit = 500) =>
  feed.read({ after, limit, waitMs: 0, reader: 'test' })

test('no feed is read where none is kept', async () => {
  await assert.rejects(readAll(undefined), /EVENT_FEED_DAYS/)
  await store.setKept(true)
  assert.deepEqual(await readAll(undefined), { events: [], next: 0 })
})

test('a transaction that commits late is read after those that came before it, and never missed', async () => {
  const late = event('payment.order.success')
  const held = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const slow = pool.transaction(async (transaction) => {
    await insertEvents(transaction, [late])
    written.resolve()
    await held.promise
  })
  await written.promise
  clock.advance(1_000)
  await insertEvents(pool, [event('payment.order.success'), event('payment.order.success')])
  const first = await readAll(0)
  assert.deepEqual(
    first.events.map(({ position }) => position),
    [1, 2],
  )
  held.resolve()
  await slow
  const second = await readAll(first.next)
  assert.deepEqual(
    second.events.map(({ position, eventId }) => [position, eventId]),
    [[3, late.callbackId]],
  )
})

test('an order’s events come in their order, though the clock of one process is behind', async () => {
  const { next } = await readAll(undefined)
  const paymentId = makePaymentId(clock.now(), randomBytes)
  await insertEvents(pool, [event('payment.order.confirming', { paymentId })])
  await insertEvents(pool, [event('payment.order.success', { paymentId, atMs: clock.now() - 5_000 })])
  await insertEvents(pool, [event('payment.refund.success', { paymentId, atMs: clock.now() - 9_000 })])
  const { events } = await readAll(next)
  assert.deepEqual(
    events.map(({ eventName }) => eventName),
    ['payment.order.confirming', 'payment.order.success', 'payment.refund.success'],
  )
})

test('many who write and read at once leave no gap and no number twice', async () => {
  const { next } = await readAll(undefined)
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await insertEvents(pool, [event('payment.order.success')])
      if (index % 3 === 0) await store.giveNumbers(7)
    }),
  )
  while ((await store.giveNumbers(7)) > 0) {}
  const { events } = await readAll(next)
  assert.deepEqual(
    events.map(({ position }) => position),
    Array.from({ length: 60 }, (_, index) => next + 1 + index),
  )
  const { lastPosition } = await store.readState()
  assert.equal(lastPosition, next + 60)
})

test('who asks with nothing there waits until something happens', async () => {
  const { next } = await readAll((await store.readState()).lastPosition)
  const asked = feed.read({ after: next, limit: 10, waitMs: 25_000, reader: 'test' })
  await insertEvents(pool, [event('payment.order.timeout')])
  const answers: unknown[] = []
  void asked.then((page) => answers.push(page))
  await until(async () => {
    clock.advance(500)
    return answers.length === 1
  })
  assert.equal((await asked).events[0]?.eventName, 'payment.order.timeout')
})

test('what is too old goes, and whoever missed it is told so', async () => {
  const { lastPosition } = await store.readState()
  clock.advance(8 * dayMs)
  await insertEvents(pool, [event('payment.order.success')])
  const tidy = makePurgeEvents({ events: store, feedDays: 7, clock })
  while ((await tidy()).more) {}
  await assert.rejects(readAll(1), new RegExp(`up to ${lastPosition} are not stored`))
  assert.deepEqual(
    (await readAll(undefined)).events.map(({ position }) => position),
    [lastPosition + 1],
  )
  await assert.rejects(readAll(lastPosition + 2), /another or a restored database/)
})

test('what happened while the feed was off is told as missing, however far behind the reader was', async () => {
  const { next } = await readAll(undefined)
  await insertEvents(pool, [event('payment.order.success'), event('payment.order.success')])
  await store.giveNumbers(10)
  await store.setKept(false)
  await store.setKept(false)
  await store.setKept(true)
  await insertEvents(pool, [event('payment.order.timeout')])
  const before = await readAll(next)
  assert.deepEqual(
    before.events.map(({ position }) => position),
    [next + 1, next + 2],
  )
  await assert.rejects(
    readAll(before.next),
    new RegExp(`are not stored.* Continue with after=${next + 3}\\.`),
  )
  const after = await readAll(next + 3)
  assert.deepEqual(
    after.events.map(({ position, eventName }) => [position, eventName]),
    [[next + 4, 'payment.order.timeout']],
  )
})

test('a feed that is switched on for the first time begins at its beginning', async () => {
  const { pool: fresh } = await freshDatabase()
  const events = makeEventStore(fresh)
  await events.setKept(false)
  await events.setKept(true)
  await insertEvents(fresh, [event('payment.order.success')])
  const read = (after: number) =>
    makeReadEvents({ events, clock }).read({ after, limit: 10, waitMs: 0, reader: 'test' })
  assert.deepEqual((await read(0)).next, 1)
  await events.setKept(false)
  await events.setKept(true)
  await insertEvents(fresh, [event('payment.order.success')])
  await assert.rejects(read(1), /some were skipped/)
})

test('whoever begins to read after the feed was switched on again is told of nothing that they missed', async () => {
  const { pool: fresh } = await freshDatabase()
  const events = makeEventStore(fresh)
  const { read } = makeReadEvents({ events, clock })
  for (const isKept of [true, false, true]) await events.setKept(isKept)
  const { next } = await read({ after: undefined, limit: 10, waitMs: 0, reader: 'test' })
  await insertEvents(fresh, [event('payment.order.success')])
  assert.equal((await read({ after: next, limit: 10, waitMs: 0, reader: 'test' })).events.length, 1)
})
