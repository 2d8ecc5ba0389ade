import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery } from '../../platform/delivery.ts'
import { decideOutcome, judge, type Progress } from './callback-attempt.ts'

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

test('no other status is success, whatever its body says', () => {
  for (const httpStatus of [201, 202, 204, 301, 302, 400, 404, 429, 500, 503]) {
    assert.deepEqual(judge(answer(httpStatus, '{"code":20000}')), { kind: 'refused', httpStatus })
  }
})

const nowMs = 1_800_000_000_000
const waiting: Progress = {
  state: 'waiting',
  attemptsMade: 2,
  retriesMade: 1,
  firstAttemptAtMs: nowMs - 60_000,
  nextAttemptAtMs: nowMs + 240_000,
}
const failing = { delivery: answer(500, ''), startedAtMs: nowMs, nowMs, chance: () => 0.5 }

test('a resend that fails leaves the ladder of a waiting callback as it was', () => {
  const outcome = decideOutcome(waiting, { ...failing, isResend: true })
  assert.deepEqual(
    [outcome.state, outcome.retriesMade, outcome.nextAttemptAtMs, outcome.isNewlyExhausted],
    ['waiting', 1, nowMs + 240_000, false],
  )
})

test('a resend that fails leaves delivered delivered and exhausted exhausted', () => {
  for (const state of ['delivered', 'exhausted'] as const) {
    const ended = { ...waiting, state, nextAttemptAtMs: undefined }
    const outcome = decideOutcome(ended, { ...failing, isResend: true })
    assert.deepEqual(
      [outcome.state, outcome.nextAttemptAtMs, outcome.isNewlyExhausted],
      [state, undefined, false],
    )
  }
})

test('only a resend may touch what has ended', () => {
  assert.throws(() => decideOutcome({ ...waiting, state: 'delivered' }, { ...failing, isResend: false }))
})
