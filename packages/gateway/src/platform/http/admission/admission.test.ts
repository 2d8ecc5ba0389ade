import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitFrom, makeControl, openFrom } from '../../../../test/support/admission.ts'
import { unknownBodyMs } from './admission.ts'

const [known, unknown] = ['203.0.113.1', '203.0.113.2']

/** A fake machine whose timers fire when the test advances the time. */
function makeTime() {
  let nowMs = 0
  const timers = new Set<{ dueMs: number; expire: () => void }>()
  return {
    time: {
      nowMs: () => nowMs,
      startTimer: (delayMs: number, expire: () => void) => {
        const timer = { dueMs: nowMs + delayMs, expire }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
      nextTurn: (go: () => void) => void setImmediate(go),
    },
    pass(ms: number) {
      nowMs += ms
      for (const timer of timers) {
        if (timer.dueMs > nowMs) continue
        timers.delete(timer)
        timer.expire()
      }
    },
  }
}

test('a body from an unknown address has five seconds, one from a known address has no deadline', async () => {
  const { time, pass } = makeTime()
  const { admission } = makeControl({ time })
  await openFrom(admission, known)
  const late: string[] = []
  for (const address of [known, unknown])
    admitFrom(admission, address).startReceiving({ onTimeout: () => late.push(address) })
  pass(unknownBodyMs.most - 1)
  assert.deepEqual(late, [])
  pass(1)
  assert.deepEqual(late, [unknown])
})

test('the more bodies of unknown addresses are in flight, the shorter the deadline of the next', () => {
  const { time, pass } = makeTime()
  const { admission } = makeControl({ time, requestsInFlightMax: 4 })
  const late: number[] = []
  for (const last of [1, 2, 3, 4])
    admitFrom(admission, `192.0.2.${last}`).startReceiving({ onTimeout: () => late.push(last) })
  const lateAfter = [2_000, 1_000, 1_000, 1_000].map((passedMs) => {
    pass(passedMs)
    return [...late]
  })
  assert.deepEqual(lateAfter, [[4], [4, 3], [4, 3, 2], [4, 3, 2, 1]])
})

test('a body that arrives in time no longer has a deadline and costs nothing', () => {
  const { time, pass } = makeTime()
  const { admission } = makeControl({ time, failedOpeningsPerMinute: 1 })
  const request = admitFrom(admission, unknown)
  request.startReceiving({ onTimeout: () => assert.fail('it was in time') })
  pass(unknownBodyMs.most - 1)
  request.endReceiving({ isWhole: true })
  pass(unknownBodyMs.most)
  admitFrom(admission, unknown).startReceiving()
})

test('slow bodies block an unknown address and delay a known one', async () => {
  const { time, pass } = makeTime()
  const { admission } = makeControl({ time, requestsInFlightMax: 1_000, failedOpeningsPerMinute: 60 })
  await openFrom(admission, known)
  const requests = [known, unknown].flatMap((address) =>
    Array.from({ length: 130 }, () => admitFrom(admission, address)),
  )
  for (const request of requests) request.startReceiving()
  pass(unknownBodyMs.most)
  // The known address's connections break.
  for (const request of requests) request.endReceiving({ isWhole: false })
  assert.deepEqual([admission.isShutOut(known), admission.isShutOut(unknown)], [false, true])
  assert.throws(() => admitFrom(admission, known).startReceiving(), { failure: 'too_many_requests' })
})

test('a body that is aborted just before its deadline is charged for its time', () => {
  const { time, pass } = makeTime()
  const { admission } = makeControl({ time, failedOpeningsPerMinute: 2 })
  for (let turn = 0; turn < 2; turn++) {
    const request = admitFrom(admission, unknown)
    request.startReceiving()
    pass(unknownBodyMs.most - 1)
    request.endReceiving({ isWhole: false })
  }
  assert.throws(() => admitFrom(admission, unknown).startReceiving(), { failure: 'too_many_requests' })
})
