import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalMs, refuseInConstantTime } from './constant-time-refusal.ts'

/** Each turn takes a tenth of a millisecond, and timers fire when the test says so. */
function makeTime() {
  let nowMs = 1_000.25
  let running: (() => void) | undefined
  return {
    elapsedMs: () => nowMs - 1_000.25,
    pass(ms: number) {
      nowMs += ms
    },
    asleepMs: 0,
    wake() {
      const expired = running
      running = undefined
      assert(expired, 'no timer is running')
      expired()
    },
    isAsleep: () => running !== undefined,
    get machine() {
      return {
        nowMs: () => nowMs,
        startTimer: (delayMs: number, expire: () => void) => {
          this.asleepMs = delayMs
          running = expire
          return () => {}
        },
        nextTurn: (go: () => void) => {
          nowMs += 0.1
          queueMicrotask(go)
        },
      }
    },
  }
}

/** Enough turns for everything that can happen. */
const aTurn = () => new Promise(setImmediate)

/** When the rejection is sent, for a duration of the work and a delay of the timer. */
async function leavesAt({ workMs, lateMs }: { workMs: number; lateMs: number }): Promise<number> {
  const time = makeTime()
  const refused = refuseInConstantTime(async () => {
    time.pass(workMs)
    return undefined
  }, time.machine)
  await aTurn()
  if (time.isAsleep()) {
    time.pass(time.asleepMs + lateMs)
    time.wake()
  }
  assert.equal(await refused, undefined)
  return time.elapsedMs()
}

test('a rejection takes the same time, however long the work took and whenever the timer fired', async () => {
  for (const workMs of [0.01, 0.3, 0.38, 1.7, 4.05, 4.95]) {
    for (const lateMs of [-0.9, 0]) {
      const leftMs = await leavesAt({ workMs, lateMs })
      assert.ok(leftMs >= refusalMs && leftMs < refusalMs + 0.11, `${workMs} ${lateMs}: ${leftMs}`)
    }
  }
})

test('longer work is rejected at the next multiple of that time', async () => {
  for (const [workMs, dueMs] of [
    [5.2, 10],
    [12, 15],
    [99.9, 100],
  ] as const) {
    const leftMs = await leavesAt({ workMs, lateMs: -0.5 })
    assert.ok(leftMs >= dueMs && leftMs < dueMs + 0.11, `${workMs}: ${leftMs}`)
  }
})

test('a late timer reveals only whole milliseconds', async () => {
  for (const workMs of [0.3, 0.38]) {
    const leftMs = await leavesAt({ workMs, lateMs: 1.4 })
    assert.ok(leftMs >= 6 && leftMs < 6.11, `${workMs}: ${leftMs}`)
  }
})

test('a request that opens is answered at once, as is an error', async () => {
  const time = makeTime()
  assert.equal(await refuseInConstantTime(async () => 'opened', time.machine), 'opened')
  const trouble = refuseInConstantTime(() => Promise.reject(new Error('database')), time.machine)
  await assert.rejects(trouble, /database/)
  assert.equal(time.isAsleep(), false)
  assert.equal(time.elapsedMs(), 0)
})
