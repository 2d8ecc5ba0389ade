// Tables that are cut by time: partitions made ahead, dropped whole when they are past, and an insert that never fails.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { makeCallbackId } from '@tillgate/protocol'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import { makePartitions, missingRanges, type Partition } from '../../src/platform/database/partitions.ts'
import { openPool, type Pool } from '../../src/platform/database/pool.ts'
import type { LoggedRequest } from '../../src/platform/request-log/store/request-log.ts'
import { TestClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'

const dayMs = 86_400_000
const rangeMs = 30 * dayMs
/** The first day of a range, years after the migrations ran. */
const startMs = 700 * rangeMs
const merchantId = '123456789012345678'
/** The partition that begins so many days after the start. */
const nameAt = (table: string, day: number) =>
  `${table}_${new Date(startMs + day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`
const signal = new AbortController().signal

async function open() {
  const { pool, connection } = await freshDatabase()
  const clock = new TestClock(startMs)
  const { stores, operations } = testOperations(pool, { clock })
  const namesOf = async (table: 'callback_attempts' | 'request_log') =>
    (await stores.partitions.list(table)).map(({ name }) => name)
  return { pool, connection, clock, stores, operations, namesOf }
}

/** Delivered at the first attempt, which alone says so. */
async function addDelivered(pool: Pool, timeMs: number): Promise<string> {
  const callbackId = makeCallbackId(timeMs, randomBytes)
  const paymentId = callbackId.replaceAll('-', '')
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at) values ($1, 'Shop', 'active', 1)
         on conflict do nothing`,
    [merchantId],
  )
  await pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                         payment_time, expires_at, content, created_at)
     values ($1, $2, $2, 'timeout', 'WEB', 100, 'USD', 1, 300001, '{}', 1)`,
    [merchantId, paymentId],
  )
  await pool.query(
    `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at)
     values ($1, $2, $3, 'payment.order.timeout', 'https://shop.example', 'shop.example', '{}', $4)`,
    [merchantId, callbackId, paymentId, timeMs],
  )
  await addAttempt(pool, callbackId, timeMs)
  return callbackId
}

async function addAttempt(pool: Pool, callbackId: string, timeMs: number): Promise<void> {
  await pool.query(
    `insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, is_resend)
     values ($1, $2, 1, $3, 7, 'acknowledged', false)`,
    [merchantId, callbackId, timeMs],
  )
}

const countOf = async (pool: Pool, table: string) => (await pool.query(`select 1 from ${table}`)).rowCount

const requestAt = (answeredAtMs: number): LoggedRequest => ({
  requestId: String(answeredAtMs),
  answeredAtMs,
  merchantId: undefined,
  isOpened: false,
  verb: 'GET',
  route: '/',
  method: undefined,
  httpStatus: 404,
  code: undefined,
  field: undefined,
  message: undefined,
  durationMs: 1,
})

test('what is missing is filled up around what is there', () => {
  const of = (partitions: Pick<Partition, 'fromMs' | 'untilMs'>[], nowMs = startMs) =>
    missingRanges(partitions, { nowMs, rangeDays: 30 }).map(({ fromMs, untilMs }) => [
      (fromMs - startMs) / dayMs,
      (untilMs - startMs) / dayMs,
    ])
  const until = (day: number) => [{ fromMs: Number.NEGATIVE_INFINITY, untilMs: startMs + day * dayMs }]
  const three = [
    [0, 30],
    [30, 60],
    [60, 90],
  ]
  assert.deepEqual(of([]), three)
  assert.deepEqual(of([], startMs + rangeMs - 1), three)
  assert.deepEqual(of([], startMs - 1)[0], [-30, 0])
  assert.deepEqual(of(until(0)), three)
  assert.deepEqual(of(until(60)), three.slice(2))
  assert.deepEqual(of(until(90)), [])
  assert.deepEqual(of(until(400)), [])
  // Ranges of another length, as a version before or after may have made them.
  assert.deepEqual(of([...until(7), { fromMs: startMs + 40 * dayMs, untilMs: startMs + 61 * dayMs }]), [
    [7, 30],
    [30, 40],
    [61, 90],
  ])
})

test('several gateways at once make each partition once, and writers go on', async () => {
  const { pool, connection, clock, namesOf } = await open()
  const pools = Array.from({ length: 4 }, () => openPool(connection, { max: 1 }))
  after(() => Promise.all(pools.map((each) => each.close())))
  const before = await namesOf('callback_attempts')
  const keep = async (): Promise<readonly string[]> => {
    const kept = await Promise.all(
      pools.map((each) =>
        makePartitions(each).keep('callback_attempts', { nowMs: clock.now(), keptSinceMs: 0 }),
      ),
    )
    const made = kept.flatMap((each) => each.made)
    // On a slow machine some gave way to the others.
    return kept.some(({ isBusy }) => isBusy) ? [...made, ...(await keep())] : made
  }
  let isKept = false
  const write = async () => {
    let written = 0
    for (; !isKept; written++) await addDelivered(pool, startMs + (written % 3) * rangeMs)
    return written
  }
  const keeping = keep().finally(() => (isKept = true))
  const [made, ...written] = await Promise.all([keeping, write(), write(), write()])
  const names = [0, 30, 60].map((day) => nameAt('callback_attempts', day))
  assert.deepEqual(made, names)
  assert.deepEqual(await namesOf('callback_attempts'), [...before, ...names])
  assert.deepEqual(await keep(), [])
  assert.equal(
    await countOf(pool, 'callback_attempts'),
    written.reduce((sum, count) => sum + count),
  )
  assert.equal(await countOf(pool, 'callback_attempts_default'), 0)
})

test('a range goes when all of it is past, whole and alone; deliveries stay known, and what is asked for again stays', async () => {
  const { pool, clock, stores, operations, namesOf } = await open()
  await operations.purgePartitions()
  const times = [0, 29, 30, 60].map((day) => startMs + day * dayMs)
  const [first = '', again = '', second = '', third = ''] = await Promise.all(
    times.map((timeMs) => addDelivered(pool, timeMs)),
  )
  await stores.requestLog.record([requestAt(startMs), requestAt(startMs + dayMs)])

  clock.advance(8 * dayMs - 1)
  const early = await operations.prune(signal)
  assert.deepEqual(early.partitions, { dropped: [], busy: [] })
  clock.advance(1)
  assert.deepEqual((await operations.prune(signal)).partitions.dropped, [nameAt('request_log', 0)])
  assert.deepEqual(
    (await stores.requestLog.list({}, { limit: 9 })).map(({ requestId }) => requestId),
    [String(startMs + dayMs)],
  )

  clock.advance(112 * dayMs - 1)
  await pool.query('update callbacks set resent_at = $1 where callback_id = $2', [clock.now(), again])
  const last = await operations.prune(signal)
  assert.equal(last.callbacks, 1, 'the text of the first')
  assert.ok(!last.partitions.dropped.some((name) => name.startsWith('callback_attempts_2')))
  assert.equal(await countOf(pool, 'callback_attempts'), 4, 'a millisecond before')
  clock.advance(1)
  const { dropped } = (await operations.prune(signal)).partitions
  assert.deepEqual(dropped, [nameAt('callback_attempts', 0)])
  const attempts = async (callbackId: string) =>
    (await stores.callbackHistory.listAttempts({ merchantId, callbackId })).length
  assert.deepEqual(await Promise.all([first, again, second, third].map(attempts)), [0, 1, 1, 1])
  for (const callbackId of [first, again, second, third]) {
    const found = await stores.callbackHistory.findCallback(callbackId)
    assert.equal(found?.state, 'delivered')
    assert.equal(found.attemptsMade, 1)
    assert.equal(found.deliveredAtMs, found.createdAtMs + 7)
  }
  assert.equal(await countOf(pool, 'callback_attempts_default'), 1, 'of the one that was asked for again')

  // It leaves with the range that is past when its text has left.
  clock.advance(90 * dayMs)
  await operations.prune(signal)
  assert.equal(await attempts(again), 0)
  assert.equal(await countOf(pool, 'callback_attempts'), 0)
  assert.deepEqual(
    await namesOf('callback_attempts'),
    [120, 150, 180, 210, 240, 270].map((day) => nameAt('callback_attempts', day)),
  )
  assert.deepEqual((await verifyLedger(pool)).findings, [])
})

test('a range of which very much is still needed waits until less of it is', async () => {
  const { pool, clock, operations, namesOf } = await open()
  await operations.purgePartitions()
  const callbackId = await addDelivered(pool, startMs)
  await pool.query(
    `insert into callbacks (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body,
                            created_at)
     select merchant_id, (left(callback_id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, payment_id, 'R' || n,
            'payment.refund.success', callback_url, host, body, created_at
       from callbacks, generate_series(1, 10000) as n
      where merchant_id = $1 and callback_id = $2`,
    [merchantId, callbackId],
  )
  clock.advance(150 * dayMs)
  await operations.purgePartitions()
  const name = nameAt('callback_attempts', 0)
  assert.ok((await namesOf('callback_attempts')).includes(name))
  await pool.query('update callbacks set body = null where merchant_id = $1 and callback_id <> $2', [
    merchantId,
    callbackId,
  ])
  assert.ok((await operations.purgePartitions()).dropped.includes(name))
  assert.equal(await countOf(pool, 'callback_attempts_default'), 1, 'of the one that has its text')
})

test('clocks that jump by a year fill the default, until the next turn has made what was missing', async () => {
  const { pool, clock, stores, operations } = await open()
  await operations.purgePartitions()
  const yearLaterMs = startMs + 365 * dayMs
  await Promise.all(
    [startMs, yearLaterMs, yearLaterMs + 40 * dayMs].map((timeMs) => addDelivered(pool, timeMs)),
  )
  await stores.requestLog.record([requestAt(yearLaterMs)])
  assert.equal(await countOf(pool, 'callback_attempts_default'), 2)
  assert.equal(await countOf(pool, 'request_log_default'), 1)
  clock.advance(365 * dayMs)
  await operations.prune(signal)
  assert.equal(await countOf(pool, 'callback_attempts_default'), 0)
  assert.equal(await countOf(pool, 'request_log_default'), 0)
  assert.equal(await countOf(pool, 'callback_attempts'), 2)
  assert.equal(await countOf(pool, 'request_log'), 1)
  // Back again: what was dropped has no partition any more.
  await addDelivered(pool, startMs + 1)
  assert.equal(await countOf(pool, 'callback_attempts_default'), 1)
})

test('whoever holds a table for long is let alone, and writers are not held up', async () => {
  const { pool, clock, operations } = await open()
  await operations.purgePartitions()
  clock.advance(200 * dayMs)
  const tidied = await pool.transaction(async (transaction) => {
    await transaction.query('select 1 from callback_attempts')
    const partitions = await operations.purgePartitions()
    await addAttempt(pool, makeCallbackId(clock.now(), randomBytes), clock.now())
    return partitions
  })
  assert.deepEqual(tidied.busy, ['callback_attempts'])
  assert.deepEqual(
    tidied.dropped.filter((name) => name.startsWith('callback_attempts')),
    [],
  )
  const partitions = await operations.purgePartitions()
  assert.deepEqual(partitions.busy, [])
  assert.ok(partitions.dropped.includes(nameAt('callback_attempts', 0)))
  assert.equal(await countOf(pool, 'callback_attempts_default'), 0)
})
