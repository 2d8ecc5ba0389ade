import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBuckets } from './token-bucket.ts'

const allowance = { perSecond: 10, burst: 3 }

test('a burst passes, and the next request gets its waiting time', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a', allowance, 0)),
    [0, 0, 0, 100],
  )
})

test('a token is available exactly at the announced time', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 3; i++) buckets.take('a', allowance, 0)
  assert.equal(buckets.take('a', allowance, 99), 1)
  assert.equal(buckets.take('a', allowance, 100), 0)
})

test('a bucket never holds more than its burst, however long it was idle', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a', allowance, 1_000_000)),
    [0, 0, 0, 100],
  )
})

test('one key does not use another’s tokens', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 3; i++) buckets.take('a', allowance, 0)
  assert.equal(buckets.take('b', allowance, 0), 0)
})

test('a look takes no token', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 9; i++) assert.equal(buckets.waitMs('a', allowance, 0), 0)
})

test('a returned token can be taken again, and a full bucket does not overflow', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 3; i++) buckets.take('a', allowance, 0)
  buckets.giveBack('a', allowance, 0)
  assert.equal(buckets.take('a', allowance, 0), 0)
  assert.equal(buckets.take('a', allowance, 0), 100)
  buckets.giveBack('b', allowance, 0)
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('b', allowance, 0)),
    [0, 0, 0, 100],
  )
})

test('charges beyond the last token become a debt of up to ten bursts', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 13; i++) buckets.charge('a', allowance, 0)
  assert.equal(buckets.take('a', allowance, 0), 1100)
  assert.equal(buckets.take('a', allowance, 1099), 1)
  assert.equal(buckets.take('a', allowance, 1100), 0)
  for (let i = 0; i < 1000; i++) buckets.charge('b', allowance, 0)
  assert.equal(buckets.take('b', allowance, 0), 10 * 300 - 200)
})

test('a clock set back does not delay requests until it catches up', () => {
  const buckets = new TokenBuckets({ maxBuckets: 10 })
  for (let i = 0; i < 3; i++) buckets.take('a', allowance, 3_600_000)
  assert.equal(buckets.take('a', allowance, 0), 100)
  assert.equal(buckets.take('a', allowance, 99), 1)
  assert.equal(buckets.take('a', allowance, 100), 0)
  assert.equal(buckets.take('a', allowance, 100), 100)
})

test('the number of buckets is bounded, and the longest unused one is removed first', () => {
  const buckets = new TokenBuckets({ maxBuckets: 2 })
  for (let i = 0; i < 3; i++) buckets.take('a', allowance, 0)
  buckets.take('b', allowance, 0)
  buckets.take('c', allowance, 0)
  assert.equal(buckets.size, 2)
  assert.equal(buckets.take('b', allowance, 0), 0)
  assert.equal(buckets.take('b', allowance, 0), 0)
  assert.equal(buckets.take('b', allowance, 0), 100)
  assert.equal(buckets.take('a', allowance, 0), 0)
})
