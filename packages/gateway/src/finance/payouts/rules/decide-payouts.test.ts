import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBalances } from '../../../core/ledger/rules/transfer.ts'
import { type DuePlan, decidePlan, holdOf } from './decide-payouts.ts'

const account = { holder: 'Shop', iban: 'NL91ABNA0417164300', lines: undefined, bic: undefined }
const due: DuePlan = {
  plan: {
    merchantId: 'm',
    currency: 'EUR',
    bankName: 'main',
    schedule: 'daily',
    onDay: undefined,
    leastMinor: 10n,
    reserve: { fixedMinor: 5n, shareBasisPoints: 1_000, shareDays: 7 },
    nextDay: '2026-11-14',
    lastDay: undefined,
    lastOutcome: undefined,
  },
  balances: { ...noBalances, creditsPostedMinor: 100n, debitsPendingMinor: 20n },
  salesMinor: 50n,
  account,
  isSuspended: false,
  isBankOpen: true,
}
const today = '2026-11-16'

test('a schedule pays the available balance minus its reserve for the latest day, and continues tomorrow', () => {
  assert.deepEqual(decidePlan(due, today), {
    plan: due.plan,
    day: today,
    nextDay: '2026-11-17',
    outcome: 'paid_out',
    amountMinor: 70n,
    account,
  })
})

test('without a payout, the result has the reason and the day is processed', () => {
  const cases: readonly (readonly [Partial<DuePlan>, string])[] = [
    [{ balances: undefined }, 'nothing_to_pay'],
    [{ balances: { ...noBalances, creditsPostedMinor: 19n } }, 'nothing_to_pay'],
    [{ account: undefined }, 'no_bank_account'],
    [{ isBankOpen: false }, 'bank_closed'],
    [{ isSuspended: true, isBankOpen: false }, 'suspended'],
    [{ account: undefined, balances: undefined }, 'nothing_to_pay'],
  ]
  for (const [change, outcome] of cases) {
    const decided = decidePlan({ ...due, ...change }, today)
    assert.deepEqual([decided.outcome, decided.amountMinor, decided.nextDay], [outcome, 0n, '2026-11-17'])
  }
})

test('a schedule that is not due is not processed', () => {
  assert.throws(() => decidePlan({ ...due, plan: { ...due.plan, nextDay: '2026-11-17' } }, today), /due/)
})

test('a payout holds money from the merchant to the bank account under its own id', () => {
  const given = { merchantId: 'm', payoutId: 'T1', bankName: 'main', currency: 'EUR', amountMinor: 7n }
  assert.deepEqual(holdOf({ ...given, auditId: undefined, nowMs: 3 }), {
    merchantId: 'm',
    transferId: 'T1',
    kind: 'payout',
    phase: 'hold',
    holdId: undefined,
    debitAccountId: 'merchant:m:EUR',
    creditAccountId: 'bank:main:EUR',
    currency: 'EUR',
    amountMinor: 7n,
    paymentId: undefined,
    refundId: undefined,
    auditId: undefined,
    madeAtMs: 3,
    outside: undefined,
  })
})
