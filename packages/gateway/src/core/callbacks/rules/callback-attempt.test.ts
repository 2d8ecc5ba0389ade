import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../../../platform/runtime/delivery.ts'
import { decideOutcome, isAcknowledged, judge, type Progress } from './callback-attempt.ts'

const answer = (httpStatus: number, text: string): Delivery => ({
  kind: 'answered',
  httpStatus,
  answer: Buffer.from(text),
  durationMs: 5,
})

for (const [text, isWarned] of [
  ['{"code":20000,"msg":""}', false],
  ['{"code":"20000","msg":"ok"}', false],
  ['{"code":20001}', true],
  ['{"msg":""}', true],
  ['[20000]', true],
  ['null', true],
  ['thank you', true],
  ['', true],
] as const) {
  test(`HTTP 200 with ${text || 'nothing'} is acknowledged${isWarned ? ', with a warning' : ''}`, () => {
    assert.deepEqual(judge(answer(200, text)), { kind: 'acknowledged', isWarned })
  })
}

test('no other status is a success, whatever the body', () => {
  for (const httpStatus of [201, 202, 204, 301, 302, 400, 404, 429, 500, 503]) {
    assert.deepEqual(judge(answer(httpStatus, '{"code":20000}')), { kind: 'refused', httpStatus })
  }
})

test('Standard Webhooks are acknowledged by any 2xx, with any body', () => {
  for (const httpStatus of [200, 204, 299]) {
    assert.deepEqual(judge(answer(httpStatus, ''), 'standard'), { kind: 'acknowledged', isWarned: false })
  }
  for (const httpStatus of [199, 300, 500]) {
    assert.deepEqual(judge(answer(httpStatus, ''), 'standard'), { kind: 'refused', httpStatus })
  }
})

test('an attempt without a response is never acknowledged', () => {
  const delivery: Delivery = { kind: 'unreachable', reason: 'timeout', detail: '', durationMs: 5 }
  assert.deepEqual(judge(delivery), { kind: 'unreachable', reason: 'timeout' })
  assert.equal(isAcknowledged(delivery), false)
  assert.equal(isAcknowledged(delivery, 'standard'), false)
})

const nowMs = 1_800_000_000_000
const waiting: Progress = {
  state: 'waiting',
  attemptsMade: 2,
  retriesMade: 1,
  firstAttemptAtMs: nowMs - 60_000,
  nextAttemptAtMs: nowMs + 200_000,
}
const failing = { delivery: answer(500, ''), startedAtMs: nowMs, nowMs, chance: () => 0.5 }

test('a failed resend does not change the retry schedule of a waiting callback', () => {
  const outcome = decideOutcome(waiting, { ...failing, isResend: true })
  assert.deepEqual(
    [outcome.state, outcome.retriesMade, outcome.nextAttemptAtMs, outcome.isNewlyExhausted],
    ['waiting', 1, nowMs + 200_000, false],
  )
})

test('a failed resend leaves delivered and exhausted callbacks unchanged', () => {
  for (const state of ['delivered', 'exhausted'] as const) {
    const ended = { ...waiting, state, nextAttemptAtMs: undefined }
    const outcome = decideOutcome(ended, { ...failing, isResend: true })
    assert.deepEqual(
      [outcome.state, outcome.nextAttemptAtMs, outcome.isNewlyExhausted],
      [state, undefined, false],
    )
  }
})

test('only a resend may update a final callback', () => {
  assert.throws(
    () => decideOutcome({ ...waiting, state: 'delivered' }, { ...failing, isResend: false }),
    /only a resend sends what is delivered or exhausted/,
  )
})

const nothingYet: Progress = {
  state: 'waiting',
  attemptsMade: 0,
  retriesMade: 0,
  firstAttemptAtMs: undefined,
  nextAttemptAtMs: nowMs,
}
const planned = { state: 'waiting', isNewlyExhausted: false, verdict: { kind: 'refused', httpStatus: 500 } }

test('the first attempt is not a retry, and the schedule counts from its start', () => {
  const attempt = { ...failing, startedAtMs: nowMs - 7, isResend: false }
  assert.deepEqual(decideOutcome(nothingYet, attempt), {
    ...planned,
    retriesMade: 0,
    nextAttemptAtMs: nowMs - 7 + 30_000,
  })
})

test('every later attempt uses one of the eight retries, as do skipped ones', () => {
  assert.deepEqual(decideOutcome(waiting, { ...failing, isResend: false }), {
    ...planned,
    retriesMade: 2,
    nextAttemptAtMs: nowMs - 60_000 + 30 * 60_000,
  })
  const muchLater = { ...waiting, firstAttemptAtMs: nowMs - 60 * 60_000 }
  assert.deepEqual(decideOutcome(muchLater, { ...failing, isResend: false }), {
    ...planned,
    retriesMade: 3,
    nextAttemptAtMs: nowMs + 60 * 60_000,
  })
})

test('the receiver’s Retry-After is respected', () => {
  const delivery = { ...answer(503, ''), retryAfterMs: 3_600_000 }
  const outcome = decideOutcome(nothingYet, { ...failing, delivery, isResend: false })
  assert.equal(outcome.nextAttemptAtMs, nowMs + 3_600_000)
})

test('after the last retry the callback is exhausted, which is reported once', () => {
  const delivery: Delivery = { kind: 'unreachable', reason: 'connect', detail: '', durationMs: 5 }
  const outcome = decideOutcome({ ...waiting, retriesMade: 7 }, { ...failing, delivery, isResend: false })
  assert.deepEqual(outcome, {
    verdict: { kind: 'unreachable', reason: 'connect' },
    state: 'exhausted',
    isNewlyExhausted: true,
    retriesMade: 8,
    nextAttemptAtMs: undefined,
  })
})

test('a resend of a waiting callback without a due time schedules its next retry', () => {
  const outcome = decideOutcome({ ...waiting, nextAttemptAtMs: undefined }, { ...failing, isResend: true })
  assert.deepEqual([outcome.retriesMade, outcome.nextAttemptAtMs], [1, nowMs - 60_000 + 5 * 60_000])
})

test('an acknowledged callback leaves the queue as delivered', () => {
  const delivery = answer(200, '{"code":20000,"msg":""}')
  const done = {
    verdict: { kind: 'acknowledged', isWarned: false },
    state: 'delivered',
    isNewlyExhausted: false,
    nextAttemptAtMs: undefined,
  }
  const outcomeOf = (isResend: boolean) => decideOutcome(waiting, { ...failing, delivery, isResend })
  assert.deepEqual(outcomeOf(false), { ...done, retriesMade: 2 })
  assert.deepEqual(outcomeOf(true), { ...done, retriesMade: 1 })
  const standard = { ...failing, delivery: answer(204, ''), format: 'standard' as const, isResend: false }
  assert.deepEqual(decideOutcome(nothingYet, standard), { ...done, retriesMade: 0 })
})
