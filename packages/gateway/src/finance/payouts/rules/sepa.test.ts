import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountrySpecifications } from 'ibantools'
import { isSepaIban } from './sepa.ts'

// If this fails with another version of ibantools, check the European Payments Council's list.
test('the SEPA countries are those of ibantools plus the five that it lacks', () => {
  const countries = Object.entries(getCountrySpecifications())
  const ours = countries.flatMap(([code]) => (isSepaIban(`${code}00`) ? [code] : []))
  const theirs = countries.flatMap(([code, { SEPA }]) => (SEPA ? [code] : []))
  assert.deepEqual(new Set(ours), new Set([...theirs, 'AL', 'MD', 'ME', 'MK', 'RS']))
  // 41 countries, and Gibraltar.
  assert.equal(ours.length, 42)
})
