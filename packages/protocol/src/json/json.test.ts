import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maxEnvelopeBytes, maxJsonDepth, maxJsonMarks } from '../limits.ts'
import { inexactNumberText, type Json, JsonError, type JsonObject, readJson } from './json.ts'

function refuses(text: string, words: RegExp): void {
  assert.throws(
    () => readJson(text),
    (error) => error instanceof JsonError && words.test(error.message),
    text.slice(0, 80),
  )
}

test('accepts what JSON.parse accepts', () => {
  const texts = [
    '1',
    '-1.5',
    '"a"',
    'true',
    'false',
    'null',
    '[]',
    '{}',
    ' [1, {"a": "b:c"}, "\\"", null] ',
    '"\\u00e9\\\\"',
  ]
  for (const text of texts) assert.deepEqual(readJson(text), JSON.parse(text), text)
})

test('agrees with JSON.parse for plain numbers and members that are not null', () => {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', maxDepth: 6 },
      fc.boolean(),
      fc.integer({ min: -999999999, max: 999999999 }),
      fc.string({ unit: 'grapheme' }),
      fc.array(tie('tree')),
      fc.dictionary(
        fc.string({ unit: 'binary-ascii' }).filter((k) => !/^(__proto__|constructor|prototype)$/.test(k)),
        tie('tree'),
      ),
    ),
  }))
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      assert.deepEqual(readJson(text), JSON.parse(text))
    }),
  )
})

test('null members count as omitted, at any depth', () => {
  assert.deepEqual(readJson('{"a":null,"b":{"c":null,"d":1},"e":[null]}'), { b: { d: 1 }, e: [null] })
})

test('a repeated key is rejected, including escaped, nested and null ones', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"b":[],"b":{}}}]',
    '{"a":null,"a":1}',
    '{"a":1,"b":2,"a":null}',
  ]) {
    refuses(text, /twice/)
  }
})

test('an error about a repeated key names it, shortened', () => {
  refuses('{"a":1,"b":{"amount":1,"amount":2}}', /the key "amount" is in one object twice/)
  refuses('{"amount":1,"amoun\\u0074":null}', /the key "amount" is in one object twice/)
  refuses(`{"${'k'.repeat(100)}":1,"${'k'.repeat(100)}":1}`, /the key "k{64}…" is/)
})

test('the same key in different objects is accepted, as is a colon in a string', () => {
  const text = '[{"a":1},{"a":2},{"b":{"a":":\\":"}}]'
  assert.deepEqual(readJson(text), JSON.parse(text))
})

test('the keys of prototypes are rejected at any depth', () => {
  for (const key of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    refuses(`{"a":[{"${key}":{"polluted":true}}]}`, /not allowed/)
  }
  assert(!('polluted' in {}))
})

test('other inherited names are ordinary keys', () => {
  assert.deepEqual(Object.keys(readJson('{"toString":1,"valueOf":2,"hasOwnProperty":3}') as JsonObject), [
    'toString',
    'valueOf',
    'hasOwnProperty',
  ])
})

test('an unpaired surrogate is rejected in values, keys and lists, escaped or not', () => {
  for (const text of ['"\\ud800"', '{"a":"\\udc00x"}', '{"\\ud83d":1}', '["\\ude00\\ud83d"]', '"\ud800"']) {
    refuses(text, /surrogate/)
  }
  assert.equal(readJson('"\\ud83d\\ude00"'), '😀')
})

test('nesting is accepted up to its limit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  readJson(nested(maxJsonDepth))
  refuses(nested(maxJsonDepth + 1), /nested/)
  refuses(`${'{"a":'.repeat(maxJsonDepth + 1)}1${'}'.repeat(maxJsonDepth + 1)}`, /nested/)
})

test('200,000 levels and 100 MB are rejected quickly and without a crash', () => {
  const started = process.cpuUsage()
  refuses('['.repeat(100_000) + ']'.repeat(100_000), /nested/)
  refuses('['.repeat(200_000), /nested/)
  refuses('['.repeat(100_000_000), /longer/)
  refuses(`"${'a'.repeat(maxEnvelopeBytes)}"`, /longer/)
  const { user } = process.cpuUsage(started)
  assert(user < 2_000_000, `took ${user} µs`)
})

test('more values than any message has are rejected, and an envelope has a lower limit', () => {
  readJson(`[${'1,'.repeat(maxJsonMarks)}1]`)
  refuses(`[${'1,'.repeat(maxJsonMarks + 1)}1]`, /has more than 20000 commas and colons/)
  assert.throws(() => readJson('{"a":1,"b":2}', { maxMarks: 2 }), JsonError)
  readJson('{"a":",,,:::","b":2}', { maxMarks: 3 })
})

test('text that ends inside a string is rejected, escaped or not', () => {
  for (const text of ['"a', '"a\\"', '{"a":"\\\\\\"', '"\\']) refuses(text, /cut off/)
})

test('numbers that a double may not hold exactly are kept as text', () => {
  const odd = [
    '1e400',
    '1E2',
    '-1e-7',
    '0.1234567890123456',
    '1234567890123456',
    '9007199254740993',
    `1${'0'.repeat(400)}`,
    `0.${'0'.repeat(400)}1`,
  ]
  for (const written of odd) {
    assert.equal(inexactNumberText(readJson(written)), written)
    const inside = readJson(`{"a":[${written},1]}`) as { a: readonly Json[] }
    assert.equal(inexactNumberText(inside.a[0]), written)
    assert.equal(inexactNumberText(inside.a[1]), undefined)
  }
})

test('numbers of up to 15 digits are numbers, with any number of surrounding zeros', () => {
  for (const written of [
    '123456789012345',
    '-123456789.012345',
    '0.000000000123456',
    '1234567890123450000',
    '1.50000000000000000',
  ]) {
    assert.equal(readJson(written), Number(written))
  }
})

test('a number of up to 15 digits keeps its digits', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
      fc.integer({ min: 0, max: 15 }),
      (value, places) => {
        const digits = value.toString().padStart(places + 1, '0')
        const written = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
        const read = readJson(written)
        assert.equal(typeof read, 'number')
        assert.equal(BigInt(Math.round(Number((read as number).toFixed(places).replace('.', '')))), value)
      },
    ),
  )
})

test('invalid JSON is rejected without quoting it', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{"a"}',
    "{'a':1}",
    '[1,]',
    '01',
    '1.',
    '+1',
    'NaN',
    'Infinity',
    '"\u0001"',
    '"\\x"',
    'tru',
    '{"secret":oops}',
    '1 2',
    '"a',
  ]) {
    assert.throws(
      () => readJson(text),
      (error) => error instanceof JsonError && !error.message.includes('secret'),
      text,
    )
  }
})

test('only numbers that were kept as text have a text', () => {
  for (const value of [null, undefined, 1, 'x', {}, []]) assert.equal(inexactNumberText(value), undefined)
})
