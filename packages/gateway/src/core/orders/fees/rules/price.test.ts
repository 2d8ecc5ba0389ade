import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPrice,
  describeScope,
  makePriceBook,
  type Price,
  type PriceScope,
  priceLeadMs,
  type Terms,
} from './price.ts'

const terms: Terms = {
  fixedMinor: 1n,
  basisPoints: 0,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: false,
}
const all: PriceScope = { merchantId: undefined, railId: undefined, currency: undefined }
const price = (priceId: string, given: Partial<Price> = {}): Price => ({
  priceId,
  ...all,
  validFromMs: priceLeadMs,
  createdAtMs: 0,
  terms,
  ...given,
})
const payment = { merchantId: 'm', railId: 'wallet', currency: 'USD' }

test('the most specific price applies: merchant before rail, rail before currency', () => {
  const scopes: Partial<Price>[] = [
    { merchantId: 'm', railId: 'wallet', currency: 'USD' },
    { merchantId: 'm', railId: 'wallet' },
    { merchantId: 'm', currency: 'USD' },
    { merchantId: 'm' },
    { railId: 'wallet', currency: 'USD' },
    { railId: 'wallet' },
    { currency: 'USD' },
    {},
  ]
  for (let first = 0; first < scopes.length; first++) {
    const prices = scopes.slice(first).map((scope, index) => price(`${first + index}`, scope))
    assert.equal(makePriceBook(prices.toReversed()).find(payment, priceLeadMs)?.priceId, `${first}`)
  }
})

test('a price of another merchant, rail or currency does not apply', () => {
  for (const scope of [{ merchantId: 'n' }, { railId: 'bank' }, { currency: 'EUR' }])
    assert.equal(makePriceBook([price('x', scope)]).find(payment, priceLeadMs), undefined)
})

test('a price applies from its start until the next price for the same scope', () => {
  const book = makePriceBook([
    price('a', { validFromMs: 100 }),
    price('c', { validFromMs: 300 }),
    price('b', { validFromMs: 200 }),
  ])
  const at = (atMs: number) => book.find(payment, atMs)?.priceId
  assert.deepEqual([99, 100, 199, 200, 299, 300, 1_000].map(at), [undefined, 'a', 'a', 'b', 'b', 'c', 'c'])
  assert.equal(book.size, 3)
})

test('after a price ends, the next less specific one applies', () => {
  const book = makePriceBook([
    price('all', { validFromMs: 100 }),
    price('own', { merchantId: 'm', validFromMs: 100 }),
    price('end', { merchantId: 'm', validFromMs: 200, terms: undefined }),
    price('again', { merchantId: 'm', validFromMs: 300 }),
  ])
  assert.deepEqual(
    [100, 200, 300].map((atMs) => book.find(payment, atMs)?.priceId),
    ['own', 'all', 'again'],
  )
  assert.deepEqual(
    book.candidates(payment, 200).map(({ scope, price: found }) => [scope.merchantId, found?.priceId]),
    [
      ['m', 'end'],
      [undefined, 'all'],
    ],
  )
  assert.deepEqual(
    book.candidates(payment, 50).map(({ price: found }) => found),
    [undefined, undefined],
  )
})

test('a price is set at least a minute before it applies, to the millisecond', () => {
  checkPrice(price('a', { createdAtMs: 5, validFromMs: 5 + priceLeadMs, currency: 'USD' }))
  assert.throws(
    () => checkPrice(price('a', { createdAtMs: 5, validFromMs: 4 + priceLeadMs, currency: 'USD' })),
    { field: 'fromMs', message: /one minute from now at the earliest/ },
  )
})

test('an invalid price is rejected with the field', () => {
  const refused: [Partial<Terms>, string, RegExp, string | undefined][] = [
    [{ basisPoints: -1 }, 'basisPoints', /from 0 to 10000/, 'USD'],
    [{ basisPoints: 10_001 }, 'basisPoints', /from 0 to 10000/, 'USD'],
    [{ basisPoints: 1.5 }, 'basisPoints', /whole number/, 'USD'],
    [{ leastMinor: 2n, mostMinor: 1n }, 'least', /more than most/, 'USD'],
    [{}, 'currency', /need a currency/, undefined],
    [{ fixedMinor: 0n, leastMinor: 1n }, 'currency', /need a currency/, undefined],
    [{ fixedMinor: 0n, mostMinor: 1n }, 'currency', /need a currency/, undefined],
  ]
  for (const [given, field, message, currency] of refused)
    assert.throws(() => checkPrice(price('a', { terms: { ...terms, ...given }, currency })), {
      field,
      message,
    })
  const right: [Partial<Terms>, string | undefined][] = [
    [{ basisPoints: 0 }, 'USD'],
    [{ basisPoints: 10_000 }, 'USD'],
    [{ leastMinor: 1n, mostMinor: 1n }, 'USD'],
    [{ leastMinor: 1n }, 'USD'],
    [{ mostMinor: 0n }, 'USD'],
    [{ fixedMinor: 0n, basisPoints: 5 }, undefined],
  ]
  for (const [given, currency] of right) checkPrice(price('a', { terms: { ...terms, ...given }, currency }))
  checkPrice(price('end', { terms: undefined }))
})

test('a scope is described in words', () => {
  assert.equal(describeScope(all), 'every merchant, every payment method, every currency')
  assert.equal(describeScope(payment), 'merchant m, paid by wallet, in USD')
})
