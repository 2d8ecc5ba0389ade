import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nowMs, order } from '../../../../test/support/order-value.ts'
import { transferEntry } from '../../../../test/support/transfer-entry.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { TransferEntry } from '../../rails/rules/bank-transfer.ts'
import { findingOf } from './transfer-finding.ts'

const railId = 'transfer'
const paid = order({ status: 'success', railId })
const expired = order({ status: 'timeout', railId, completedAtMs: nowMs })

/** Entries in order. The finding is that of the last one. */
function found(of: Order, amounts: readonly (bigint | Partial<TransferEntry>)[]): string {
  const entries = amounts.map((given, ordinal) =>
    transferEntry({
      railId,
      ordinal,
      outsideReference: `E${ordinal}`,
      ...(typeof given === 'bigint' ? { amountMinor: given } : given),
    }),
  )
  const last = entries.at(-1)
  const results = [entries, entries.toReversed()].map(
    (all) => last && findingOf({ order: of, entries: all }, last),
  )
  assert.deepEqual(results[0], results[1], 'in whatever order they are read')
  const [booked] = results
  return booked ? `${booked.finding ?? 'usual'} ${booked.sizeMinor}` : 'nothing'
}

test('a full or partial payment is ordinary, and an overpayment is reported with the excess', () => {
  assert.equal(found(order(), [400n]), 'usual 400')
  assert.equal(found(paid, [1_250n]), 'usual 1250')
  assert.equal(found(paid, [400n, 850n]), 'usual 850')
  assert.equal(found(paid, [1_251n]), 'amount_differs 1')
  assert.equal(found(paid, [400n, 1_000n]), 'amount_differs 150')
})

test('money that arrives after an order was paid is a duplicate, whatever paid the order', () => {
  assert.equal(found(paid, [1_250n, 300n]), 'twice 300')
  assert.equal(found(paid, [1_300n, 1_250n]), 'twice 1250')
  assert.equal(found(order({ status: 'success', railId: 'card' }), [1_250n]), 'twice 1250')
  const returned = { direction: 'out', amountMinor: 50n } as const
  assert.equal(found(paid, [1_300n, returned, 10n]), 'twice 10')
})

test('money that arrives after an unpaid order ended is late; earlier money is not', () => {
  assert.equal(found(expired, [1_250n]), 'late 1250')
  assert.equal(found(expired, [{ amountMinor: 7n, recordedAtMs: nowMs - 1 }]), 'usual 7')
  assert.equal(found({ ...expired, completedAtMs: undefined }, [{ amountMinor: 7n }]), 'late 7')
})

test('an entry counts for its rail and reference, and an unknown entry has no finding', () => {
  const ofOther = { railId: 'wire', outsideReference: 'E1', amountMinor: 900n }
  assert.equal(found(paid, [ofOther, 1_250n]), 'usual 1250')
  assert.equal(findingOf({ order: paid, entries: [] }, { railId, outsideReference: 'E0' }), undefined)
})
