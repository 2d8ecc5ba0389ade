// The statistics behind `npm run timing`, on samples whose difference is known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSeeded } from './simulation/seeded.ts'
import { compare, judge } from './timing/compare.ts'

const seeded = makeSeeded('statistics')
/** As refusals come: a little jitter, now and then a long wait, and a machine that gets slower. */
const samples = (count: number, moreMicros: number) =>
  Array.from(
    { length: count },
    (_, at) => 5_000 + moreMicros + 50 * seeded.fraction() + at / 100 + (seeded.isLucky(0.01) ? 20_000 : 0),
  )

test('equal kinds are found equal, a difference is found, and what cannot be told is not', () => {
  const reference = samples(10_000, 0)
  assert.equal(judge(compare(samples(10_000, 0), reference), 5), 'none')
  assert.equal(judge(compare(samples(10_000, 20), reference), 5), 'usable')
  assert.equal(judge(compare(samples(500, 0), reference.slice(0, 500)), 5), 'unclear')
})
