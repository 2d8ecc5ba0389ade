import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { Clock } from '../runtime/clock.ts'
import { startLoop } from './loop.ts'

const log = pino({ level: 'silent' })
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A clock whose waits end when they are aborted or when the test says so. */
function testClock() {
  const waits: { ms: number; end: () => void }[] = []
  const clock: Clock = {
    now: () => 0,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, end: resolve })
        signal.addEventListener('abort', () => resolve())
      }),
  }
  return { clock, waits }
}

test('a loop waits as long as its turn returns, then runs the next', async () => {
  const { clock, waits } = testClock()
  let turns = 0
  const loop = startLoop({ name: 'test', turn: async () => ++turns * 100, clock, log })
  await settle()
  waits[0]?.end()
  await settle()
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [100, 200],
  )
  await loop.stop()
})

test('a wake-up ends the wait, even one that arrives during a turn', async () => {
  const { clock, waits } = testClock()
  let turns = 0
  const loop = startLoop({ name: 'test', turn: async () => ++turns && 60_000, clock, log })
  await settle()
  loop.wake()
  await settle()
  assert.equal(turns, 2)
  await loop.stop()

  let again = 0
  const busy = startLoop({
    name: 'test',
    turn: async () => {
      if (++again === 1) busy.wake()
      return 60_000
    },
    clock,
    log,
  })
  await settle()
  assert.equal(again, 2)
  await busy.stop()
  assert.ok(waits.length >= 3)
})

test('after errors, pauses grow and wake-ups do not shorten them', async () => {
  const { clock, waits } = testClock()
  let broken = true
  const loop = startLoop({
    name: 'test',
    turn: async () => {
      if (broken) throw new Error('away')
      return 7
    },
    clock,
    log,
  })
  for (let i = 0; i < 8; i++) {
    await settle()
    loop.wake()
    await settle()
    assert.equal(waits.length, i + 1)
    if (i === 7) broken = false
    waits[i]?.end()
  }
  await settle()
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [100, 200, 400, 800, 1600, 3200, 5000, 5000, 7],
  )
  await loop.stop()
})

test('stopping waits for the current turn', async () => {
  const { clock } = testClock()
  let finish = () => {}
  let finished = false
  const loop = startLoop({
    name: 'test',
    turn: async () => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      finished = true
      return 0
    },
    clock,
    log,
  })
  await settle()
  const stopping = loop.stop()
  finish()
  await stopping
  assert.ok(finished)
})
