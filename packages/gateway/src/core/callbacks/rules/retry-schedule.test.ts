import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lastAttemptWithinMs, maxRetries, nextRetry, retryOffsetsMs } from './retry-schedule.ts'

const firstAttemptAtMs = 1_800_000_000_000
const middle = { firstAttemptAtMs, chance: 0.5 }

test('each retry has its own time after the first attempt', () => {
  retryOffsetsMs.forEach((offsetMs, retriesMade) => {
    const before = firstAttemptAtMs + (retryOffsetsMs[retriesMade - 1] ?? 0)
    const retry = nextRetry({ ...middle, chance: retriesMade === 7 ? 0 : 0.5, retriesMade, nowMs: before })
    assert.deepEqual(retry, { kind: 'retry', atMs: firstAttemptAtMs + offsetMs, retriesSkipped: 0 })
  })
})

test('jitter moves a retry by at most a tenth, and never delays the last one', () => {
  const atWith = (retriesMade: number, chance: number) => {
    const retry = nextRetry({ firstAttemptAtMs, retriesMade, nowMs: firstAttemptAtMs, chance })
    return retry.kind === 'retry' ? retry.atMs - firstAttemptAtMs : undefined
  }
  assert.deepEqual([atWith(0, 0), atWith(0, 0.25), atWith(0, 1)], [27_000, 28_500, 33_000])
  assert.deepEqual([atWith(7, 0), atWith(7, 1)], [lastAttemptWithinMs, lastAttemptWithinMs * 0.9])
})

test('retries range from half a minute to seven days', () => {
  const minutes = retryOffsetsMs.map((ms) => ms / 60_000)
  assert.deepEqual(minutes, [0.5, 5, 30, 120, 480, 1_440, 4_320, 10_080])
  assert.deepEqual([maxRetries, lastAttemptWithinMs], [8, 604_800_000])
})

test('after the eighth retry the callback is exhausted, however early it ran', () => {
  const nowMs = firstAttemptAtMs + lastAttemptWithinMs * 0.9
  assert.deepEqual(nextRetry({ ...middle, retriesMade: maxRetries, nowMs }), { kind: 'exhausted' })
})

test('retries whose time has passed are skipped', () => {
  const nowMs = firstAttemptAtMs + 60 * 60_000
  const retry = nextRetry({ ...middle, retriesMade: 1, nowMs })
  assert.deepEqual(retry, { kind: 'retry', atMs: firstAttemptAtMs + 2 * 3_600_000, retriesSkipped: 2 })
})

test('one more retry is possible until the seven days end', () => {
  const endMs = firstAttemptAtMs + lastAttemptWithinMs
  assert.equal(nextRetry({ ...middle, retriesMade: 3, nowMs: endMs - 1 }).kind, 'retry')
  assert.equal(nextRetry({ ...middle, retriesMade: 3, nowMs: endMs }).kind, 'exhausted')
})

test('Retry-After delays a retry, but never beyond the seven days', () => {
  const nowMs = firstAttemptAtMs
  const hour = 3_600_000
  const delayed = nextRetry({ ...middle, retriesMade: 0, nowMs, retryAfterMs: hour })
  assert.deepEqual(delayed, { kind: 'retry', atMs: nowMs + hour, retriesSkipped: 0 })
  const soon = nextRetry({ ...middle, retriesMade: 0, nowMs, retryAfterMs: 1_000 })
  assert.deepEqual(soon, { kind: 'retry', atMs: nowMs + 30_000, retriesSkipped: 0 })
  const far = nextRetry({ ...middle, retriesMade: 0, nowMs, retryAfterMs: 365 * 24 * hour })
  assert.deepEqual(far, { kind: 'retry', atMs: nowMs + lastAttemptWithinMs, retriesSkipped: 0 })
})

test('a retry is never in the past, never after seven days, and each is used once', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: maxRetries }),
      fc.integer({ min: 0, max: lastAttemptWithinMs * 2 }),
      fc.option(fc.integer({ min: 0, max: lastAttemptWithinMs * 3 }), { nil: undefined }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (retriesMade, afterMs, retryAfterMs, chance) => {
        const nowMs = firstAttemptAtMs + afterMs
        const retry = nextRetry({ firstAttemptAtMs, retriesMade, nowMs, retryAfterMs, chance })
        if (retry.kind === 'exhausted') return retriesMade === maxRetries || afterMs >= lastAttemptWithinMs
        const used = retriesMade + retry.retriesSkipped
        const offsetMs = retryOffsetsMs[used] ?? Number.NaN
        assert(retry.atMs >= nowMs && retry.atMs <= firstAttemptAtMs + lastAttemptWithinMs)
        assert(used < maxRetries && retry.retriesSkipped >= 0)
        assert(retry.atMs >= firstAttemptAtMs + offsetMs * 0.9 - 1)
        return true
      },
    ),
  )
})
