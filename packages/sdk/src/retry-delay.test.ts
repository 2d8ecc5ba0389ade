import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstDelayMs, maxDelayMs, retryDelayMs } from './retry-delay.ts'

test('the wait doubles up to its maximum and is reduced by up to half', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 20].map((retries) => retryDelayMs({ retries, random: 1 }))
  assert.deepEqual(longest, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000])
  assert.equal(retryDelayMs({ retries: 0, random: 0 }), firstDelayMs / 2)
  assert.equal(retryDelayMs({ retries: 99, random: 0 }), maxDelayMs / 2)
})

test('a retry never comes before the gateway’s Retry-After', () => {
  assert.equal(retryDelayMs({ retries: 0, random: 0, retryAfterMs: 5000 }), 5000)
  assert.equal(retryDelayMs({ retries: 0, random: 1, retryAfterMs: 5000 }), 5250)
  assert.equal(retryDelayMs({ retries: 5, random: 1, retryAfterMs: 1000 }), 8000)
})
