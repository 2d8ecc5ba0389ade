import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestBeatMs, refusalBeatMs, refusedOnTheBeat } from './refusal-beat.ts'

/** One timer at a time, which runs out when the test says so. */
function makeTimer() {
  let running: (() => void) | undefined
  const delaysMs: number[] = []
  return {
    delaysMs,
    startTimer(delayMs: number, expire: () => void) {
      delaysMs.push(delayMs)
      assert.equal(running, undefined)
      running = expire
      return () => {
        running = undefined
      }
    },
    expire() {
      const expired = running
      running = undefined
      assert(expired, 'no timer is running')
      expired()
    },
    isRunning: () => running !== undefined,
  }
}

/** Long enough for everything to happen that can. */
const aTurn = () => new Promise(setImmediate)

test('a refusal waits for the beat that began before the work', async () => {
  const timer = makeTimer()
  let isOver = false
  const refused = refusedOnTheBeat(async () => undefined, timer.startTimer).then((opened) => {
    assert.equal(opened, undefined)
    isOver = true
  })
  await aTurn()
  assert.equal(isOver, false)
  timer.expire()
  await refused
  assert.equal(timer.isRunning(), false)
})

test('work that takes longer than a beat is refused on the next one', async () => {
  const timer = makeTimer()
  const work = Promise.withResolvers<undefined>()
  let isOver = false
  const refused = refusedOnTheBeat(() => work.promise, timer.startTimer).then(() => {
    isOver = true
  })
  timer.expire()
  work.resolve(undefined)
  await aTurn()
  assert.equal(isOver, false)
  timer.expire()
  await refused
})

test('beats get longer while the work goes on, up to a bound, and remain multiples of the first', async () => {
  const timer = makeTimer()
  const work = Promise.withResolvers<undefined>()
  const refused = refusedOnTheBeat(() => work.promise, timer.startTimer)
  for (let i = 0; i < 4; i++) timer.expire()
  assert.deepEqual(timer.delaysMs, [refusalBeatMs, 10, 20, longestBeatMs, longestBeatMs])
  work.resolve(undefined)
  await aTurn()
  timer.expire()
  await refused
  assert.equal(timer.isRunning(), false)
})

test('what opens is there at once, and so is trouble', async () => {
  const timer = makeTimer()
  assert.equal(await refusedOnTheBeat(async () => 'opened', timer.startTimer), 'opened')
  assert.equal(timer.isRunning(), false)
  const trouble = refusedOnTheBeat(() => Promise.reject(new Error('database')), timer.startTimer)
  await assert.rejects(trouble, /database/)
  assert.equal(timer.isRunning(), false)
})
