import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertFails, failureOf } from '../test/failure.ts'
import { codesWithoutMinorUnit, currencies, currenciesAsOf, isCurrencyCode } from './currencies.ts'
import {
  checkPositiveDecimal,
  digitsOf,
  readMinorUnits,
  toDecimalText,
  toMinorUnits,
  toPositiveMinorUnits,
  toWireAmount,
} from './money.ts'

const someCode = fc.constantFrom(...(Object.keys(currencies) as (keyof typeof currencies)[]))

test('text and numbers are converted to minor units with the currency’s decimal places', () => {
  const cases: [number | string, string, bigint][] = [
    ['12.50', 'USD', 1250n],
    ['12.5', 'USD', 1250n],
    [12.5, 'USD', 1250n],
    [0.1, 'USD', 10n],
    [0, 'USD', 0n],
    ['0', 'JPY', 0n],
    [1000, 'JPY', 1000n],
    ['1.234', 'TND', 1234n],
    [1.234, 'TND', 1234n],
    ['0.0001', 'CLF', 1n],
    [4.35, 'USD', 435n],
    [1.005, 'BHD', 1005n],
    [1234567890123.45, 'USD', 123456789012345n],
    ['999999999999999.99', 'USD', 99999999999999999n],
    ['1000000000000000', 'USD', 100000000000000000n],
    [100, 'HUF', 10000n],
    [1, 'IQD', 1000n],
  ]
  for (const [amount, currency, minor] of cases)
    assert.equal(toMinorUnits(amount, currency, 'a'), minor, `${amount} ${currency}`)
})

test('too many decimal places are rejected with the currency’s number of places', () => {
  assert.match(
    assertFails(() => toMinorUnits('10.5', 'JPY', 'order.tips'), 'amount_does_not_fit_currency', 'order.tips')
      .message,
    /JPY.*no decimal places.*10\.5/,
  )
  assert.match(
    assertFails(() => toMinorUnits(1.234, 'USD', 'a'), 'amount_does_not_fit_currency', 'a').message,
    /2 decimal places/,
  )
  assertFails(() => toMinorUnits('1.2345', 'TND', 'a'), 'amount_does_not_fit_currency', 'a')
  assertFails(() => toMinorUnits('10.00', 'JPY', 'a'), 'amount_does_not_fit_currency', 'a')
  assertFails(() => toMinorUnits(1e-7, 'USD', 'a'), 'amount_does_not_fit_currency', 'a')
  assertFails(
    () => toMinorUnits(`0.${'0'.repeat(100_000)}1`, 'USD', 'a'),
    'amount_does_not_fit_currency',
    'a',
  )
})

test('the maximum is 10^15, to the last minor unit', () => {
  const tooMuch = [
    '1000000000000000.01',
    '1000000000000001',
    '9'.repeat(17),
    '9'.repeat(100_000),
    1e16,
    1e21,
    1e300,
    Infinity,
  ]
  for (const amount of tooMuch) {
    const { message } = assertFails(
      () => toMinorUnits(amount, 'USD', 'a'),
      'amount_does_not_fit_currency',
      'a',
    )
    assert.equal(message, 'a is larger than 1000000000000000.00 USD.')
  }
  assertFails(() => checkPositiveDecimal(1e21, 'a'), 'amount_does_not_fit_currency', 'a')
})

test('with four decimal places, the maximum is 10^18 minor units', () => {
  assert.equal(toMinorUnits('100000000000000.0000', 'CLF', 'a'), 10n ** 18n)
  const { message } = assertFails(
    () => toMinorUnits('100000000000000.0001', 'CLF', 'a'),
    'amount_does_not_fit_currency',
    'a',
  )
  assert.equal(message, 'a is larger than 100000000000000.0000 CLF.')
})

test('negative amounts are rejected, including minus zero', () => {
  for (const amount of ['-1', '-0', -1, -0.01, -0, -Infinity]) {
    assert.match(
      assertFails(() => toMinorUnits(amount, 'USD', 'a'), 'invalid_field', 'a').message,
      /negative/,
    )
  }
})

test('exponents are rejected with an explanation', () => {
  for (const amount of ['1e2', '1E+2', '1.5e-1', '1e400']) {
    assert.match(
      assertFails(() => toMinorUnits(amount, 'USD', 'a'), 'invalid_field', 'a').message,
      /exponent/,
    )
  }
})

test('text that is not a plain decimal is rejected', () => {
  for (const amount of [
    '',
    ' 1',
    '1 ',
    '+1',
    '01',
    '1.',
    '.5',
    '1,5',
    '1_000',
    '0x10',
    '١',
    '１',
    'NaN',
    'Infinity',
    '1.2.3',
    '1\n',
    '1e2x',
    'x1e2',
    NaN,
  ]) {
    assert.match(
      assertFails(() => toMinorUnits(amount, 'USD', 'a'), 'invalid_field', 'a').message,
      /plain decimal/,
    )
  }
})

test('an invalid amount is rejected with what to change', () => {
  const message = (amount: string) =>
    assertFails(() => toMinorUnits(amount, 'EUR', 'a'), 'invalid_field', 'a').message
  assert.match(message('12,50'), /Use a point, not a comma\.$/)
  assert.match(message('€12.50'), /It was "€12\.50"\.$/)
  assert.match(message(''), /no leading zeros\.$/)
})

test('a number with more than 15 digits is rejected, the same text is accepted', () => {
  assert.match(
    assertFails(() => toMinorUnits(123456789012345.67, 'USD', 'a'), 'invalid_field', 'a').message,
    /send it as a string/,
  )
  assertFails(() => toMinorUnits(0.1 + 0.2, 'USD', 'a'), 'invalid_field', 'a')
  assert.equal(toMinorUnits('123456789012345.67', 'USD', 'a'), 12345678901234567n)
})

test('leading and trailing zeros do not count as digits, inner zeros do', () => {
  assert.equal(readMinorUnits(0.00012345678901234, 3), 'too_precise')
  assert.equal(readMinorUnits(1234500000000001, 0), 'too_many_digits')
  assert.equal(toWireAmount(-123456789012345n, 'USD'), -1234567890123.45)
})

test('a number that JavaScript writes with an exponent is too large or too precise', () => {
  assert.equal(readMinorUnits(1e21, 0), 'too_large')
  assert.equal(readMinorUnits(Number.POSITIVE_INFINITY, 0), 'too_large')
  assert.equal(readMinorUnits(1e-7, 4), 'too_precise')
})

test('an error quotes the amount, shortened', () => {
  const long = `0.${'1'.repeat(1_000)}`
  const { message } = assertFails(() => toMinorUnits(long, 'USD', 'a'), 'amount_does_not_fit_currency', 'a')
  assert(message.endsWith(`but was 0.${'1'.repeat(38)}.`), message)
})

test('a positive amount is at least one minor unit', () => {
  assert.equal(toPositiveMinorUnits('0.01', 'USD', 'a'), 1n)
  for (const amount of ['0.00', 0]) {
    const { message } = assertFails(() => toPositiveMinorUnits(amount, 'USD', 'a'), 'invalid_field', 'a')
    assert.equal(message, 'a must be greater than zero.')
  }
})

test('a decimal is checked before its currency is known', () => {
  for (const amount of ['0.00000001', 0.01, '12', 12]) checkPositiveDecimal(amount, 'a')
  for (const amount of ['0', '0.000', 0, '-1', 'x', 0.1 + 0.2])
    assertFails(() => checkPositiveDecimal(amount, 'a'), 'invalid_field', 'a')
  assert.match(failureOf(() => checkPositiveDecimal('0.00', 'a')).message, /^a must be greater than zero/)
  assertFails(() => checkPositiveDecimal(1e-7, 'a'), 'amount_does_not_fit_currency', 'a')
})

test('minor units are written with all decimal places of the currency', () => {
  assert.equal(toDecimalText(1050n, 'USD'), '10.50')
  assert.equal(toDecimalText(5n, 'USD'), '0.05')
  assert.equal(toDecimalText(3n, 'JPY'), '3')
  assert.equal(toDecimalText(0n, 'TND'), '0.000')
  assert.equal(toDecimalText(-1050n, 'USD'), '-10.50')
  assert.equal(toDecimalText(-7n, 'JPY'), '-7')
})

test('responses contain a number if it is exact, otherwise text', () => {
  assert.equal(toWireAmount(1050n, 'USD'), 10.5)
  assert.equal(toWireAmount(123456789012345n, 'USD'), 1234567890123.45)
  assert.equal(toWireAmount(12345678901234567n, 'USD'), '123456789012345.67')
  assert.equal(toWireAmount(100000000000000000n, 'USD'), 1e15)
  assert.equal(JSON.stringify(toWireAmount(100000000000000000n, 'USD')), '1000000000000000')
})

test('every amount survives a round trip in every currency', () => {
  fc.assert(
    fc.property(
      someCode,
      fc.bigInt({ min: 0n, max: 10n ** 14n }),
      fc.boolean(),
      (currency, seed, isLarge) => {
        const minor = isLarge ? seed * 10n ** BigInt(digitsOf(currency)) : seed
        const wire = JSON.parse(JSON.stringify(toWireAmount(minor, currency)))
        assert.equal(toMinorUnits(wire, currency, 'a'), minor)
        assert.equal(toMinorUnits(toDecimalText(minor, currency), currency, 'a'), minor)
      },
    ),
    { numRuns: 1000 },
  )
})

test('a number has the value of its shortest text', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999 }), (cents) => {
      assert.equal(toMinorUnits(cents / 100, 'EUR', 'a'), BigInt(cents))
    }),
    { numRuns: 1000 },
  )
})

test('an unknown currency is rejected; one without a minor unit has its own reason', () => {
  for (const code of ['ZZZ', 'usd', '', 'toString', 'BGN', 'ANG', 'ZWL', 'HRK', '__proto__']) {
    assert.match(assertFails(() => digitsOf(code), 'invalid_field', 'currency').message, /ISO 4217 code/)
  }
  for (const code of codesWithoutMinorUnit) {
    assert.match(
      assertFails(() => toMinorUnits(1, code, 'a'), 'invalid_field', 'currency').message,
      /no minor unit/,
    )
  }
})

test('the table is ISO’s list of its date: 178 codes, 165 of them accepted', () => {
  const codes = Object.keys(currencies)
  assert.equal(currenciesAsOf, '2026-01-01')
  assert.equal(codes.length, 165)
  assert.equal(codesWithoutMinorUnit.size, 13)
  assert(codes.every((code) => /^[A-Z]{3}$/.test(code) && !codesWithoutMinorUnit.has(code)))
  assert.deepEqual(codes, [...codes].sort())
  for (const code of ['XCG', 'ZWG', 'XAD', 'SLE', 'VED', 'MRU']) assert(isCurrencyCode(code), code)
})

test('the decimal places are ISO’s and not Intl’s: two, except for the listed codes', () => {
  const others: Record<number, string> = {
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }
  const expected = new Map(
    Object.entries(others).flatMap(([digits, codes]) => codes.split(' ').map((c) => [c, digits])),
  )
  for (const [code, { digits }] of Object.entries(currencies)) {
    assert.equal(digits, Number(expected.get(code) ?? 2), code)
  }
})
