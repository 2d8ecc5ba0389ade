import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketOf, lastBucket, mergeDurations, percentile } from './durations.ts'

function counted(values: readonly number[]): ReadonlyMap<number, number> {
  return mergeDurations(values.map((value) => new Map([[bucketOf(value), 1]])))
}

test('a percentile is right to within a twentieth, from a millisecond to a week', () => {
  for (const scale of [1, 40, 1_000, 86_400, 604_800]) {
    const values = Array.from({ length: 1_000 }, (_, index) => (index + 1) * scale)
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = values[Math.ceil(share * values.length) - 1] ?? 0
      const found = percentile(counted(values), share) ?? 0
      assert.ok(Math.abs(found / exact - 1) <= 0.0501, `${share} of ${scale}: ${found} for ${exact}`)
    }
  }
})

test('of one value every percentile is that value, and of none there is none', () => {
  for (const share of [0, 0.5, 0.95, 1])
    assert.ok(Math.abs((percentile(counted([2_000]), share) ?? 0) / 2_000 - 1) <= 0.05)
  assert.equal(percentile(new Map(), 0.5), undefined)
})

test('what cannot be a duration has a bucket too: below zero, nothing, beyond all bounds', () => {
  assert.deepEqual([-5, 0, 1, Number.NaN].map(bucketOf), [0, 0, 0, 0])
  assert.equal(bucketOf(Number.POSITIVE_INFINITY), lastBucket)
})
