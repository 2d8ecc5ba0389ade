import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkLimits } from './limits.ts'

test('addresses over their limit do not use up the link’s limit', () => {
  const limits = new LinkLimits({ now: () => 0 })
  const abusers = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  const passed = abusers.map((address) => {
    let count = 0
    for (let tries = 0; tries < 1_000; tries++) if (limits.takePress(address, 'L1') === 0) count++
    return count
  })
  assert.deepEqual(passed, [300, 300, 300])
  assert.equal(limits.takePress('10.0.0.4', 'L1'), 0)
})

test('a link has a limit for all addresses together', () => {
  let nowMs = 0
  const limits = new LinkLimits({ now: () => nowMs })
  const addresses = Array.from({ length: 2_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`)
  const waits = addresses.map((address) => limits.takePress(address, 'L1'))
  assert.equal(waits.filter((wait) => wait === 0).length, 1_000)
  assert.equal(limits.takePress('10.1.0.0', 'L2'), 0)
  nowMs += 20
  assert.equal(limits.takePress('10.1.0.1', 'L1'), 0)
})
