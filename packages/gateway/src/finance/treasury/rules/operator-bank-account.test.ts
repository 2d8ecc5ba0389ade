import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkValueDate, parseBankDetails, parseIban } from './operator-bank-account.ts'

test('an IBAN is read in any grouping; a wrong character or two swapped ones are rejected', () => {
  assert.equal(parseIban(' de89 3704 0044 0532 0130 00 ', 'iban'), 'DE89370400440532013000')
  assert.equal(parseIban('NO9386011117947', 'iban'), 'NO9386011117947')
  for (const text of ['DE88370400440532013000', 'DE89370400445032013000', '', 'DE89', '12345678901234567890'])
    assert.throws(() => parseIban(text, 'iban'), { failure: 'invalid_field', field: 'iban' }, text)
})

test('details are kept as written, and invalid ones are rejected with the field', () => {
  const none = { iban: undefined, lines: undefined, bic: undefined }
  assert.deepEqual(parseBankDetails({ ...none, holder: ' Shop ', bic: 'coba deff xxx' }), {
    ...none,
    holder: 'Shop',
    bic: 'COBADEFFXXX',
  })
  for (const [wrong, field] of [
    [{ holder: '' }, 'holder'],
    [{ bic: 'COBA' }, 'bic'],
    [{ lines: [] }, 'lines'],
    [{ lines: Array.from({ length: 7 }, () => 'x') }, 'lines'],
    [{ iban: 'NO9386011117947', lines: ['x'] }, 'lines'],
  ] as const)
    assert.throws(() => parseBankDetails({ ...none, holder: 'Shop', ...wrong }), { field })
})

test('a value date is a calendar day', () => {
  for (const day of ['2026-11-16', '2028-02-29']) checkValueDate(day)
  for (const day of ['2026-02-29', '2026-13-01', 'x', '2026-11-16T00:00'])
    assert.throws(() => checkValueDate(day), { field: 'valueDate' })
})
