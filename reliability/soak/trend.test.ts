import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trendOf } from './trend.ts'

test('a line has its own slope, and nothing around it', () => {
  assert.deepEqual(trendOf([1, 3, 5, 7]), { slope: 2, least: 2, most: 2 })
  assert.deepEqual(trendOf([4, 4, 4]), { slope: 0, least: 0, most: 0 })
})

test('what swings around a level may be level; what swings and grows is not', () => {
  const swings = [5, -4, 3, -5, 4, -3, 5, -4, 3, -4]
  const level = trendOf(swings)
  assert.ok(level.least < 0 && level.most > 0, JSON.stringify(level))
  assert.ok(trendOf(swings.map((value, step) => value + 3 * step)).least > 0)
})

test('the interval is that of the textbook', () => {
  // Five points, residuals known: slope 0.6, standard error 0.2828…, t(3) = 3.18.
  const { slope, least } = trendOf([2, 4, 5, 4, 5])
  assert.equal(slope.toFixed(3), '0.600')
  assert.equal((slope - least).toFixed(2), '0.90')
})

test('two values are no trend', () => {
  assert.throws(() => trendOf([1, 2]), /three values, not 2/)
})
