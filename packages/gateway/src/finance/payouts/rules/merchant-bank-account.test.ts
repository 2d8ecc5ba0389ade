import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accountAt,
  describeBankDetails,
  holderOf,
  type MerchantBankAccount,
  parseMerchantBankDetails,
  parsePayoutDetails,
  shortenBankDetails,
  stateOf,
} from './merchant-bank-account.ts'

const iban = { holder: 'Shop GmbH', iban: 'DE89370400440532013000', lines: undefined, bic: undefined }
const lined = { ...iban, iban: undefined, lines: ['1234567', 'First Bank', '1 Main Street'] }

test('an account has an IBAN, or lines that start with its number', () => {
  const written = { ...iban, iban: 'de89 3704 0044 0532 0130 00', bic: 'cobadeff' }
  assert.deepEqual(parseMerchantBankDetails(written), { ...iban, bic: 'COBADEFF' })
  assert.deepEqual(parseMerchantBankDetails(lined), lined)
  const refused = [
    [{ ...iban, iban: undefined }, 'iban'],
    [{ ...iban, iban: 'DE88370400440532013000' }, 'iban'],
    [{ ...iban, lines: ['1'] }, 'lines'],
    [{ ...iban, bic: 'x' }, 'bic'],
    [{ ...iban, holder: 'x'.repeat(71) }, 'holder'],
    [{ ...lined, lines: ['1'.repeat(35), 'First Bank'] }, 'lines'],
  ] as const
  for (const [given, field] of refused)
    assert.throws(() => parseMerchantBankDetails(given), { failure: 'invalid_field', field }, field)
  const longest = { ...lined, holder: 'x'.repeat(70), lines: ['1'.repeat(34), 'First Bank'] }
  assert.deepEqual(parseMerchantBankDetails(longest), longest)
})

test('a holder has at most 70 characters, and a longer name is shortened', () => {
  const longest = '𝒜'.repeat(70)
  assert.equal(parsePayoutDetails({ ...iban, holder: longest }).holder, longest)
  const tooLong = { ...iban, holder: `${longest}x` }
  assert.throws(() => parsePayoutDetails(tooLong), { field: 'holder' })
  assert.equal(holderOf(tooLong.holder), longest)
  assert.equal(holderOf(`${'x'.repeat(69)} yz`), 'x'.repeat(69))
  assert.equal(holderOf('Ann Example'), 'Ann Example')
})

const account = (bankAccountId: string, given: Partial<MerchantBankAccount> = {}): MerchantBankAccount => ({
  ...iban,
  merchantId: '1',
  bankAccountId,
  currency: 'EUR',
  setAtMs: 0,
  validFromMs: 100,
  endedAtMs: undefined,
  ...given,
})

test('payouts go to the newest account whose waiting period has ended, to the millisecond', () => {
  const first = account('a')
  const second = account('b', { setAtMs: 150, validFromMs: 250 })
  const all = [second, first]
  assert.equal(accountAt(all, 99), undefined)
  assert.equal(accountAt(all, 100), first)
  assert.equal(accountAt(all, 249), first)
  assert.equal(accountAt(all, 250), second)
  assert.deepEqual(
    all.map((each) => stateOf(each, all, 249)),
    ['waiting', 'in_use'],
  )
  assert.deepEqual(
    all.map((each) => stateOf(each, all, 250)),
    ['in_use', 'replaced'],
  )
})

test('a stopped account never receives payouts', () => {
  const stopped = account('b', { validFromMs: 250, endedAtMs: 200 })
  const all = [account('a'), stopped]
  assert.equal(accountAt(all, 300), all[0])
  assert.equal(stateOf(stopped, all, 300), 'stopped')
})

test('operators see a whole bank account, others its last digits', () => {
  assert.equal(shortenBankDetails(iban), 'Shop GmbH, …3000')
  assert.equal(shortenBankDetails(lined), 'Shop GmbH, …4567')
  assert.equal(
    describeBankDetails({ ...iban, bic: 'COBADEFF' }),
    'Shop GmbH, DE89 3704 0044 0532 0130 00, COBADEFF',
  )
  assert.equal(describeBankDetails(lined), 'Shop GmbH, 1234567, First Bank, 1 Main Street')
})

test('a holder in a script that payment files do not allow is rejected; accents are removed', () => {
  const given = (holder: string) =>
    parseMerchantBankDetails({ holder, iban: 'DE89370400440532013000', lines: undefined, bic: undefined })
  assert.equal(given('Łukasz Müller-Sørensen ß').holder, 'Łukasz Müller-Sørensen ß')
  const shown = describeBankDetails(given('Łukasz Müller-Sørensen & ß'))
  assert.match(shown, /^Łukasz Müller-Sørensen & ß \(Lukasz Muller-Sorensen \+ ss\), DE89 3704/)
  for (const holder of ['Иван Петров', '张伟', 'Tea 張'])
    assert.throws(() => given(holder), /Enter the holder in Latin letters, as the bank writes it/, holder)
})
