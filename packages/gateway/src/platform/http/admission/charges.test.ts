import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Charges, costOfBrokenHttp, costOfUnfinishedBody, isSilence } from './charges.ts'

test('an address is charged for broken HTTP, for slow requests if it is unknown, and less for silent connections', () => {
  const cost = (code: string, bytesRead: number, isKnown = false) =>
    costOfBrokenHttp(Object.assign(new Error(code), { code }), { bytesRead, isKnown })
  assert.equal(cost('HPE_INVALID_METHOD', 9), 1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 0), 0.1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 9), 1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 9, true), 0)
  assert.equal(cost('HPE_INVALID_EOF_STATE', 9), 0)
  assert.equal(cost('ECONNRESET', 0), 0)
  assert.equal(cost('ECONNRESET', 9), 0)
  assert.equal(cost('ERR_HPE_', 9), 0)
  assert.equal(costOfBrokenHttp(new Error('of no kind'), { bytesRead: 9, isKnown: false }), 0)
  assert.equal(isSilence(new Error('of no kind'), { bytesRead: 0 }), false)
})

test('an incomplete body costs an envelope per five seconds, and at least a tenth', () => {
  assert.deepEqual([0, 400, 1_000, 5_000, 15_000].map(costOfUnfinishedBody), [0.1, 0.1, 0.2, 1, 3])
})

/** Ten envelopes per minute: one every six seconds. */
function makeCharges() {
  let nowMs = 0
  const shutOut: string[] = []
  const charges = new Charges({
    envelopesPerMinute: 10,
    clock: { now: () => nowMs },
    onShutOut: (key) => void shutOut.push(key),
  })
  return {
    charges,
    shutOut,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('only the address over its allowance waits', () => {
  const { charges, pass } = makeCharges()
  assert.equal(charges.waitMs('a'), 0)
  charges.charge('a', 9)
  assert.equal(charges.waitMs('a'), 0)
  charges.charge('a', 1)
  assert.equal(charges.waitMs('a'), 6_000)
  assert.equal(charges.waitMs('b'), 0)
  pass(5_999)
  assert.equal(charges.waitMs('a'), 1)
  pass(1)
  assert.equal(charges.waitMs('a'), 0)
})

test('over twice its allowance, an address is blocked for another minute, with one log line', () => {
  const { charges, shutOut, pass } = makeCharges()
  charges.charge('a', 19)
  assert.equal(charges.waitMs('a'), 60_000)
  assert.equal(charges.isShutOut('a'), false)
  charges.charge('a', 0.5)
  assert.equal(charges.isShutOut('a'), true)
  assert.equal(charges.waitMs('a'), 63_000 + 60_000)
  charges.charge('a', 1)
  assert.deepEqual(shutOut, ['a'])
  assert.equal(charges.waitMs('a'), 63_000 + 60_000 + 6_000)
  pass(69_000)
  assert.equal(charges.isShutOut('a'), false)
  charges.charge('a', 1)
  assert.deepEqual(shutOut, ['a', 'a'])
})

test('requests that are never mistakes block at once', () => {
  const { charges, shutOut } = makeCharges()
  charges.shutOut('a')
  assert.deepEqual([charges.isShutOut('a'), charges.isShutOut('b')], [true, false])
  assert.deepEqual(shutOut, ['a'])
})

test('charges within the allowance delay an address by at most half a minute', () => {
  const { charges, shutOut } = makeCharges()
  for (let sent = 0; sent < 100; sent++) charges.chargeWithinAllowance('a', 1)
  assert.equal(charges.waitMs('a'), 30_000)
  charges.charge('c', 13)
  charges.chargeWithinAllowance('c', 2)
  assert.equal(charges.waitMs('c'), 24_000)
  charges.chargeWithinAllowance('b', 30)
  assert.equal(charges.isShutOut('b'), true)
  assert.deepEqual(shutOut, [])
})
