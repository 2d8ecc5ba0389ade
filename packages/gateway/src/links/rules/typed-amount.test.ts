import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTypedAmount } from './typed-amount.ts'

const read = (typed: string, currency = 'EUR') => readTypedAmount(typed, currency)

test('an amount is read as people of any country type it', () => {
  for (const typed of ['12.5', '12,50', ' 12.50 ', '012,5', '١٢٫٥', '۱۲٫۵۰', '１２．５'])
    assert.equal(read(typed), 1250n, typed)
  for (const typed of ['1234.50', '1,234.50', '1.234,50', '1 234,50', "1'234.50", '1\u202f234,50', '١٬٢٣٤٫٥'])
    assert.equal(read(typed), 123_450n, typed)
  for (const typed of ['1,234', '1.234', '1234', '1234.', '1,234.00'])
    assert.equal(read(typed), 123_400n, typed)
  assert.equal(read('1,234,567'), 123_456_700n)
  assert.equal(read('.5'), 50n)
})

test('the digits of the currency decide what a mark before three digits is', () => {
  assert.equal(read('1,234', 'JPY'), 1234n)
  assert.equal(read('1.234', 'TND'), 1234n)
  assert.equal(read('1,234.567', 'TND'), 1_234_567n)
  assert.equal(read('1.5', 'JPY'), undefined)
})

test('what is no amount, or could be two, is not guessed at', () => {
  for (const typed of [
    '',
    ' ',
    '0',
    '0.00',
    '-5',
    '5 EUR',
    '1.2.3',
    '1,23,456',
    '12,34.56.7',
    '1e3',
    '5.0001',
    'NaN',
  ])
    assert.equal(read(typed), undefined, typed)
  assert.equal(read('9'.repeat(31)), undefined)
})
