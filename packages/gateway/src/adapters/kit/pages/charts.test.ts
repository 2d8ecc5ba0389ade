import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chart, roundCeiling } from './charts.ts'

type Values = readonly (number | undefined)[]

function draw(all: Readonly<Record<string, Values>>, title = 'T'): string {
  return chart({
    id: 'x',
    title,
    times: (Object.values(all)[0] ?? []).map((_, index) => `at ${index}`),
    lines: Object.entries(all).map(([label, values], index) => ({
      label,
      look: index === 0 ? ('first' as const) : ('before' as const),
      values,
      texts: values.map((value) => value ?? '—'),
      whole: values.length,
    })),
    write: String,
  }).text
}

test('the axis starts at zero and ends at a round number above the maximum', () => {
  const [, scale = ''] = /class="scale"[^>]*>(.+?)<\/div>/.exec(draw({ a: [3, 5, 37] })) ?? []
  assert.deepEqual(scale.match(/\d+/g), ['40', '20', '0'])
  for (const value of [0, 1, 2, 3, 9, 10, 11, 99, 101, 5_999, 123_456_789]) {
    const end = roundCeiling(value)
    assert.ok(end >= value && end > 0 && end <= Math.max(2, value * 5), `${value}: ${end}`)
  }
})

test('unknown values are gaps, the current period is dashed, a single value is a dot', () => {
  const text = draw({ a: [1, 2, undefined, 2, undefined, 1, 1] })
  assert.deepEqual(
    [...text.matchAll(/<path class="([^"]+)" d="([^"]+)"/g)].map(([, look, path]) => [look, path]),
    [
      ['first', 'M5 50L15 0M35 0h0M55 50'],
      ['running first', 'M55 50L65 50'],
    ],
  )
  assert.match(draw({ a: [1, undefined, 2] }), /class="running first" d="M25 0L25 0"/)
})

test('every point can be reached by keyboard and announces each line’s value, as does the table', () => {
  const text = draw({ paid: [1, 2], 'paid, the day before': [7, undefined] })
  const columns = [...text.matchAll(/<li tabindex="0".*?<\/li>/gs)].map(([column]) =>
    column
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  assert.deepEqual(columns, ['at 0 paid 1 paid, the day before 7', 'at 1, now paid 2 paid, the day before —'])
  assert.equal(text.match(/<tr>/g)?.length, 3)
})

test('an empty chart says so, and external text is escaped', () => {
  assert.match(draw({ a: [undefined, undefined] }), /Nothing in this time/)
  assert.doesNotMatch(draw({ '<b x>': [1] }, '"<i x>'), /<b x>|<i x>/)
})
