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

test('thousands are separated by one kind of separator', () => {
  for (const typed of ['1 234 567', '1\u00a0234 567', "1'234'567", '1’234’567', '١٬٢٣٤٬٥٦٧', '1.234.567'])
    assert.equal(read(typed), 123_456_700n, typed)
  for (const typed of ['1 234,5', '1 234.50', "1'234.5", '1’234,50', '1٬234٫5', '1.234٫5', '1,234.5'])
    assert.equal(read(typed), 123_450n, typed)
  for (const typed of ['12 34', '5 00', '1 2 3', "1'50", '1 234 5', '1234 567', '0 500', '١٬٥٠', "'5", "5'"])
    assert.equal(read(typed), undefined, typed)
  for (const typed of ["1 234'567", '1,234 567', '1,234.567.890', '1 234 50', '12, 50', '1 234, 5'])
    assert.equal(read(typed), undefined, typed)
})

test('the Arabic decimal separator never separates thousands', () => {
  assert.equal(read('١٫٥٠٠'), undefined)
  assert.equal(read('١٫٢٣٤', 'EGP'), undefined)
  assert.equal(read('١٫٢٣٤٫٥٦٧'), undefined)
  assert.equal(read('١٫٥٠٠', 'KWD'), 1500n)
  assert.equal(read('٫٥'), 50n)
})

test('characters that NFKC would convert to digits are not digits', () => {
  for (const typed of ['5²', '①', '₅', '½', '⒈5']) assert.equal(read(typed), undefined, typed)
})

test('the currency’s decimal places determine the meaning of a separator before three digits', () => {
  assert.equal(read('1,234', 'JPY'), 1234n)
  assert.equal(read('1.234', 'TND'), 1234n)
  assert.equal(read('1,234.567', 'TND'), 1_234_567n)
  assert.equal(read('1,234,567', 'TND'), 1_234_567_000n)
  assert.equal(read('1 234', 'TND'), 1_234_000n, 'a space is no decimal mark')
  assert.equal(read('1.5', 'JPY'), undefined)
})

test('invalid and ambiguous amounts are rejected', () => {
  for (const typed of [
    '',
    ' ',
    '0',
    '.',
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
