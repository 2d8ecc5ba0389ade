import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Places } from './places.ts'

test('there are so many places in all, and one that is given back is free again', () => {
  const places = new Places({ total: 2, perAddress: 2 })
  const first = places.take('a')
  assert.ok(first)
  assert.ok(places.take('b'))
  assert.equal(places.take('c'), undefined)
  first()
  assert.ok(places.take('c'))
})

test('one address has only its share', () => {
  const places = new Places({ total: 10, perAddress: 2 })
  const mine = [places.take('a'), places.take('a')]
  assert.equal(places.take('a'), undefined)
  assert.ok(places.take('b'))
  mine[0]?.()
  assert.ok(places.take('a'))
})

test('a place is given back once, however often it is said', () => {
  const places = new Places({ total: 1, perAddress: 1 })
  const giveBack = places.take('a')
  giveBack?.()
  giveBack?.()
  assert.ok(places.take('a'))
  assert.equal(places.take('a'), undefined)
})
