import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { paidOrder } from '../../../../../test/support/order-value.ts'
import {
  addBalances,
  availableMinor,
  type Balances,
  effectsOf,
  noBalances,
  type Transfer,
} from '../../../../core/ledger/rules/transfer.ts'
import { type Dispute, decideDispute, type KnownAnswer, openDispute, whyNotDisputed } from './dispute.ts'

const order = paidOrder({ walletId: undefined, railId: 'card' })
const disputeId = 'D01K73ZQ801MZ7V3N4Q5R6S7T8X'
const merchant = 'merchant:m:USD'

class Books {
  readonly accounts = new Map<string, Balances>()
  readonly ids = new Set<string>()
  dispute: Dispute | undefined

  of(accountId: string): bigint {
    return availableMinor(this.accounts.get(accountId) ?? noBalances)
  }

  earn(amountMinor: bigint): void {
    const before = this.accounts.get(merchant) ?? noBalances
    this.accounts.set(merchant, addBalances(before, { ...noBalances, creditsPostedMinor: amountMinor }))
  }

  hear(answer: KnownAnswer): readonly string[] {
    const opened = openDispute({ order, railId: 'card', reference: 'dp_1' }, answer, { disputeId, nowMs: 1 })
    const means = { availableMinor: this.of(merchant), owedMinor: -this.of('owed:m:USD') }
    const given = { means, order, callbackId: () => 'c', nowMs: 2 }
    const change = decideDispute(this.dispute, opened, answer, given)
    if (!change) return []
    for (const transfer of change.transfers) this.#post(transfer)
    this.dispute = change.dispute
    return change.callbacks.map(({ eventName }) => eventName.replace('payment.dispute.', ''))
  }

  /** One by one, so that no account that must not is below zero in between either. */
  #post(transfer: Transfer): void {
    assert(!this.ids.has(transfer.transferId), `${transfer.transferId} is booked twice`)
    this.ids.add(transfer.transferId)
    for (const [accountId, effect] of effectsOf([transfer])) {
      this.accounts.set(accountId, addBalances(this.accounts.get(accountId) ?? noBalances, effect))
      if (/^(merchant|disputes):/.test(accountId)) assert(this.of(accountId) >= 0n, accountId)
      if (accountId.startsWith('owed:')) assert(this.of(accountId) <= 0n, accountId)
    }
  }
}

const answerOf = (status: KnownAnswer['status'], more: Partial<KnownAnswer> = {}): KnownAnswer => ({
  status,
  amountMinor: '1250',
  currency: 'USD',
  accepts: [],
  ...more,
})

test('a dispute takes the amount, a won one returns it, and a lost one sends it to the rail', () => {
  const books = new Books()
  books.earn(2_000n)
  assert.deepEqual(books.hear(answerOf('open')), ['opened'])
  assert.deepEqual([books.of(merchant), books.of('disputes:card:USD')], [750n, 1_250n])
  assert.deepEqual(books.hear(answerOf('open')), [])
  assert.deepEqual(books.hear(answerOf('lost')), ['lost'])
  assert.deepEqual([books.of('disputes:card:USD'), books.of('rail:card:USD')], [0n, 1_250n])
  assert.deepEqual(books.hear(answerOf('won')), ['won'])
  assert.deepEqual([books.of(merchant), books.of('rail:card:USD')], [2_000n, 0n])
})

test('an end that is the first news opens the dispute before, so that both movements are booked', () => {
  const books = new Books()
  books.earn(1_250n)
  assert.deepEqual(books.hear(answerOf('won')), ['opened', 'won'])
  assert.deepEqual([books.of(merchant), books.ids.size], [1_250n, 2])
})

test('what the balance lacks is lent and repaid from the next money', () => {
  const books = new Books()
  books.earn(250n)
  books.hear(answerOf('open', { feeMinor: '100' }))
  assert.deepEqual([books.of(merchant), books.of('owed:m:USD')], [0n, -1_100n])
  assert.equal(books.of('fees:m:USD'), 100n)
  books.hear(answerOf('won', { feeMinor: '100' }))
  assert.deepEqual([books.of(merchant), books.of('owed:m:USD')], [150n, 0n])
})

test('the amount may change, and the fee may be returned', () => {
  const books = new Books()
  books.earn(5_000n)
  books.hear(answerOf('open', { amountMinor: '500', feeMinor: '20' }))
  assert.deepEqual(books.hear(answerOf('open', { amountMinor: '300' })), [])
  assert.deepEqual([books.of(merchant), books.of('disputes:card:USD')], [4_700n, 300n])
})

test('a dispute in another currency, of more than was paid, or with an enormous fee is rejected', () => {
  assert.match(whyNotDisputed(order, answerOf('open', { currency: 'EUR' }), 0n) ?? '', /in EUR/)
  assert.match(whyNotDisputed(order, answerOf('open'), 1n) ?? '', /exceed what was paid/)
  assert.equal(whyNotDisputed(order, answerOf('open'), 0n), undefined)
  // The order paid 12.50: a fee would take what other rails brought, too.
  assert.equal(whyNotDisputed(order, answerOf('open', { feeMinor: '135000' }), 0n), undefined)
  assert.match(whyNotDisputed(order, answerOf('open', { feeMinor: '135001' }), 0n) ?? '', /its fee/)
})

test('after any responses in any order the money is where the last one says', () => {
  const answer = fc.record({
    status: fc.constantFrom('open', 'won', 'lost'),
    amountMinor: fc.integer({ min: 1, max: 1_250 }).map(String),
    feeMinor: fc.option(fc.integer({ min: 0, max: 300 }).map(String), { nil: undefined }),
    earnedMinor: fc.bigInt({ min: 0n, max: 900n }),
  })
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 12 }), (answers) => {
      const books = new Books()
      let earnedMinor = 0n
      for (const { earnedMinor: more, feeMinor, ...given } of answers) {
        books.earn(more)
        earnedMinor += more
        const heard = answerOf(
          given.status as 'open',
          { ...given, ...(feeMinor !== undefined && { feeMinor }) } as never,
        )
        books.hear(heard)
        assert.deepEqual(books.hear(heard), [], 'a repeated response changes nothing')
        const amountMinor = BigInt(given.amountMinor)
        const fee = BigInt(feeMinor ?? 0)
        assert.equal(books.of('disputes:card:USD'), given.status === 'open' ? amountMinor : 0n)
        assert.equal(books.of('rail:card:USD'), given.status === 'lost' ? amountMinor : 0n)
        assert.equal(books.of('fees:m:USD'), fee)
        const taken = given.status === 'won' ? 0n : amountMinor
        assert.equal(books.of(merchant) + books.of('owed:m:USD'), earnedMinor - taken - fee)
        assert(books.of(merchant) === 0n || books.of('owed:m:USD') === 0n, 'nobody owes who has money')
      }
    }),
  )
})
