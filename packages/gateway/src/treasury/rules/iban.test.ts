import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIban, writtenIban } from './iban.ts'

test('an IBAN is read in any grouping and written in fours', () => {
  assert.equal(parseIban(' de89 3704 0044 0532 0130 00 ', 'iban'), 'DE89370400440532013000')
  assert.equal(parseIban('GB82WEST12345698765432', 'iban'), 'GB82WEST12345698765432')
  assert.equal(parseIban('NO9386011117947', 'iban'), 'NO9386011117947')
  assert.equal(writtenIban('NO9386011117947'), 'NO93 8601 1117 947')
  assert.equal(writtenIban('GB82WEST12345698'), 'GB82 WEST 1234 5698')
})

test('one wrong character, two that changed places, and what is no IBAN are refused at the field', () => {
  const wrong = [
    'DE88370400440532013000',
    'DE89370400440532013001',
    'DE89370400445032013000',
    'GB82WEST12345698765423',
    '',
    'DE89',
    '12345678901234567890',
    'DE89370400440532013000/1',
  ]
  for (const text of wrong)
    assert.throws(() => parseIban(text, 'iban'), { failure: 'invalid_field', field: 'iban' }, text)
})
