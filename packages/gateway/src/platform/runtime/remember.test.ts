import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remember } from './remember.ts'

test('a result is computed once, even if it is undefined', () => {
  const asked: number[] = []
  const half = remember(
    (number: number) => {
      asked.push(number)
      return number % 2 === 0 ? number / 2 : undefined
    },
    { keyOf: String, most: 10 },
  )
  assert.deepEqual([half(4), half(3), half(4), half(3)], [2, undefined, 2, undefined])
  assert.deepEqual(asked, [4, 3])
})

test('beyond the limit, the oldest result is forgotten, and results stay correct', () => {
  let count = 0
  const square = remember(
    (number: number) => {
      count++
      return number * number
    },
    { keyOf: String, most: 2 },
  )
  assert.deepEqual([1, 2, 3, 1, 3].map(square), [1, 4, 9, 1, 9])
  assert.equal(count, 4)
})
