import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  emailAfterMs,
  type Failing,
  failingAfter,
  failuresBeforePause,
  firstPauseMs,
  isDestinationDown,
  isDestinationFailure,
  isHostAnswer,
  isHostFault,
  isWorthEmail,
  longestPauseMs,
} from './host-health.ts'

const reason = 'connect'

function fail(before: Failing | undefined, nowMs: number, startedAtMs = nowMs): Failing {
  return failingAfter(before, { reason, count: 1, startedAtMs, isDown: true, nowMs })
}

test('a host is paused after five consecutive failures', () => {
  let state: Failing | undefined
  for (let i = 1; i < failuresBeforePause; i++) state = fail(state, i)
  assert.equal(state?.pausedUntilMs, undefined)
  assert.equal(fail(state, 100).pausedUntilMs, 100 + firstPauseMs)
})

test('each failed probe doubles the next pause, up to a minute', () => {
  let state: Failing | undefined
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

test('attempts that started before the pause do not extend it', () => {
  let state: Failing | undefined
  for (let i = 0; i < failuresBeforePause; i++) state = fail(state, 1_000)
  const later = fail(state, 1_400, 900)
  assert.equal(later.pausedUntilMs, 1_000 + firstPauseMs)
  assert.equal(later.pauses, 1)
  assert.equal(later.failures, failuresBeforePause + 1)
  const begunWithThePause = fail(state, 1_400, 1_000)
  assert.equal(begunWithThePause.pausedUntilMs, 1_400 + 2 * firstPauseMs)
})

test('concurrent failures are counted individually, with the time of the first and the reason of the last', () => {
  const first = failingAfter(undefined, {
    reason: 'timeout',
    count: 4,
    startedAtMs: 10,
    isDown: true,
    nowMs: 20,
  })
  const failing = { failures: 4, failingSinceMs: 20, reason: 'timeout', pauses: 0 }
  assert.deepEqual(first, { ...failing, pausedAtMs: undefined, pausedUntilMs: undefined })
  assert.deepEqual(failingAfter(first, { reason, count: 2, startedAtMs: 25, isDown: true, nowMs: 30 }), {
    failures: 6,
    failingSinceMs: 20,
    reason,
    pauses: 1,
    pausedAtMs: 30,
    pausedUntilMs: 30 + firstPauseMs,
  })
})

test('merchants are notified of a host that is paused and has failed for ten minutes', () => {
  let state: Failing | undefined
  for (let i = 1; i < failuresBeforePause; i++) state = fail(state, 50)
  assert.equal(isWorthEmail(state as Failing, 50 + emailAfterMs), false)
  const paused = fail(state, 60)
  assert.equal(emailAfterMs, 600_000)
  assert.equal(isWorthEmail(paused, 50 + emailAfterMs - 1), false)
  assert.equal(isWorthEmail(paused, 50 + emailAfterMs), true)
})

test('a destination that responds with errors is failing but not paused, and its pause ends', () => {
  const reject = (before: Failing | undefined, nowMs: number, startedAtMs = nowMs) =>
    failingAfter(before, { reason: 'HTTP 404', count: 1, startedAtMs, isDown: false, nowMs })
  let state: Failing | undefined
  for (let i = 1; i <= 2 * failuresBeforePause; i++) state = reject(state, i)
  assert.deepEqual([state?.failures, state?.pauses, state?.pausedUntilMs], [10, 0, undefined])
  assert.equal(isWorthEmail(state as Failing, emailAfterMs + 1), true)
  assert.equal(isWorthEmail(reject(undefined, 1), emailAfterMs + 1), false)
  const paused = fail(state, 100)
  assert.equal(paused.pausedUntilMs, 100 + firstPauseMs)
  const probed = reject(paused, 6_000)
  assert.deepEqual([probed.failures, probed.pauses, probed.pausedUntilMs], [12, 0, undefined])
  assert.equal(probed.failingSinceMs, 1)
  assert.equal(reject(paused, 6_000, 99).pausedUntilMs, 100 + firstPauseMs, 'it began before the pause')
})

const refused = (httpStatus: number) => ({ kind: 'refused', httpStatus }) as const
const unreachable = (why: string) => ({ kind: 'unreachable', reason: why }) as const
const acknowledged = { kind: 'acknowledged', isWarned: true } as const

test('the host is at fault if it cannot be reached', () => {
  for (const why of ['dns', 'connect', 'tls', 'timeout']) {
    assert.equal(isHostFault(unreachable(why)), true, why)
    assert.equal(isDestinationFailure(unreachable(why)), false, why)
    assert.equal(isDestinationDown(unreachable(why)), false, why)
    assert.equal(isHostAnswer(unreachable(why)), false, why)
  }
})

test('the destination is at fault if its host accepted the connection or responded', () => {
  const down = [
    refused(500),
    refused(503),
    refused(429),
    unreachable('closed'),
    unreachable('protocol'),
    { ...unreachable('timeout'), wasSent: true },
  ]
  const rejecting = [
    refused(301),
    refused(404),
    refused(499),
    refused(204),
    unreachable('url_not_allowed'),
    unreachable('address_not_public'),
  ]
  for (const verdict of [...down, ...rejecting]) {
    assert.equal(isHostFault(verdict), false, JSON.stringify(verdict))
    assert.equal(isDestinationFailure(verdict), true, JSON.stringify(verdict))
    assert.equal(isDestinationDown(verdict), down.includes(verdict), JSON.stringify(verdict))
  }
  assert.equal(isDestinationFailure(acknowledged), false)
  assert.equal(isDestinationDown(acknowledged), false)
})

test('a host with any response is reachable, one without a response is not', () => {
  assert.ok(isHostAnswer(acknowledged))
  for (const httpStatus of [201, 302, 404, 429, 500]) assert.ok(isHostAnswer(refused(httpStatus)))
  for (const why of ['connect', 'closed', 'url_not_allowed']) assert.ok(!isHostAnswer(unreachable(why)))
})
