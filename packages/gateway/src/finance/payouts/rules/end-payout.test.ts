import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { endPayout } from './end-payout.ts'
import { checkNextStatus, nextStatuses, type Payout, type PayoutStatus, payoutStatuses } from './payout.ts'

const payout: Payout = {
  merchantId: 'm',
  payoutId: 'T1',
  runId: 'r',
  planDay: '2026-11-16',
  status: 'sent',
  currency: 'EUR',
  amountMinor: 7n,
  account: { holder: 'Shop', iban: 'NL91ABNA0417164300', lines: undefined, bic: undefined },
  requestedAtMs: 1,
  sentAtMs: 2,
  endedAtMs: undefined,
  reference: undefined,
  valueDate: undefined,
  message: undefined,
}
const outside = { reference: 'B1', valueDate: '2026-11-17' }

function end(status: PayoutStatus, to: 'paid' | 'returned' | 'cancelled') {
  const ending = { status: to, outside: to === 'cancelled' ? undefined : outside, message: 'why' }
  return endPayout({ ...payout, status }, ending, {
    bankName: 'main',
    auditId: 'act',
    nowMs: 9,
    random: randomBytes,
  })
}

function moves(status: PayoutStatus, to: 'paid' | 'returned' | 'cancelled') {
  return end(status, to).transfers.map((each) => {
    const { kind, phase, holdId, debitAccountId, creditAccountId, outside: mark } = each
    return [kind, phase, holdId, debitAccountId, creditAccountId, mark?.reference]
  })
}

const [merchant, bank] = ['merchant:m:EUR', 'bank:main:EUR']
const posted = ['payout', 'post', 'T1', merchant, bank, 'B1']
const voided = ['payout', 'void', 'T1', merchant, bank, undefined]
const returned = ['payout_return', 'direct', undefined, bank, merchant, 'B1']

test('paid posts the hold, cancelled releases it, returned credits the merchant again', () => {
  assert.deepEqual(moves('sent', 'paid'), [posted])
  assert.deepEqual(moves('sent', 'cancelled'), [voided])
  assert.deepEqual(moves('requested', 'cancelled'), [voided])
  assert.deepEqual(moves('sent', 'returned'), [posted, returned])
})

test('a paid payout is not posted again when it is returned', () => {
  assert.deepEqual(moves('paid', 'returned'), [returned])
})

test('the change has both statuses and the bank’s reference and reason', () => {
  const change = end('paid', 'returned')
  const [back] = change.transfers
  assert.deepEqual(
    { ...change, transfers: [] },
    {
      merchantId: 'm',
      payoutId: 'T1',
      from: 'paid',
      to: 'returned',
      endedAtMs: 9,
      reference: 'B1',
      valueDate: '2026-11-17',
      message: 'why',
      returnId: back?.transferId,
      transfers: [],
    },
  )
  assert.equal(back?.amountMinor, 7n)
  assert.equal(back?.auditId, 'act')
  assert.equal(back?.madeAtMs, 9)
  assert.equal(end('sent', 'paid').returnId, undefined)
})

test('a status changes only as the table allows', () => {
  for (const from of payoutStatuses)
    for (const to of payoutStatuses) {
      const isAllowed = (nextStatuses[from] as readonly string[]).includes(to)
      if (isAllowed) checkNextStatus(from, to)
      else assert.throws(() => checkNextStatus(from, to), { failure: 'status_does_not_allow' })
    }
  assert.throws(() => end('requested', 'paid'), /it can become sent or cancelled, not paid/)
  assert.throws(() => end('returned', 'cancelled'), /this status is final/)
})
