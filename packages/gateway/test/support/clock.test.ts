import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from './clock.ts'

const { signal } = new AbortController()

test('who looked at the clock just before it was moved, and then waits a moment, wakes all the same', async () => {
  const clock = new TestClock()
  const dueMs = clock.now() + 5_000
  clock.advance(5_000)
  await clock.wait(Math.max(20, dueMs - clock.now()), signal)
  assert.equal(clock.now(), dueMs)
})

test('longer waits end when the clock is moved or they are given up', async () => {
  const clock = new TestClock()
  const ended: string[] = []
  const given = new AbortController()
  const waits = [
    clock.wait(5_000, signal).then(() => ended.push('due')),
    clock.wait(9_000, given.signal).then(() => ended.push('given up')),
  ]
  clock.advance(4_999)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(ended, [])
  clock.advance(1)
  await waits[0]
  given.abort()
  await waits[1]
  assert.deepEqual(ended, ['due', 'given up'])
})
