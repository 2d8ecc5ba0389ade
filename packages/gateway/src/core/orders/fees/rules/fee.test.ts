import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nowMs, paidOrder } from '../../../../../test/support/order-value.ts'
import { chargeFor, feeMinor, feeReturn, returnedFeeMinor } from './fee.ts'
import { makePriceBook, type Terms } from './price.ts'

const free: Terms = {
  fixedMinor: 0n,
  basisPoints: 0,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: false,
}
const fee = (terms: Partial<Terms>, amountMinor: bigint) => feeMinor({ ...free, ...terms }, amountMinor)

test('a fee is a fixed amount plus a share of the payment, rounded half up', () => {
  assert.equal(fee({}, 1_000n), 0n)
  assert.equal(fee({ fixedMinor: 30n }, 1_000n), 30n)
  assert.equal(fee({ basisPoints: 150 }, 1_000n), 15n)
  assert.equal(fee({ fixedMinor: 30n, basisPoints: 150 }, 1_000n), 45n)
  assert.equal(fee({ basisPoints: 100 }, 49n), 0n)
  assert.equal(fee({ basisPoints: 100 }, 50n), 1n)
  assert.equal(fee({ basisPoints: 100 }, 149n), 1n)
  assert.equal(fee({ basisPoints: 100 }, 150n), 2n)
  assert.equal(fee({ basisPoints: 1 }, 4_999n), 0n)
  assert.equal(fee({ basisPoints: 1 }, 5_000n), 1n)
  assert.equal(fee({ basisPoints: 250 }, 10n ** 20n), 25n * 10n ** 17n)
})

test('a fee is at least the minimum, at most the maximum, and never above the payment', () => {
  const terms = { basisPoints: 100, leastMinor: 10n, mostMinor: 50n }
  for (const [amountMinor, expected] of [
    [999n, 10n],
    [1_000n, 10n],
    [1_100n, 11n],
    [5_000n, 50n],
    [5_100n, 50n],
    [9n, 9n],
    [1n, 1n],
  ] as const)
    assert.equal(fee(terms, amountMinor), expected, `${amountMinor}`)
  assert.equal(fee({ basisPoints: 10_000 }, 77n), 77n)
  assert.equal(fee({ fixedMinor: 1n, basisPoints: 10_000 }, 77n), 77n)
  assert.equal(fee({ fixedMinor: 5n, leastMinor: 5n }, 77n), 5n)
  assert.equal(fee({ fixedMinor: 6n, mostMinor: 0n }, 77n), 0n)
})

const amounts = fc.bigInt(1n, 10n ** 15n)

test('with any terms, a fee is between zero and the payment and grows with the payment', () => {
  const terms = fc.record({
    fixedMinor: fc.bigInt(0n, 10n ** 6n),
    basisPoints: fc.nat(10_000),
    leastMinor: fc.option(fc.bigInt(0n, 10n ** 6n), { nil: undefined }),
    mostMinor: fc.option(fc.bigInt(0n, 10n ** 7n), { nil: undefined }),
    returnsFee: fc.boolean(),
  })
  fc.assert(
    fc.property(terms, amounts, amounts, (given, a, b) => {
      const [small, large] = a < b ? [a, b] : [b, a]
      const [less, more] = [feeMinor(given, small), feeMinor(given, large)]
      return less >= 0n && less <= small && more <= large && less <= more
    }),
  )
})

const order = (amountMinor: bigint, feeMinorOf: bigint, isReturned = true) =>
  paidOrder({ paymentAmountMinor: amountMinor, fee: { amountMinor: feeMinorOf, isReturned } })

test('a refund returns its share of the fee, rounded half up, if the price says so', () => {
  assert.equal(returnedFeeMinor(order(1_000n, 45n), 0n), 0n)
  assert.equal(returnedFeeMinor(order(1_000n, 45n), 1_000n), 45n)
  assert.equal(returnedFeeMinor(order(1_000n, 45n), 500n), 23n)
  assert.equal(returnedFeeMinor(order(1_000n, 45n), 488n), 22n)
  assert.equal(returnedFeeMinor(order(1_000n, 45n, false), 1_000n), 0n)
  assert.equal(returnedFeeMinor(paidOrder({}), 1_250n), 0n)
  assert.throws(() => returnedFeeMinor(order(10n, 1n), 11n), /no more is refunded/)
})

test('partial refunds return exactly what one refund of their sum would', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(1n, 1_000n), { minLength: 1, maxLength: 20 }),
      fc.bigInt(0n, 100n),
      fc.boolean(),
      (parts, percent, isReturned) => {
        const paid = parts.reduce((sum, part) => sum + part, 0n)
        const of = order(paid, (paid * percent) / 100n, isReturned)
        let refunded = 0n
        let returned = 0n
        for (const [index, amountMinor] of parts.entries()) {
          const refund = { refundId: `R${index}`, transactionId: `T${index}`, amountMinor }
          const back = feeReturn(of, refund, { refundedBeforeMinor: refunded, nowMs })
          assert.ok((back?.amountMinor ?? 1n) > 0n)
          refunded += amountMinor
          returned += back?.amountMinor ?? 0n
          assert.equal(returned, returnedFeeMinor(of, refunded))
        }
        assert.equal(returned, isReturned ? of.fee?.amountMinor : 0n)
      },
    ),
  )
})

const everywhere = { merchantId: undefined, railId: undefined, currency: 'USD' }
const book = (terms: Partial<Terms>) =>
  makePriceBook([
    { priceId: 'p', ...everywhere, validFromMs: nowMs, createdAtMs: 0, terms: { ...free, ...terms } },
  ])

test('a charge is one transfer from the merchant to its fees, with an id derived from the payment’s', () => {
  const paying = paidOrder({ status: 'confirming' })
  const charge = chargeFor(paying, book({ fixedMinor: 7n, returnsFee: true }), nowMs)
  assert.deepEqual(charge?.fee, { amountMinor: 7n, isReturned: true })
  assert.deepEqual(charge.transfer, {
    merchantId: 'm',
    transferId: 'T1F',
    kind: 'fee',
    phase: 'direct',
    holdId: undefined,
    debitAccountId: 'merchant:m:USD',
    creditAccountId: 'fees:m:USD',
    currency: 'USD',
    amountMinor: 7n,
    paymentId: 'P1',
    refundId: undefined,
    auditId: undefined,
    madeAtMs: nowMs,
  })
  const refund = { refundId: 'R1', transactionId: 'T2', amountMinor: 1_250n }
  const paid = paidOrder({ fee: charge.fee })
  assert.deepEqual(feeReturn(paid, refund, { refundedBeforeMinor: 0n, nowMs: nowMs + 1 }), {
    ...charge.transfer,
    transferId: 'T2F',
    kind: 'fee_return',
    debitAccountId: 'fees:m:USD',
    creditAccountId: 'merchant:m:USD',
    refundId: 'R1',
    madeAtMs: nowMs + 1,
  })
})

test('nothing is charged before a price applies, without a matching price, or if the fee is zero', () => {
  const paying = paidOrder({ status: 'confirming' })
  assert.equal(chargeFor(paying, makePriceBook([]), nowMs), undefined)
  assert.equal(chargeFor(paying, book({ fixedMinor: 7n }), nowMs - 1), undefined)
  assert.equal(chargeFor({ ...paying, currency: 'EUR' }, book({ fixedMinor: 7n }), nowMs), undefined)
  assert.equal(chargeFor(paying, book({ basisPoints: 1 }), nowMs), undefined)
  assert.throws(
    () => chargeFor({ ...paying, transactionId: undefined }, book({ fixedMinor: 7n }), nowMs),
    /has its transaction/,
  )
})

test('the wallet has prices like any rail', () => {
  const paying = paidOrder({ status: 'confirming' })
  const of = (railId: string) =>
    makePriceBook([
      {
        priceId: 'p',
        ...everywhere,
        railId,
        validFromMs: 0,
        createdAtMs: 0,
        terms: { ...free, fixedMinor: 7n },
      },
    ])
  assert.equal(chargeFor(paying, of('wallet'), nowMs)?.fee.amountMinor, 7n)
  assert.equal(chargeFor(paying, of('bank'), nowMs), undefined)
  const byRail = { ...paying, walletId: undefined, railId: 'bank' }
  assert.equal(chargeFor(byRail, of('bank'), nowMs)?.fee.amountMinor, 7n)
})
