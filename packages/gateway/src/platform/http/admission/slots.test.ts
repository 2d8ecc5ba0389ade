import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from './slots.ts'

test('the number of slots is limited, and a returned slot is free again', () => {
  const slots = new Slots({ total: 2, perKey: 2 })
  const first = slots.take('a')
  assert.ok(first)
  assert.ok(slots.take('b'))
  assert.equal(slots.take('c'), undefined)
  first()
  assert.ok(slots.take('c'))
})

test('one key has only its share', () => {
  const slots = new Slots({ total: 10, perKey: 2 })
  const mine = [slots.take('a'), slots.take('a')]
  assert.equal(slots.take('a'), undefined)
  assert.ok(slots.take('b'))
  mine[0]?.()
  assert.ok(slots.take('a'))
  assert.equal(slots.take('a'), undefined)
})

test('a slot is returned once, however often it is released', () => {
  const slots = new Slots({ total: 1, perKey: 1 })
  const giveBack = slots.take('a')
  giveBack?.()
  giveBack?.()
  assert.ok(slots.take('a'))
  assert.equal(slots.take('a'), undefined)
})

test('reserved slots are for known addresses, which can also use all others', () => {
  const slots = new Slots({ total: 4, perKey: 4, reserved: 2 })
  const unknown = [slots.take('a', { isKnown: false }), slots.take('b', { isKnown: false })]
  assert.equal(slots.take('c', { isKnown: false }), undefined)
  unknown[0]?.()
  assert.ok(slots.take('c', { isKnown: false }))
  assert.ok(slots.take('k') && slots.take('k'))
  unknown[1]?.()
  assert.ok(slots.take('k'))
  assert.equal(slots.take('d', { isKnown: false }), undefined)
})

test('the number of taken slots includes the share of unknown addresses', () => {
  const slots = new Slots({ total: 5, perKey: 5, reserved: 1 })
  assert.deepEqual([slots.taken, slots.shareTakenByUnknown], [0, 0])
  const known = slots.take('k')
  const giveBack = slots.take('a', { isKnown: false })
  assert.deepEqual([slots.taken, slots.shareTakenByUnknown], [2, 0.25])
  known?.()
  assert.deepEqual([slots.taken, slots.shareTakenByUnknown], [1, 0.25])
  giveBack?.()
  giveBack?.()
  assert.deepEqual([slots.taken, slots.shareTakenByUnknown], [0, 0])
  const withoutReserve = new Slots({ total: 2, perKey: 2 })
  withoutReserve.take('a', { isKnown: false })
  assert.equal(withoutReserve.shareTakenByUnknown, 0.5)
})
