import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nowMs, order } from '../../../../test/support/order-value.ts'
import { transferEntry } from '../../../../test/support/transfer-entry.ts'
import { makePriceBook } from '../../../core/orders/fees/rules/price.ts'
import { type Attempt, beginAttempt, type Decision } from './attempt.ts'
import { decideAsked, decideEntry, type TransferEntry } from './bank-transfer.ts'
import { creditorReference } from './transfer-account.ts'

const paymentId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'
const account = { holder: 'Example GmbH', iban: 'DE89370400440532013000', bic: undefined, lines: [] }
const ids = {
  transferId: 'X',
  returnId: 'R',
  applyId: 'A',
  callbackIds: ['c1', 'c2'],
  nowMs,
  prices: makePriceBook([]),
} as const
const waiting = order({ paymentId, openAttempt: 'T2' })
const starting = beginAttempt(waiting, { railId: 'transfer', transactionId: 'T2', locale: 'en', nowMs })
const pending: Attempt = { ...starting, status: 'pending', reference: creditorReference(paymentId) }

const entry = (amountMinor: bigint, direction: 'in' | 'out' = 'in'): TransferEntry =>
  transferEntry({ paymentId, amountMinor, direction })

function askedFor({ attempt }: Decision): string[] {
  assert(attempt?.nextAction?.kind === 'instructions')
  return attempt.nextAction.lines.slice(2, -1).map(({ label, value }) => `${label} ${value}`)
}

const kinds = ({ transfers }: Decision) => transfers.map(({ kind, phase }) => `${kind} ${phase}`)
const statuses = ({ changes }: Decision) => changes.map((change) => change.order.status)

function start(entries: readonly TransferEntry[]): Decision {
  return decideAsked({ order: waiting, attempt: starting, account, entries }, 'payment.start', ids)
}

test('an attempt asks for the amount that is not in suspense yet, to the last cent', () => {
  assert.deepEqual(askedFor(start([])), ['Amount 12.50 USD'])
  assert.deepEqual(askedFor(start([entry(400n)])), ['Received so far 4.00 USD', 'Amount 8.50 USD'])
  const last = start([entry(1_249n)])
  assert.deepEqual(askedFor(last), ['Received so far 12.49 USD', 'Amount 0.01 USD'])
  assert.deepEqual([last.attempt?.status, last.attempt?.reference], ['pending', pending.reference])
  assert.deepEqual(askedFor(start([entry(400n), entry(400n, 'out')])), ['Amount 12.50 USD'])
})

test('an attempt that starts with enough money in suspense is paid at once', () => {
  const exact = start([entry(1_250n)])
  assert.deepEqual(kinds(exact), ['transfer_applied direct', 'payment hold', 'payment post'])
  assert.deepEqual(statuses(exact), ['confirming', 'success'])
  assert.deepEqual([exact.attempt?.status, exact.isOver, exact.alert], ['approved', true, undefined])
  const more = start([entry(2_000n)])
  assert.equal(more.transfers[0]?.amountMinor, 1_250n)
  assert.match(more.alert ?? '', /the excess is in suspense/)
})

test('leaving an attempt pays nothing from suspense, and a final status does not change', () => {
  const facts = { order: waiting, attempt: pending, account, entries: [entry(400n)] }
  const left = decideAsked(facts, 'payment.cancel', ids)
  assert.deepEqual([left.attempt?.status, left.freesOrder, left.transfers], ['cancelled', true, []])
  const same = decideAsked(facts, 'payment.status', ids)
  assert.deepEqual(same, { changes: [], transfers: [], isOver: false })
})

test('returned money is asked for again while the order is pending', () => {
  const facts = { order: waiting, attempt: pending, account, entries: [entry(400n)] }
  const back = decideEntry(facts, entry(400n, 'out'), ids)
  assert.deepEqual(kinds(back), ['transfer_returned direct'])
  assert.deepEqual(askedFor(back), ['Amount 12.50 USD'])
  const part = decideEntry(facts, entry(150n, 'out'), ids)
  assert.deepEqual(askedFor(part), ['Received so far 2.50 USD', 'Amount 10.00 USD'])
})

test('money that was recorded before an attempt reduces its amount, or pays it', () => {
  const facts = { order: waiting, attempt: starting, account, entries: [entry(400n)] }
  const part = decideEntry(facts, entry(100n), ids)
  assert.deepEqual(askedFor(part), ['Received so far 5.00 USD', 'Amount 7.50 USD'])
  assert.equal(part.attempt?.reference, pending.reference)
  const whole = decideEntry(facts, entry(850n), ids)
  assert.deepEqual(kinds(whole).slice(0, 2), ['transfer_received direct', 'transfer_applied direct'])
  const enough = { ...facts, entries: [entry(2_000n)] }
  const rest = decideEntry(enough, entry(750n, 'out'), ids)
  assert.deepEqual(kinds(rest).slice(0, 2), ['transfer_returned direct', 'transfer_applied direct'])
})

test('an order without a pending bank transfer does not change, and the money is only recorded', () => {
  const entries = [entry(400n)]
  for (const facts of [
    { order: order({ paymentId }), attempt: undefined, account, entries },
    { order: order({ paymentId, status: 'timeout', openAttempt: 'T2' }), attempt: pending, account, entries },
  ]) {
    const came = decideEntry(facts, entry(1_250n), ids)
    assert.deepEqual(kinds(came), ['transfer_received direct'])
    assert.match(came.alert ?? '', /in suspense for an operator/)
    const back = decideEntry(facts, entry(400n, 'out'), ids)
    assert.deepEqual(
      [kinds(back), back.attempt, back.alert],
      [['transfer_returned direct'], undefined, undefined],
    )
  }
})
