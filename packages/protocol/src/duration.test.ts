import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeClock, describeDuration } from './duration.ts'

const minuteMs = 60_000

test('a duration is written with its two largest units', () => {
  assert.equal(describeDuration(0), '0 seconds')
  assert.equal(describeDuration(1), '1 ms')
  assert.equal(describeDuration(1_000), '1 second')
  assert.equal(describeDuration(5 * minuteMs - 1), '4 minutes 59 seconds')
  assert.equal(describeDuration(5 * minuteMs), '5 minutes')
  assert.equal(describeDuration(-10 * minuteMs - 3), '10 minutes 3 ms')
  assert.equal(describeDuration(24 * 60 * minuteMs + 1), '24 hours 1 ms')
  assert.equal(describeDuration(49 * 60 * minuteMs), '2 days 1 hour')
})

test('a time is written as the time of day in UTC', () => {
  assert.equal(describeClock(Date.UTC(2026, 0, 2, 14, 5, 12, 345)), '14:05:12 UTC')
})
