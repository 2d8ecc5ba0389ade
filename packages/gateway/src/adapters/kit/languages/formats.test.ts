import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFormats } from './formats.ts'

const plainSpaces = (text: string) =>
  text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f\u061c]/g, '')
const money = (language: string, minor: bigint, currency: string) =>
  plainSpaces(makeFormats(language).moneyText(minor, currency))

test('an amount has the decimal places of ISO 4217, even where Intl differs', () => {
  assert.equal(money('en', 1250n, 'USD'), '$12.50')
  assert.equal(money('en', 1250n, 'JPY'), '¥1,250')
  assert.equal(money('en', 1250n, 'TND'), 'TND 1.250')
  assert.equal(money('en', 1250n, 'HUF'), 'HUF 12.50')
  assert.equal(money('en', 1250n, 'IQD'), 'IQD 1.250')
  assert.equal(money('en', 12500n, 'CLF'), 'CLF 1.2500')
})

test('an amount is formatted for the reader’s language', () => {
  assert.equal(money('de', 123456789n, 'EUR'), '1.234.567,89 €')
  assert.equal(money('fr', 123456789n, 'EUR'), '1 234 567,89 €')
  assert.equal(money('es', 123456789n, 'EUR'), '1.234.567,89 €')
  assert.equal(money('en', -610n, 'USD'), '-$6.10')
})

test('the largest amount keeps every digit', () => {
  assert.equal(money('en', 999_999_999_999_999_999n, 'USD'), '$9,999,999,999,999,999.99')
})

test('a count uses the plural form of the language', () => {
  const items = '{count, plural, one {{count} item} few {{count} few} other {{count} items}}'
  assert.equal(makeFormats('en').plural(items, 1), '1 item')
  assert.equal(makeFormats('en').plural(items, 1234), '1,234 items')
  assert.equal(makeFormats('ar').plural(items, 3), `${makeFormats('ar').number(3)} few`)
})

test('a text without plural forms for every number throws', () => {
  const { plural } = makeFormats('en')
  for (const message of [
    '{count} items',
    '{count, plural, one {{count} item}}',
    '{count, plural, other {{name}}}',
  ])
    assert.throws(() => plural(message, 2), /is no plural/, message)
})

test('relative times use the reader’s language', () => {
  const formats = makeFormats('en')
  assert.equal(formats.inTime(-5), 'in 1 second')
  assert.equal(formats.inTime(29_001), 'in 30 seconds')
  assert.equal(formats.inTime(4 * 60_000 + 1), 'in 5 minutes')
  assert.equal(formats.inTime(3 * 3_600_000 + 1), 'in 4 hours')
  assert.equal(formats.inTime(24 * 3_600_000), 'in 24 hours')
  assert.equal(makeFormats('ja').inTime(4 * 3_600_000), '4 時間後')
  assert.equal(formats.duration(1, 'second'), '1 second')
  assert.equal(makeFormats('de').duration(29, 'minute'), '29 Minuten')
  assert.match(formats.time(1_800_000_000_000), /Jan 15, 2027.*8:00.*UTC/)
})
