import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cluster, loads, skewOf } from './skew.ts'

const cluster: Cluster = { merchants: 1_000, exponent: 1, shards: 64, workers: 16, isolated: 0 }
const largest =
  1 / Array.from({ length: 1_000 }, (_, rank) => 1 / (rank + 1)).reduce((sum, each) => sum + each, 0)

test('the workers together have all of the volume, however many merchants are isolated', () => {
  for (const isolated of [0, 1, 16, 1_000]) {
    const all = loads({ ...cluster, isolated }, 7).reduce((sum, load) => sum + load, 0)
    assert.ok(Math.abs(all - 1) < 1e-9)
  }
})

test('many merchants of one size load the workers nearly alike', () => {
  assert.ok(skewOf({ ...cluster, merchants: 100_000, exponent: 0 }, 3) < 1.1)
})

test('isolating the largest merchants helps, down to what the largest has by itself', () => {
  const [none, one, sixteen] = [0, 1, 16].map((isolated) => skewOf({ ...cluster, isolated }, 31))
  assert.ok(none && one && sixteen && none > one && one > sixteen)
  assert.ok(sixteen > largest * cluster.workers)
})

test('workers beyond the number of shards have nothing', () => {
  const empty = loads({ ...cluster, shards: 32, workers: 64 }, 7).filter((load) => load === 0)
  assert.equal(empty.length, 32)
})
