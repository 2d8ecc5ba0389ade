import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketOf } from './rules/durations.ts'
import { hourMs, sliceMs } from './rules/time-slices.ts'
import { TrafficRecorder } from './traffic-recorder.ts'

const nowMs = 500_000 * hourMs

test('requests are counted by five minutes and by hours, by how they ended and how long they took', () => {
  const recorder = new TrafficRecorder()
  for (const [httpStatus, durationMs, atMs] of [
    [200, 5, 0],
    [404, 5, 0],
    [503, 700, 0],
    [200, 9, sliceMs],
  ] as const)
    recorder.record({ httpStatus, durationMs, nowMs: nowMs + atMs })
  const counted = recorder.changed()
  assert.deepEqual(
    counted.map(({ startsAtMs, lengthMs, traffic }) => [
      startsAtMs - nowMs,
      lengthMs,
      traffic.requests,
      traffic.refused,
      traffic.failed,
    ]),
    [
      [0, sliceMs, 3, 1, 1],
      [0, hourMs, 4, 1, 1],
      [sliceMs, sliceMs, 1, 0, 0],
    ],
  )
  assert.deepEqual(
    counted[0]?.traffic.answeredAfter,
    new Map([
      [bucketOf(5), 2],
      [bucketOf(700), 1],
    ]),
  )
})

test('what counted on while it was written is still to be written, and what is over is forgotten', () => {
  const recorder = new TrafficRecorder()
  recorder.record({ httpStatus: 200, durationMs: 1, nowMs })
  const first = recorder.changed()
  recorder.record({ httpStatus: 200, durationMs: 1, nowMs })
  recorder.written(first, nowMs)
  const second = recorder.changed()
  assert.deepEqual(
    second.map(({ traffic }) => traffic.requests),
    [2, 2],
  )
  recorder.written(second, nowMs + 2 * hourMs)
  assert.deepEqual(recorder.changed(), [])
  recorder.record({ httpStatus: 200, durationMs: 1, nowMs: nowMs + 2 * hourMs })
  assert.deepEqual(
    recorder.changed().map(({ traffic }) => traffic.requests),
    [1, 1],
  )
})
