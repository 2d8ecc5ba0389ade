import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  brokenLimit,
  dayOf,
  describeLimits,
  limitsIn,
  limitsOf,
  loosened,
  noLimits,
  nothingSpent,
  type Spending,
} from './limits.ts'

const defaults = { ...noLimits, paymentMinor: 100n, dayMinor: 150n }
const broken = (spending: Partial<Spending>, amountMinor: bigint, day = 5) =>
  brokenLimit({ ...nothingSpent, ...spending }, { amountMinor, day, defaults })

test('an amount equal to the limit is allowed', () => {
  assert.equal(broken({}, 100n), undefined)
  assert.deepEqual(broken({}, 101n), { kind: 'payment', limitMinor: 100n })
  assert.equal(broken({ spentOn: 5, spentMinor: 50n }, 100n), undefined)
  assert.deepEqual(broken({ spentOn: 5, spentMinor: 51n }, 100n), {
    kind: 'day',
    limitMinor: 150n,
    leftMinor: 99n,
  })
  assert.deepEqual(broken({ spentOn: 5, spentMinor: 200n }, 1n), {
    kind: 'day',
    limitMinor: 150n,
    leftMinor: 0n,
  })
})

test('a new day resets the daily total, and a clock set back does not', () => {
  assert.equal(broken({ spentOn: 4, spentMinor: 150n }, 100n), undefined)
  assert.equal(broken({ spentOn: 6, spentMinor: 150n }, 100n)?.kind, 'day')
  assert.equal(dayOf(Date.UTC(1970, 0, 2) - 1), 0)
  assert.equal(dayOf(Date.UTC(1970, 0, 2)), 1)
})

test('a wallet’s own limit replaces the default, whether higher or lower', () => {
  const own = { ...noLimits, paymentMinor: 120n, dayMinor: 0n }
  assert.equal(broken({ own }, 110n)?.kind, 'day')
  assert.equal(broken({ own: { ...own, dayMinor: undefined } }, 120n), undefined)
})

test('unset limits do not apply, and each currency has its own', () => {
  assert.equal(brokenLimit(nothingSpent, { amountMinor: 10n ** 18n, day: 1, defaults: noLimits }), undefined)
  const inEuro = (minor: bigint) => new Map([['EUR', minor]])
  const all = { payment: inEuro(5n), day: inEuro(6n), balance: inEuro(7n) }
  assert.deepEqual(limitsIn('EUR', all), { paymentMinor: 5n, dayMinor: 6n, balanceMinor: 7n })
  assert.deepEqual(limitsIn('USD', all), noLimits)
  assert.deepEqual(limitsIn('EUR', { payment: undefined, day: undefined, balance: undefined }), noLimits)
})

test('a wallet’s own limits combine with the defaults of the others', () => {
  const gateways = { paymentMinor: 5n, dayMinor: 6n, balanceMinor: 7n }
  assert.deepEqual(limitsOf(noLimits, gateways), gateways)
  assert.deepEqual(limitsOf({ ...noLimits, balanceMinor: 1n }, gateways), { ...gateways, balanceMinor: 1n })
  assert.deepEqual(limitsOf({ paymentMinor: 1n, dayMinor: 2n, balanceMinor: 3n }, gateways), {
    paymentMinor: 1n,
    dayMinor: 2n,
    balanceMinor: 3n,
  })
})

test('the audit entry lists the wallet’s own limits', () => {
  assert.equal(
    describeLimits({ paymentMinor: 1_050n, dayMinor: 0n, balanceMinor: undefined }, 'EUR'),
    'EUR: payment 10.50, day 0.00, balance default',
  )
})

test('a higher limit is looser, and no limit is the loosest', () => {
  const before = { paymentMinor: 100n, dayMinor: 200n, balanceMinor: undefined }
  assert.deepEqual(loosened(before, before), [])
  assert.deepEqual(loosened(before, { paymentMinor: 99n, dayMinor: 0n, balanceMinor: 5n }), [])
  assert.deepEqual(loosened(before, { ...before, paymentMinor: 101n }), ['payment'])
  assert.deepEqual(loosened(before, noLimits), ['payment', 'day'])
  assert.deepEqual(loosened({ ...before, balanceMinor: 7n }, { ...before, balanceMinor: 8n }), ['balance'])
})
