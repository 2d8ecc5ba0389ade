import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FailingHost,
  failuresBeforePause,
  firstPauseMs,
  hostAfter,
  isHostAnswer,
  isHostFailure,
  isWorthTelling,
  longestPauseMs,
  toldAfterMs,
} from './host-health.ts'

const host = 'shop.example'
const reason = 'connect'

function fail(before: FailingHost | undefined, nowMs: number, startedAtMs = nowMs): FailingHost {
  return hostAfter(before, { host, reason, count: 1, startedAtMs, nowMs })
}

test('a host is paused at its fifth failure in a row, not at its fourth', () => {
  let state: FailingHost | undefined
  for (let i = 1; i < failuresBeforePause; i++) state = fail(state, i)
  assert.equal(state?.pausedUntilMs, undefined)
  assert.equal(fail(state, 100).pausedUntilMs, 100 + firstPauseMs)
})

test('each probe that fails makes the next pause twice as long, up to a minute', () => {
  let state: FailingHost | undefined
  let nowMs = 0
  for (let i = 0; i < failuresBeforePause; i++) state = fail(state, nowMs)
  const pauses: number[] = []
  for (let i = 0; i < 7; i++) {
    pauses.push((state?.pausedUntilMs ?? 0) - nowMs)
    nowMs = state?.pausedUntilMs ?? 0
    state = fail(state, nowMs)
  }
  assert.deepEqual(pauses, [5_000, 10_000, 20_000, 40_000, longestPauseMs, longestPauseMs, longestPauseMs])
})

test('attempts that were under way when the pause began make it no longer', () => {
  let state: FailingHost | undefined
  for (let i = 0; i < failuresBeforePause; i++) state = fail(state, 1_000)
  const later = fail(state, 1_400, 900)
  assert.equal(later.pausedUntilMs, 1_000 + firstPauseMs)
  assert.equal(later.pauses, 1)
  assert.equal(later.failures, failuresBeforePause + 1)
  const begunWithThePause = fail(state, 1_400, 1_000)
  assert.equal(begunWithThePause.pausedUntilMs, 1_400 + 2 * firstPauseMs)
})

test('failures that come together count each, since the first of them and with the last reason', () => {
  const first = hostAfter(undefined, { host, reason: 'timeout', count: 4, startedAtMs: 10, nowMs: 20 })
  const failing = { host, failures: 4, failingSinceMs: 20, reason: 'timeout', pauses: 0 }
  assert.deepEqual(first, { ...failing, pausedAtMs: undefined, pausedUntilMs: undefined })
  assert.deepEqual(hostAfter(first, { host, reason, count: 2, startedAtMs: 25, nowMs: 30 }), {
    host,
    failures: 6,
    failingSinceMs: 20,
    reason,
    pauses: 1,
    pausedAtMs: 30,
    pausedUntilMs: 30 + firstPauseMs,
  })
})

test('merchants hear of a host that is paused and has failed for ten minutes', () => {
  let state: FailingHost | undefined
  for (let i = 1; i < failuresBeforePause; i++) state = fail(state, 50)
  assert.equal(isWorthTelling(state as FailingHost, 50 + toldAfterMs), false)
  const paused = fail(state, 60)
  assert.equal(toldAfterMs, 600_000)
  assert.equal(isWorthTelling(paused, 50 + toldAfterMs - 1), false)
  assert.equal(isWorthTelling(paused, 50 + toldAfterMs), true)
})

test('a merchant’s wrong path speaks against the merchant, not against the host', () => {
  assert.equal(isHostFailure({ kind: 'refused', httpStatus: 404 }), false)
  assert.equal(isHostFailure({ kind: 'refused', httpStatus: 301 }), false)
  assert.equal(isHostFailure({ kind: 'unreachable', reason: 'address_not_public' }), false)
  assert.equal(isHostFailure({ kind: 'refused', httpStatus: 500 }), true)
  assert.equal(isHostFailure({ kind: 'refused', httpStatus: 429 }), true)
  assert.equal(isHostFailure({ kind: 'unreachable', reason: 'timeout' }), true)
  assert.equal(isHostFailure({ kind: 'unreachable', reason: 'url_not_allowed' }), false)
  assert.equal(isHostFailure({ kind: 'refused', httpStatus: 499 }), false)
  assert.equal(isHostFailure({ kind: 'acknowledged', isWarned: false }), false)
})

test('a host is back when it answers anything but trouble, and not when nothing was sent to it', () => {
  const refused = (httpStatus: number) => ({ kind: 'refused', httpStatus }) as const
  assert.ok(isHostAnswer({ kind: 'acknowledged', isWarned: true }))
  for (const httpStatus of [201, 204, 302, 404]) assert.ok(isHostAnswer(refused(httpStatus)))
  for (const httpStatus of [429, 500, 503]) assert.ok(!isHostAnswer(refused(httpStatus)))
  for (const reason of ['connect', 'url_not_allowed', 'address_not_public'] as const) {
    assert.ok(!isHostAnswer({ kind: 'unreachable', reason }))
  }
})
