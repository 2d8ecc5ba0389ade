// Reads Prometheus' text format 0.0.4, and refuses whatever the format does not allow.
import assert from 'node:assert/strict'

export interface Exposition {
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>
  /** The value of the one sample with exactly these labels; undefined where there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined
  /** Of all samples of this name whose labels include these. */
  sum(name: string, labels?: Record<string, string>): number
}

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const namePattern = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const commentLine = new RegExp(`^# (HELP|TYPE) (${namePattern}) (.+)$`)
const sampleLine = new RegExp(
  `^(${namePattern})(?:\\{(.*)\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|\\+Inf|-Inf|NaN)$`,
)
const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

export function readExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line ends with a line feed')
  const families = new Map<string, { type: string; help: string }>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = commentLine.exec(line)
    if (comment) {
      const [, word, name = '', rest = ''] = comment
      if (word === 'HELP') {
        assert.ok(!families.has(name), `${name} comes twice`)
        families.set(name, { type: '', help: rest })
        current = name
      } else {
        assert.equal(name, current, 'TYPE follows HELP')
        assert.match(rest, /^(counter|gauge|histogram)$/)
        families.set(name, { type: rest, help: families.get(name)?.help ?? '' })
      }
      continue
    }
    const sample = readSample(line)
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
    assert.ok(!seen.has(key), `${key} comes twice`)
    seen.add(key)
    checkBelongs(sample, current, families.get(current)?.type ?? '')
    samples.push(sample)
  }
  for (const [name, { type }] of families) if (type === 'histogram') checkHistogram(name, samples)
  const matching = (name: string, labels: Record<string, string>) =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
  return {
    families,
    value: (name, labels = {}) =>
      matching(name, labels).find(
        (sample) => Object.keys(sample.labels).length === Object.keys(labels).length,
      )?.value,
    sum: (name, labels = {}) => matching(name, labels).reduce((sum, { value }) => sum + value, 0),
  }
}

function readSample(line: string): Sample {
  const found = sampleLine.exec(line)
  assert.ok(found, `not a line of the format: ${line}`)
  const [, name = '', labelText = '', valueText = ''] = found
  const labels: Record<string, string> = {}
  labelPattern.lastIndex = 0
  while (labelPattern.lastIndex < labelText.length) {
    const label = labelPattern.exec(labelText)
    assert.ok(label, `not labels: ${labelText}`)
    const [, key = '', value = ''] = label
    assert.ok(!(key in labels), `${key} comes twice in ${line}`)
    labels[key] = value
  }
  return { name, labels, value: Number(valueText.replace('Inf', 'Infinity')) }
}

function checkBelongs({ name, value }: Sample, family: string, type: string): void {
  const suffix = name.slice(family.length)
  assert.ok(name.startsWith(family), `${name} stands under ${family}`)
  assert.ok(
    (type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).includes(suffix),
    `${name} is no ${type}`,
  )
  if (type === 'counter') assert.ok(family.endsWith('_total'), `${family} does not end with _total`)
  if (type !== 'gauge') assert.ok(value >= 0, `${name} is below zero`)
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const groups = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels: { le: _, ...rest } }) => JSON.stringify(rest),
  )
  for (const [rest, buckets] of groups) {
    const ends = buckets.map(({ labels }) => Number(labels['le']?.replace('Inf', 'Infinity')))
    assert.deepEqual(
      ends,
      ends.toSorted((a, b) => a - b),
      `${name} has its buckets in order`,
    )
    assert.equal(ends.at(-1), Number.POSITIVE_INFINITY)
    const counts = buckets.map(({ value }) => value)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      `${name} counts up`,
    )
    const count = samples.find(
      (each) => each.name === `${name}_count` && JSON.stringify(each.labels) === rest,
    )
    assert.equal(count?.value, counts.at(-1), `${name}_count is its last bucket`)
  }
}
