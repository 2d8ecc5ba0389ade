import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDigits, grouped, isRight } from '../../treasury/rules/mod-97.ts'
import {
  checkBankAccount,
  creditorReference,
  isCreditorReference,
  transferInstructions,
} from './transfer-account.ts'

test('check digits match the examples of the standards', () => {
  // ISO 11649 and ISO 13616, as published.
  assert.equal(checkDigits('RF', '539007547034'), '18')
  assert(isCreditorReference('RF18539007547034'))
  for (const iban of ['DE89370400440532013000', 'GB82WEST12345698765432', 'NO9386011117947'])
    assert(isRight(iban), iban)
  assert(!isRight('DE88370400440532013000'))
})

test('an order has one permanent reference of unambiguous characters', () => {
  const reference = creditorReference('P01K73ZQ800JZ7V3N4Q5R6S7T8W')
  assert.equal(reference, creditorReference('P01K73ZQ800JZ7V3N4Q5R6S7T8W'))
  assert.match(reference, /^RF[0-9]{2}[0-9A-HJKMNP-TV-Z]{15}$/)
  assert(isCreditorReference(reference))
  assert.notEqual(reference, creditorReference('P01K73ZQ800JZ7V3N4Q5R6S7T8X'))
})

test('every wrong character and every swap of adjacent characters is detected', () => {
  const reference = creditorReference('P01K73ZQ800JZ7V3N4Q5R6S7T8W')
  for (let at = 2; at < reference.length; at++) {
    const wrong = reference.charAt(at) === '7' ? '8' : '7'
    assert(!isCreditorReference(reference.slice(0, at) + wrong + reference.slice(at + 1)), `at ${at}`)
    const [a = '', b = ''] = reference.slice(at, at + 2)
    if (a !== b && b !== '')
      assert(!isCreditorReference(reference.slice(0, at) + b + a + reference.slice(at + 2)), `swap at ${at}`)
  }
})

test('an account is a valid IBAN, or lines', () => {
  const account = {
    holder: 'Example GmbH',
    iban: 'de89 3704 0044 0532 0130 00',
    bic: 'cobadeffxxx',
    lines: [],
  }
  assert.deepEqual(checkBankAccount(account), {
    ...account,
    iban: 'DE89370400440532013000',
    bic: 'COBADEFFXXX',
  })
  assert.throws(() => checkBankAccount({ ...account, iban: 'DE89 3704 0044 0532 0130 01' }), /not an IBAN/)
  assert.throws(() => checkBankAccount({ ...account, bic: 'COBA' }), /bic must be 8 or 11/)
  assert.throws(() => checkBankAccount({ holder: 'Example', lines: [] }), /IBAN, or the lines/)
  const lines = [{ label: 'Sort code', value: '20-00-00' }]
  assert.deepEqual(checkBankAccount({ holder: 'Example', lines }).lines, lines)
})

test('the consumer sees the account, the remaining amount, and the reference', () => {
  const account = { holder: 'Example GmbH', iban: 'DE89370400440532013000', bic: undefined, lines: [] }
  const paymentId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'
  const action = transferInstructions(account, { paymentId, amountMinor: 1_234n, currency: 'EUR' }, 1_000n)
  assert(action.kind === 'instructions')
  assert.deepEqual(
    action.lines.map(({ label, value }) => `${label}: ${value}`),
    [
      'Account holder: Example GmbH',
      'IBAN: DE89 3704 0044 0532 0130 00',
      'Received so far: 10.00 EUR',
      'Amount: 2.34 EUR',
      `Reference: ${grouped(creditorReference(paymentId))}`,
    ],
  )
})
