import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maxPayoutMinor, payableMinor, reserveMinor } from './payout-amount.ts'

const none = { fixedMinor: 0n, shareBasisPoints: 0 }
const eur = { currency: 'EUR', keptMinor: 0n, leastMinor: 0n }

test('without a reserve and a minimum, the whole positive balance is paid out', () => {
  assert.equal(payableMinor({ ...eur, availableMinor: 1n }), 1n)
  assert.equal(payableMinor({ ...eur, availableMinor: 12_345n }), 12_345n)
  assert.equal(payableMinor({ ...eur, availableMinor: 0n }), undefined)
})

test('the reserve remains, to the minor unit', () => {
  assert.equal(payableMinor({ ...eur, availableMinor: 100n, keptMinor: 99n }), 1n)
  assert.equal(payableMinor({ ...eur, availableMinor: 100n, keptMinor: 100n }), undefined)
  assert.equal(payableMinor({ ...eur, availableMinor: 100n, keptMinor: 101n }), undefined)
})

test('the minimum amount is paid out, one minor unit less is not', () => {
  assert.equal(payableMinor({ ...eur, availableMinor: 60n, keptMinor: 10n, leastMinor: 50n }), 50n)
  assert.equal(payableMinor({ ...eur, availableMinor: 59n, keptMinor: 10n, leastMinor: 50n }), undefined)
})

test('an amount above the limit of a payment file is paid in the next run', () => {
  assert.equal(maxPayoutMinor('EUR'), 99_999_999_999n)
  assert.equal(maxPayoutMinor('USD'), 999_999_999_999_999_999n)
  for (const currency of ['EUR', 'USD']) {
    const most = maxPayoutMinor(currency)
    const given = { currency, keptMinor: 0n, leastMinor: 0n }
    assert.equal(payableMinor({ ...given, availableMinor: most - 1n }), most - 1n)
    assert.equal(payableMinor({ ...given, availableMinor: most }), most)
    assert.equal(payableMinor({ ...given, availableMinor: most + 1n }), most)
  }
})

test('a reserve is the fixed amount plus the share of sales, rounded up', () => {
  assert.equal(reserveMinor(none, 1_000n), 0n)
  assert.equal(reserveMinor({ ...none, fixedMinor: 7n }, 1_000n), 7n)
  assert.equal(reserveMinor({ ...none, shareBasisPoints: 500 }, 1_000n), 50n)
  assert.equal(reserveMinor({ fixedMinor: 7n, shareBasisPoints: 500 }, 1_001n), 58n)
  assert.equal(reserveMinor({ ...none, shareBasisPoints: 1 }, 10_000n), 1n)
  assert.equal(reserveMinor({ ...none, shareBasisPoints: 1 }, 10_001n), 2n)
  assert.equal(reserveMinor({ ...none, shareBasisPoints: 10_000 }, 12_345n), 12_345n)
  assert.equal(reserveMinor({ ...none, shareBasisPoints: 10_000 }, 0n), 0n)
})

test('a payout always leaves the reserve and is never below the minimum', () => {
  const minor = fc.bigInt(0n, 10n ** 20n)
  fc.assert(
    fc.property(
      minor,
      minor,
      minor,
      minor,
      fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom('JPY', 'EUR', 'TND'),
      (availableMinor, fixedMinor, salesMinor, leastMinor, shareBasisPoints, currency) => {
        const keptMinor = reserveMinor({ fixedMinor, shareBasisPoints }, salesMinor)
        assert.ok((keptMinor - fixedMinor) * 10_000n >= salesMinor * BigInt(shareBasisPoints))
        const payable = payableMinor({ currency, availableMinor, keptMinor, leastMinor })
        if (payable === undefined) {
          const free = availableMinor - keptMinor
          assert.ok(free <= 0n || free < leastMinor)
        } else {
          assert.ok(payable > 0n && payable <= maxPayoutMinor(currency))
          assert.ok(availableMinor - payable >= keptMinor)
        }
      },
    ),
  )
})
