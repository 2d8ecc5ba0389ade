// A line that the matcher books and an operator settles at the same moment is in the books once: whoever began first.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { mortalPool, openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
let diesAt: string | undefined
const bank = await openTransferBank(
  mortalPool(pool, () => diesAt),
  { clock },
)
const { money, operations, reconciliation, merchant, statusOf } = bank
const { breaks, matchLines } = reconciliation
const { transfers } = actingAs(operations, 'console:alice')

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.equal(await operations.reconcile(), 0)
  const { rows } = await pool.query('select from reconciliation_breaks where resolved_at is null')
  assert.equal(rows.length, 0)
})

/** A line that comes before the consumer chose to pay by it, so that nothing waits for it, and then something does. */
async function brokenLine(order: Order) {
  await bank.say(creditorReference(order.paymentId))
  const [found] = await breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  assert(found?.kind === 'missing_here' && found.line)
  await bank.start(order)
  return { ...found, line: found.line }
}

const writeOff = (breakId: string) => breaks.writeOff(breakId, { reason: 'a gain' })
const resolutionOf = async (breakId: string) => (await breaks.showBreak(breakId)).found.resolution
const beingResolved = { message: /is being resolved/ }

test('what the matcher books is not written off meanwhile', async () => {
  const order = await money.addOrder(merchant)
  const { breakId } = await brokenLine(order)
  const { matching } = await pool.transaction(async (transaction) => {
    await transaction.query('select from orders where merchant_id = $1 and payment_id = $2 for update', [
      order.merchantId,
      order.paymentId,
    ])
    const matching = matchLines('bank:main')
    await untilBlocked(pool, 1, '%orders%')
    await assert.rejects(writeOff(breakId), beingResolved)
    return { matching }
  })
  assert.equal((await matching).booked, 1)
  assert.deepEqual([await statusOf(order), await resolutionOf(breakId)], ['success', 'matched'])
})

test('what an operator writes off is not booked by a matcher that listed it before', async () => {
  const order = await money.addOrder(merchant)
  const { breakId } = await brokenLine(order)
  const { matching } = await pool.transaction(async (transaction) => {
    await transaction.query('select from statement_lines for update')
    const matching = matchLines('bank:main')
    await untilBlocked(pool, 1, '%from statement_lines%for update%')
    const writing = writeOff(breakId)
    await untilBlocked(pool, 2, '%')
    return { matching, writing }
  })
  assert.equal((await matching).booked, 0)
  assert.equal(await statusOf(order), 'pending')
  await operations.reconcile()
  assert.equal(await resolutionOf(breakId), 'written_off')
})

test('a matcher that dies in between is followed by the next pass, and operators wait for that', async () => {
  for (const point of ['insert into transfer_entries', 'insert into matched_transfers']) {
    const order = await money.addOrder(merchant)
    const { breakId } = await brokenLine(order)
    diesAt = point
    await assert.rejects(matchLines('bank:main'), /killed/)
    diesAt = undefined
    await assert.rejects(writeOff(breakId), beingResolved, point)
    await operations.reconcile()
    assert.deepEqual([await statusOf(order), await resolutionOf(breakId)], ['success', 'matched'], point)
  }
})

test('what the matcher could not book is open to operators again', async () => {
  const order = await money.addOrder(merchant)
  const { breakId, line } = await brokenLine(order)
  await pool.query(`update statement_lines set value_day = '2030-01-01' where line_id = $1`, [line.lineId])
  const { matched, booked, breaks } = await matchLines('bank:main')
  assert.deepEqual([matched, booked, breaks], [0, 0, 0])
  await writeOff(breakId)
  assert.deepEqual([await statusOf(order), await resolutionOf(breakId)], ['pending', 'written_off'])
})

test('a line that the books have by now is not written off, and the next pass matches it', async () => {
  const order = await money.addOrder(merchant)
  const { breakId, line } = await brokenLine(order)
  await transfers.confirmTransfer('transfer', {
    reference: order.paymentId,
    currency: 'USD',
    amountMinor: 1_000n,
    outsideReference: line.mark,
    valueDate: line.valueDay,
    reason: 'by the statement',
  })
  await assert.rejects(writeOff(breakId), { message: /The books already contain this line/ })
  assert.equal((await matchLines('bank:main')).matched, 1)
  assert.equal(await resolutionOf(breakId), 'matched')
})
