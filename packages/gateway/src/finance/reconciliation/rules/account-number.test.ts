import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNumberOf } from './account-number.ts'

const byIban = (iban: string) => ({ iban, number: undefined })
const byNumber = (number: string) => ({ iban: undefined, number })

test('an account is recognized by its IBAN and by the account number in the IBAN', () => {
  const dutch = byIban('NL91ABNA0417164300')
  for (const stated of [
    'NL91ABNA0417164300',
    'nl91 abna 0417 1643 00',
    '417164300',
    '0417164300',
    '4171.64.300EUR',
  ])
    assert.equal(isNumberOf(dutch, stated), true, stated)
  for (const stated of ['ABNANL2A/0417164300', 'ABNANL2A/417164300/EUR'])
    assert.equal(isNumberOf(dutch, stated), true, stated)
  for (const stated of ['417164301', '64300', '', 'ABNA', 'NL92ABNA0417164300', '37040044/0417164300'])
    assert.equal(isNumberOf(dutch, stated), false, stated)
  const german = byIban('DE89370400440532013000')
  assert.equal(isNumberOf(german, '37040044/532013000EUR'), true)
  assert.equal(isNumberOf(german, '37040045/532013000'), false)
})

test('an account without an IBAN is recognized by its number in any format', () => {
  for (const stated of ['0001234567', '1234567', '1234.567', 'BANKUS33/001234567USD'])
    assert.equal(isNumberOf(byNumber('000 1234 567'), stated), true, stated)
  for (const stated of ['11234567', '123456', '', 'BANKUS33'])
    assert.equal(isNumberOf(byNumber('000 1234 567'), stated), false, stated)
  assert.equal(isNumberOf({ iban: undefined, number: undefined }, ''), false)
})
