import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountIdOf } from '../../../core/ledger/rules/transfer.ts'
import {
  checkEquity,
  checkOwn,
  maxSweptMerchants,
  type OwnMovement,
  planOwnMove,
  planSweep,
  withoutBlanks,
} from './own-money.ts'

const sidesOf = (given: Pick<OwnMovement, 'kind' | 'amountMinor'>) => {
  const { from, to, amountMinor } = planOwnMove({ bankName: 'main', currency: 'EUR', ...given })
  return [accountIdOf(from), accountIdOf(to), amountMinor]
}

test('money in debits the bank account, money out credits it', () => {
  const [bank, equity] = ['bank:main:EUR', 'equity:operator:EUR']
  assert.deepEqual(sidesOf({ kind: 'opening_balance', amountMinor: 7n }), [bank, equity, 7n])
  assert.deepEqual(sidesOf({ kind: 'opening_balance', amountMinor: -7n }), [equity, bank, 7n])
  assert.deepEqual(sidesOf({ kind: 'owner_deposit', amountMinor: 7n }), [bank, equity, 7n])
  assert.deepEqual(sidesOf({ kind: 'owner_withdrawal', amountMinor: -7n }), [equity, bank, 7n])
  assert.deepEqual(sidesOf({ kind: 'bank_charge', amountMinor: -7n }), ['bank_charges:main:EUR', bank, 7n])
  assert.deepEqual(sidesOf({ kind: 'bank_charge', amountMinor: 7n }), [bank, 'bank_charges:main:EUR', 7n])
  assert.deepEqual(sidesOf({ kind: 'interest', amountMinor: 7n }), [bank, 'interest:main:EUR', 7n])
  assert.deepEqual(sidesOf({ kind: 'interest', amountMinor: -7n }), ['interest:main:EUR', bank, 7n])
})

test('an outgoing deposit, an incoming withdrawal and a movement of zero are bugs', () => {
  assert.throws(() => sidesOf({ kind: 'owner_deposit', amountMinor: -1n }), /a deposit comes in/)
  assert.throws(() => sidesOf({ kind: 'owner_withdrawal', amountMinor: 1n }), /a withdrawal goes out/)
  assert.throws(() => sidesOf({ kind: 'interest', amountMinor: 0n }), /more than nothing/)
})

const fees = [
  { merchantId: 'small', minor: 10n },
  { merchantId: 'large', minor: 90n },
]
const sweep = (wantedMinor: bigint | undefined, of = fees) => planSweep(of, { currency: 'EUR', wantedMinor })

test('a sweep takes the largest fees first, up to the requested amount', () => {
  const [small, large] = fees
  assert.deepEqual(sweep(undefined), [large, small])
  assert.deepEqual(sweep(90n), [large])
  assert.deepEqual(sweep(91n), [large, { merchantId: 'small', minor: 1n }])
  assert.deepEqual(sweep(100n), [large, small])
  assert.throws(() => sweep(101n), /There are 1\.00 EUR of fees to sweep\. Sweep no more than that/)
  assert.throws(() => sweep(undefined, []), /There are 0\.00 EUR of fees to sweep/)
})

test('one sweep moves the fees of a bounded number of merchants', () => {
  const many = Array.from({ length: maxSweptMerchants + 1 }, (_, index) => ({
    merchantId: String(index),
    minor: BigInt(index + 1),
  }))
  const swept = sweep(undefined, many)
  assert.equal(swept.length, maxSweptMerchants)
  assert.equal(swept.at(-1)?.minor, 2n)
})

test('the owner can withdraw up to the equity and the own money minus costs', () => {
  const own = { equityMinor: 100n, feesMinor: 0n, ownMinor: 95n }
  const wanted = (amountMinor: bigint) => ({ currency: 'EUR', amountMinor })
  checkEquity(own, wanted(100n))
  assert.throws(() => checkEquity(own, wanted(101n)), /Equity has 1\.00 EUR/)
  checkOwn(own, wanted(95n))
  assert.throws(() => checkOwn(own, wanted(96n)), /0\.95 EUR of the money at banks and rails is your own/)
  assert.throws(() => checkOwn({ ...own, ownMinor: -1n }, wanted(1n)), /nothing of the money/)
})

test('a reference is stored without blanks, as statements have it', () => {
  assert.equal(withoutBlanks('RF18 5390 0754'), 'RF1853900754')
  assert.equal(withoutBlanks(' '), undefined)
  assert.equal(withoutBlanks(undefined), undefined)
})
