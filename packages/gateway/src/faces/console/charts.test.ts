import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../http/html.ts'
import { type Chart, chart, durationCeiling, rateCeiling, roundCeiling } from './charts.ts'

function draw(series: Chart['series'], more: Partial<Chart> = {}): string {
  return chart({
    id: 'x',
    title: 'T',
    series,
    times: ['then', 'later'],
    ceiling: roundCeiling,
    write: String,
    table: html`<table></table>`,
    ...more,
  }).text
}

const linesOf = (text: string) =>
  [...text.matchAll(/class="line (?:running )?first" d="([^"]+)"/g)].map(([, d]) => d)

test('the axis begins at zero and ends at a round number that holds the greatest value', () => {
  const text = draw([{ label: 'a', values: [3, 5, 37] }])
  assert.deepEqual(
    [...text.matchAll(/class="scale"[^>]*>([^<]+)/g)].map(([, scale]) => scale),
    ['0', '20', '40'],
  )
  for (const value of [0, 1, 2, 3, 9, 10, 11, 99, 101, 5_999, 123_456_789]) {
    for (const ceiling of [roundCeiling, durationCeiling, rateCeiling]) {
      const end = ceiling(value)
      assert.ok(
        end >= value && end > 0 && end <= Math.max(2, value * 5),
        `${ceiling.name} of ${value}: ${end}`,
      )
    }
  }
})

test('what is not known is a gap, what is still running is dashed, a value alone is a point', () => {
  const text = draw([{ label: 'a', values: [1, 2, undefined, 2, undefined, 1, 1] }])
  const [whole, running] = linesOf(text)
  assert.equal(whole, 'M52 72L89.3 10M164 10M238.7 72')
  assert.equal(running, 'M238.7 72L276 72')
  assert.deepEqual(
    [...text.matchAll(/<circle class="first" cx="([^"]+)"/g)].map(([, x]) => x),
    ['164', '276'],
  )
})

test('labels that would lie on one another are pushed apart, and stay within the picture', () => {
  const text = draw([
    { label: 'a', values: [0, 0] },
    { label: 'b', values: [0, 0] },
    { label: 'c', values: [2, 0] },
  ])
  const places = [...text.matchAll(/class="label \w+" x="284" y="([^"]+)"/g)].map(([, y]) => Number(y))
  assert.equal(places.length, 3)
  for (const [index, place] of places.entries()) {
    assert.ok(place <= 134)
    if (index > 0) assert.ok(place - (places[index - 1] ?? 0) >= 14)
  }
})

test('without any value it says so, and what comes from outside is escaped', () => {
  assert.match(draw([{ label: 'a', values: [undefined, undefined] }]), /Nothing in this time/)
  assert.doesNotMatch(draw([{ label: '<b>', values: [1] }], { title: '"<i>' }), /<b>|<i>/)
})
