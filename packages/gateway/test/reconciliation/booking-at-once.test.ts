// A line that the matcher books and an operator settles at the same moment is in the books once: whoever began first.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/acts/rail-acts.ts'
import type { Pool } from '../../src/database/pool.ts'
import type { Order } from '../../src/orders/rules/order.ts'
import { creditorReference } from '../../src/rails/rules/bank-account.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { openRails } from '../support/rails.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
let diesAt: string | undefined
const mortal: Pool = {
  ...pool,
  transaction: (work, options) =>
    pool.transaction(
      (transaction) =>
        work({
          query(statement, values) {
            const text = typeof statement === 'string' ? statement : statement.text
            if (diesAt !== undefined && text.includes(diesAt)) throw new Error('killed')
            return transaction.query(statement, values)
          },
        }),
      options,
    ),
}
const { money, operations } = await openRails(mortal, { clock })
const merchant = await money.addMerchant()
const { rails, banks, reconciliation, transfers } = operations.as('console:alice')
const { breaks, matchLines } = reconciliation
const iban = 'DE89370400440532013000'
const account = { holder: 'Example GmbH', iban, bic: undefined, lines: [] }
await rails.addTransferRail(
  'transfer',
  { ...noExtras, name: 'Bank transfer', currencies: ['USD'], account },
  'test',
)
await banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')
operations.rails.forget()
const { correct } = operations.moneyActs({ actor: 'console:alice', operator: undefined })

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.equal(await operations.reconcile(), 0)
  const { rows } = await pool.query('select from reconciliation_breaks where settled_at is null')
  assert.equal(rows.length, 0)
})

let files = 0
/** A line that comes before the consumer chose to pay by it, so that nothing waits for it, and then something does. */
async function brokenLine(order: Order) {
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const reference = `E${++files}`
  const lines = [{ reference, day, amountMinor: 1_000n, text: creditorReference(order.paymentId) }]
  const given = { iban, currency: 'USD', version: 4, from: day, through: day, openingMinor: 0n } as const
  await reconciliation.importStatement({
    file: fileOf(reference, camt053({ ...given, lines })),
    reason: 'test',
  })
  const [found] = await breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  assert(found?.kind === 'missing_here' && found.line)
  const outcome = await operations.payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
  assert(outcome.kind === 'started', outcome.kind)
  return { ...found, line: found.line }
}

const writeOff = (breakId: string) => breaks.writeOff(breakId, { reason: 'a gain', correct })
const settlementOf = async (breakId: string) => (await breaks.showBreak(breakId)).found.settlement
const statusOf = async (order: Order) => (await money.orders.findOrder(order))?.status
const beingSettled = { message: /It is being settled/ }

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
    await assert.rejects(writeOff(breakId), beingSettled)
    return { matching }
  })
  assert.equal((await matching).booked, 1)
  assert.deepEqual([await statusOf(order), await settlementOf(breakId)], ['success', 'matched'])
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
  assert.equal(await settlementOf(breakId), 'written_off')
})

test('a matcher that dies in between is followed by the next pass, and operators wait for that', async () => {
  for (const point of ['insert into transfer_entries', 'insert into matched_transfers']) {
    const order = await money.addOrder(merchant)
    const { breakId } = await brokenLine(order)
    diesAt = point
    await assert.rejects(matchLines('bank:main'), /killed/)
    diesAt = undefined
    await assert.rejects(writeOff(breakId), beingSettled, point)
    await operations.reconcile()
    assert.deepEqual([await statusOf(order), await settlementOf(breakId)], ['success', 'matched'], point)
  }
})

test('what the matcher could not book is open to operators again', async () => {
  const order = await money.addOrder(merchant)
  const { breakId, line } = await brokenLine(order)
  await pool.query(`update statement_lines set value_day = '2030-01-01' where line_id = $1`, [line.lineId])
  assert.deepEqual(await matchLines('bank:main'), { matched: 0, booked: 0, breaks: 0 })
  assert.equal((await writeOff(breakId)).kind, 'done')
  assert.deepEqual([await statusOf(order), await settlementOf(breakId)], ['pending', 'written_off'])
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
  await assert.rejects(writeOff(breakId), { message: /The books have this line by now/ })
  assert.equal((await matchLines('bank:main')).matched, 1)
  assert.equal(await settlementOf(breakId), 'matched')
})
