// The seven days of a callback, walked by a clock that the test moves: when it is tried, what stays the same, how
// it ends, and that it can be sent once more afterwards.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeManageCallbacks } from '../../src/core/callbacks/resend-callbacks.ts'
import { retryOffsetsMs } from '../../src/core/callbacks/rules/retry-schedule.ts'
import { actingAs } from '../support/acting.ts'
import { acknowledged, answered, makeCallbackWorld, until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'

const clock = new TestClock()
const world = await makeCallbackWorld(clock)
const manage = actingAs(
  { callbacks: makeManageCallbacks({ stores: world, clock, random: randomBytes }) },
  'test',
).callbacks

interface Sent {
  readonly atMs: number
  readonly body: string
}

/** Moves the clock from attempt to attempt until nothing is planned any more. */
async function walk(callbackId: string, sent: readonly Sent[]): Promise<void> {
  for (;;) {
    const before = await world.stored(callbackId)
    if (before.nextAttemptAtMs === undefined) return
    const count = sent.length
    clock.advance(before.nextAttemptAtMs - 1 - clock.now())
    assert.equal(sent.length, count, 'nothing is sent before its time')
    clock.advance(1)
    await until(async () => (await world.stored(callbackId)).attemptsMade > before.attemptsMade)
  }
}

for (const chance of [0, 0.5, 1]) {
  test(`a callback that nobody takes is tried nine times in seven days (chance ${chance})`, async (t) => {
    const sent: Sent[] = []
    const worker = world.startWorker(
      t,
      async ({ body }) => {
        sent.push({ atMs: clock.now(), body })
        return answered(404)
      },
      { chance },
    )
    const startMs = clock.now()
    const { callbackId } = await world.queueCallback('https://shop.example/never')
    await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
    await walk(callbackId, sent)

    const offsets = sent.map(({ atMs }) => atMs - startMs)
    const spread = (2 * chance - 1) / 10
    assert.deepEqual(offsets, [
      0,
      ...retryOffsetsMs.slice(0, -1).map((offset) => Math.round(offset * (1 + spread))),
      // The last one is never late.
      Math.round((retryOffsetsMs.at(-1) ?? 0) * (1 - chance / 10)),
    ])

    const opened = await Promise.all(sent.map(({ body }) => world.open(body)))
    assert.equal(new Set(opened.map(({ id }) => id)).size, 1)
    assert.equal(opened[0]?.id, callbackId)
    assert.equal(new Set(opened.map(({ body }) => body)).size, 1)
    assert.equal(new Set(opened.map(({ sign }) => sign)).size, 9)
    assert.deepEqual(
      opened.map(({ timestamp }) => Number(timestamp)),
      sent.map(({ atMs }) => atMs),
    )

    const stored = await world.stored(callbackId)
    assert.equal(stored.state, 'exhausted')
    assert.equal(stored.retriesMade, 8)
    assert.equal(stored.attemptsMade, 9)
    assert.equal(worker.counts().exhausted, 1)
    const attempts = await world.history.listAttempts(stored)
    assert.deepEqual(
      attempts.map(({ startedAtMs, httpStatus, outcome }) => ({ startedAtMs, httpStatus, outcome })),
      sent.map(({ atMs }) => ({ startedAtMs: atMs, httpStatus: 404, outcome: 'refused' })),
    )
    const { rows } = await world.pool.query('select from callback_queue where callback_id = $1', [callbackId])
    assert.equal(rows.length, 0, 'it has left the queue')
  })
}

test('an exhausted callback can be sent again: one attempt, which changes nothing when it fails', async (t) => {
  let answer: typeof acknowledged | ReturnType<typeof answered> = answered(404)
  const sent: Sent[] = []
  world.startWorker(t, async ({ body }) => {
    sent.push({ atMs: clock.now(), body })
    return answer
  })
  const { callbackId } = await world.queueCallback('https://shop.example/later')
  await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
  await walk(callbackId, sent)

  await manage.resendOne({ callbackId }, 'the shop asked')
  await until(async () => (await world.stored(callbackId)).attemptsMade === 10)
  const failed = await world.stored(callbackId)
  assert.deepEqual([failed.state, failed.retriesMade, failed.nextAttemptAtMs], ['exhausted', 8, undefined])

  answer = acknowledged
  await manage.resendOne({ callbackId }, 'the shop asked again')
  await until(async () => (await world.stored(callbackId)).attemptsMade === 11)
  const delivered = await world.stored(callbackId)
  assert.equal(delivered.state, 'delivered')
  const opened = await Promise.all(sent.map(({ body }) => world.open(body)))
  assert.deepEqual([...new Set(opened.map(({ id }) => id))], [callbackId])
  const attempts = await world.history.listAttempts(delivered)
  assert.deepEqual(
    attempts.map(({ isResend }) => isResend),
    [...Array(9).fill(false), true, true],
  )
})

describe('success', () => {
  for (let failures = 0; failures <= 8; failures++) {
    test(`at attempt ${failures + 1} ends the ladder`, async (t) => {
      const sent: Sent[] = []
      world.startWorker(t, async ({ body }) => {
        sent.push({ atMs: clock.now(), body })
        return sent.length > failures ? acknowledged : answered(418)
      })
      const { callbackId } = await world.queueCallback('https://shop.example/at-last')
      await until(async () => (await world.stored(callbackId)).attemptsMade === 1)
      await walk(callbackId, sent)
      assert.equal(sent.length, failures + 1)
      const stored = await world.stored(callbackId)
      assert.deepEqual([stored.state, stored.retriesMade, stored.isWarned], ['delivered', failures, false])
      clock.advance(30 * 24 * 60 * 60 * 1000)
      assert.equal(sent.length, failures + 1)
    })
  }
})
