import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  accountIdOf,
  addBalances,
  availableMinor,
  bankAccount,
  type EffectiveTransfer,
  effectsOf,
  endHold,
  merchantAccount,
  noBalances,
  type Phase,
  postedMinor,
  type Transfer,
  walletAccount,
} from './transfer.ts'

const phases = ['hold', 'post', 'void', 'direct'] as const satisfies Phase[]
const transfer = fc
  .record({
    phase: fc.constantFrom(...phases),
    amountMinor: fc.bigInt(1n, 10n ** 18n),
    sides: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 2 }),
  })
  .map(
    ({ phase, amountMinor, sides: [debitAccountId = '', creditAccountId = ''] }): EffectiveTransfer => ({
      phase,
      amountMinor,
      debitAccountId,
      creditAccountId,
    }),
  )

test('debits equal credits, pending and posted, for any transfers', () => {
  fc.assert(
    fc.property(fc.array(transfer), (transfers) => {
      const sum = [...effectsOf(transfers).values()].reduce(addBalances, noBalances)
      assert.equal(sum.debitsPendingMinor, sum.creditsPendingMinor)
      assert.equal(sum.debitsPostedMinor, sum.creditsPostedMinor)
    }),
  )
})

test('the effects of several transfers are the sum of their effects', () => {
  fc.assert(
    fc.property(fc.array(transfer), (transfers) => {
      const all = effectsOf(transfers)
      for (const accountId of ['a', 'b', 'c', 'd']) {
        const one = transfers
          .map((each) => effectsOf([each]).get(accountId) ?? noBalances)
          .reduce(addBalances, noBalances)
        assert.deepEqual(all.get(accountId) ?? noBalances, one)
      }
    }),
  )
})

const sides = { debitAccountId: 'from', creditAccountId: 'to', amountMinor: 7n }

test('the available balance is credits minus debits and holds; pending credits do not count', () => {
  const balances = {
    debitsPendingMinor: 3n,
    debitsPostedMinor: 5n,
    creditsPendingMinor: 11n,
    creditsPostedMinor: 100n,
  }
  assert.equal(availableMinor(balances), 92n)
  assert.equal(postedMinor(balances), 95n)
})

test('a direct transfer posts its whole amount on both sides', () => {
  assert.deepEqual(
    effectsOf([{ ...sides, phase: 'direct' }]),
    new Map([
      ['from', { ...noBalances, debitsPostedMinor: 7n }],
      ['to', { ...noBalances, creditsPostedMinor: 7n }],
    ]),
  )
})

test('a hold reduces the sender’s available balance and credits nothing yet', () => {
  const effects = effectsOf([{ ...sides, phase: 'hold' }])
  assert.equal(availableMinor(effects.get('from') ?? noBalances), -7n)
  assert.equal(postedMinor(effects.get('from') ?? noBalances), 0n)
  assert.equal(availableMinor(effects.get('to') ?? noBalances), 0n)
})

test('a posted hold equals a direct transfer, and a voided hold has no effect', () => {
  const posted = effectsOf([
    { ...sides, phase: 'hold' },
    { ...sides, phase: 'post' },
  ])
  assert.deepEqual(posted, effectsOf([{ ...sides, phase: 'direct' }]))
  const voided = effectsOf([
    { ...sides, phase: 'hold' },
    { ...sides, phase: 'void' },
  ])
  assert.deepEqual([...voided.values()], [noBalances, noBalances])
})

test('a transfer of zero, or to the same account, is a bug', () => {
  assert.throws(() => effectsOf([{ ...sides, phase: 'direct', amountMinor: 0n }]), /more than nothing/)
  assert.throws(() => effectsOf([{ ...sides, phase: 'direct', creditAccountId: 'from' }]), /two sides/)
})

const hold: Transfer = {
  ...sides,
  merchantId: 'm',
  transferId: 'T1',
  kind: 'payment',
  phase: 'hold',
  holdId: undefined,
  currency: 'USD',
  paymentId: 'P1',
  refundId: undefined,
  auditId: undefined,
  madeAtMs: 1,
}

test('the end of a hold is a row of its own that moves the same money and references the hold', () => {
  for (const phase of ['post', 'void'] as const)
    assert.deepEqual(endHold(hold, { transferId: 'T2', phase, nowMs: 2 }), {
      ...hold,
      transferId: 'T2',
      phase,
      holdId: 'T1',
      madeAtMs: 2,
    })
})

test('only a hold can be ended', () => {
  for (const phase of ['post', 'void', 'direct'] as const)
    assert.throws(
      () => endHold({ ...hold, phase }, { transferId: 'T2', phase: 'post', nowMs: 2 }),
      /only a hold is posted or voided/,
    )
})

test('an account is identified by its owner and its currency', () => {
  assert.equal(accountIdOf(walletAccount('w1', 'USD')), 'wallet:w1:USD')
  assert.equal(accountIdOf(merchantAccount('1', 'JPY')), 'merchant:1:JPY')
  assert.equal(accountIdOf(bankAccount('main', 'EUR')), 'bank:main:EUR')
})
