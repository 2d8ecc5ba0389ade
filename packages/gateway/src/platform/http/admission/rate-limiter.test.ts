import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RateLimiter } from './rate-limiter.ts'

test('each key has a rate, and unused tokens are refilled', () => {
  let nowMs = 0
  const limiter = new RateLimiter({ rate: { perSecond: 1, burst: 2 }, clock: { now: () => nowMs } })
  assert.deepEqual([limiter.take('a'), limiter.take('a'), limiter.take('a')], [0, 0, 1_000])
  assert.equal(limiter.take('b'), 0)
  limiter.giveBack('a')
  assert.deepEqual([limiter.take('a'), limiter.take('a')], [0, 1_000])
  nowMs = 1_000
  assert.deepEqual([limiter.take('a'), limiter.take('a')], [0, 1_000])
})

test('the number of keys is limited', () => {
  const limiter = new RateLimiter({ rate: { perSecond: 1, burst: 1 }, clock: { now: () => 0 }, maxKeys: 1 })
  assert.deepEqual([limiter.take('a'), limiter.take('b'), limiter.take('a')], [0, 0, 0])
})
