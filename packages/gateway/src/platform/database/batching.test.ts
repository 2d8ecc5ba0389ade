import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StartTimer } from '../runtime/timer.ts'
import { batched, makeBatcher } from './batching.ts'

const bad = new Error('bad item')
const isItemError = (error: unknown) => error === bad

/** A `run` whose flights complete when the test says so. */
function controlled(answer: (item: number) => number = (item) => item * 10) {
  const flights: { items: readonly number[]; land: () => void }[] = []
  const run = (items: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      const land = () => {
        try {
          resolve(items.map(answer))
        } catch (error) {
          reject(error)
        }
      }
      flights.push({ items, land })
    })
  return { run, flights }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a single item is sent at once', async () => {
  const { run, flights } = controlled()
  const result = batched(run, { maxItems: 10, maxFlights: 1, isItemError })(1)
  assert.equal(flights.length, 1)
  flights[0]?.land()
  assert.equal(await result, 10)
})

test('items that arrive during a flight are sent together, each with its own result', async () => {
  const { run, flights } = controlled()
  const add = batched(run, { maxItems: 10, maxFlights: 1, isItemError })
  const results = [add(1), add(2), add(3)]
  assert.deepEqual(flights[0]?.items, [1])
  flights[0]?.land()
  await settle()
  assert.deepEqual(flights[1]?.items, [2, 3])
  flights[1]?.land()
  assert.deepEqual(await Promise.all(results), [10, 20, 30])
})

test('a batch has a maximum size', async () => {
  const { run, flights } = controlled()
  const add = batched(run, { maxItems: 2, maxFlights: 1, isItemError })
  const results = [1, 2, 3, 4].map(add)
  for (const index of [0, 1, 2]) {
    flights[index]?.land()
    await settle()
  }
  assert.deepEqual(
    flights.map(({ items }) => items),
    [[1], [2, 3], [4]],
  )
  await Promise.all(results)
})

test('the number of concurrent flights is limited', () => {
  const { run, flights } = controlled()
  const add = batched(run, { maxItems: 1, maxFlights: 2, isItemError })
  for (const item of [1, 2, 3]) void add(item)
  assert.equal(flights.length, 2)
})

test('an invalid item fails alone, and the others of its batch succeed', async () => {
  const { run, flights } = controlled((item) => {
    if (item === 3) throw bad
    return item * 10
  })
  const add = batched(run, { maxItems: 10, maxFlights: 1, isItemError })
  const results = Promise.allSettled([1, 2, 3, 4].map(add))
  for (let index = 0; index < 5; index++) {
    flights[index]?.land()
    await settle()
  }
  assert.deepEqual(await results, [
    { status: 'fulfilled', value: 10 },
    { status: 'fulfilled', value: 20 },
    { status: 'rejected', reason: bad },
    { status: 'fulfilled', value: 40 },
  ])
})

test('an error without a single cause fails the whole batch, and the next batch runs', async () => {
  let lost = true
  const add = batched(
    async (items: readonly number[]) => {
      if (lost) throw new Error('connection lost')
      return items
    },
    { maxItems: 10, maxFlights: 1, isItemError },
  )
  const results = await Promise.allSettled([add(1), add(2)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  lost = false
  assert.equal(await add(3), 3)
})

/** A timer that expires only when the test says so. */
function controlledTimer() {
  const pending = new Set<() => void>()
  const startTimer: StartTimer = (_delayMs, expire) => {
    pending.add(expire)
    return () => void pending.delete(expire)
  }
  const expire = () => {
    for (const each of [...pending]) {
      pending.delete(each)
      each()
    }
  }
  return { startTimer, expire, pending }
}

test('with a gathering time, the first item waits for others, and a full batch is sent at once', async () => {
  const { run, flights } = controlled()
  const { startTimer, expire, pending } = controlledTimer()
  const add = batched(run, { maxItems: 3, maxFlights: 1, gather: { forMs: 400, startTimer }, isItemError })
  const early = [add(1), add(2)]
  assert.equal(flights.length, 0)
  assert.equal(pending.size, 1, 'one timer for the batch')
  expire()
  assert.deepEqual(flights[0]?.items, [1, 2])

  const late = [add(3), add(4), add(5), add(6)]
  flights[0]?.land()
  assert.deepEqual(await Promise.all(early), [10, 20])
  await settle()
  assert.deepEqual(flights[1]?.items, [3, 4, 5], 'they were enough to go at once')
  flights[1]?.land()
  await settle()
  assert.equal(flights.length, 2)
  expire()
  flights[2]?.land()
  assert.deepEqual(await Promise.all(late), [30, 40, 50, 60])
})

test('flushed items are sent without gathering, even if they wait for a flight', async () => {
  const { run, flights } = controlled()
  const { startTimer, pending } = controlledTimer()
  const { add, flush } = makeBatcher(run, {
    maxItems: 10,
    maxFlights: 1,
    gather: { forMs: 400, startTimer },
    isItemError,
  })
  const first = [add(1), add(3)]
  assert.equal(flights.length, 0, 'more may come')
  flush()
  assert.deepEqual(flights[0]?.items, [1, 3])
  assert.equal(pending.size, 0)

  const next = [add(5), add(6)]
  flush()
  assert.equal(flights.length, 1, 'one flight at a time')
  flights[0]?.land()
  assert.deepEqual(await Promise.all(first), [10, 30])
  await settle()
  assert.deepEqual(flights[1]?.items, [5, 6])
  flights[1]?.land()
  assert.deepEqual(await Promise.all(next), [50, 60])

  flush()
  void add(7)
  assert.equal(flights.length, 2, 'nothing waited when it was flushed, so this one gathers')
})
