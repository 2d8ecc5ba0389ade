import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('beyond the limit, the oldest entry is removed, and setting an entry again renews it', () => {
  const map = new BoundedMap<string, number>(3)
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['a', 4],
    ['d', 5],
  ] as const)
    map.set(key, value)
  assert.deepEqual(
    [...map],
    [
      ['c', 3],
      ['a', 4],
      ['d', 5],
    ],
  )
  map.set('c', 6)
  assert.equal(map.size, 3)
})
