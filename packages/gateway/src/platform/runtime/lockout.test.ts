import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTry, noTries, type Tries } from './lockout.ts'

const limit = { free: 3, lockMs: [10, 100, 1_000], forgottenAfterMs: 5_000 } as const

function countAt(tries: Tries, nowMs: number): Tries {
  const counted = countTry(tries, limit, nowMs)
  assert(counted.kind === 'counted', `locked at ${nowMs}`)
  return counted.tries
}

test('the last free attempt locks, and each later one for longer, up to the maximum', () => {
  let tries = noTries
  let nowMs = 1_000_000
  for (const lockedForMs of [0, 0, 10, 100, 1_000, 1_000, 1_000]) {
    tries = countAt(tries, nowMs)
    assert.equal((tries.lockedUntilMs ?? nowMs) - nowMs, lockedForMs)
    nowMs += lockedForMs
  }
  assert.equal(tries.count, 5, 'it has a bound')
})

test('a lock ends at its millisecond, and rejected attempts do not count', () => {
  const locked: Tries = { count: 3, lastAtMs: 100, lockedUntilMs: 110 }
  assert.deepEqual(countTry(locked, limit, 109), { kind: 'locked', untilMs: 110 })
  assert.deepEqual(countAt(locked, 110), { count: 4, lastAtMs: 110, lockedUntilMs: 210 })
})

test('attempts are forgotten after a quiet period, counted from the last attempt and the end of the lock', () => {
  const two: Tries = { count: 2, lastAtMs: 100, lockedUntilMs: undefined }
  assert.equal(countAt(two, 5_099).count, 3)
  assert.equal(countAt(two, 5_100).count, 1)
  const locked: Tries = { count: 5, lastAtMs: 100, lockedUntilMs: 1_100 }
  assert.equal(countAt(locked, 6_099).count, 5)
  assert.equal(countAt(locked, 6_100).count, 1)
})
