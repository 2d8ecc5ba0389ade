// The search of every page by what banks, rails and people call things: in any case, and by how it begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { addPaidMerchant } from '../support/payouts.ts'
import { openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const bank = await openTransferBank(pool, { clock: heldClock() })
const { stores, money } = bank
const { transfers, payouts, payoutRuns, merchants } = actingAs(bank.operations, 'test')
const merchant = await addPaidMerchant(money, { minor: 5_000n })
await merchants.changeMerchant(
  merchant.merchantId,
  { contactEmails: ['ada@shop.example'] },
  { reason: 'test' },
)
const { payoutId } = await payouts.requestPayout(
  { merchantId: merchant.merchantId, currency: 'USD', amountMinor: 1_000n, bankName: 'main' },
  { reason: 'test' },
)
const { runId } = (await payouts.findPayout({ merchantId: merchant.merchantId, payoutId })) ?? assert.fail()
await payoutRuns.sendRun(runId, 'test')
const order = await bank.startedOrder()
const reference = creditorReference(order.paymentId)
await transfers.confirmTransfer('transfer', {
  reference,
  currency: 'USD',
  amountMinor: 1_000n,
  outsideReference: 'Bank-Ref 42',
  valueDate: '2026-11-16',
  party: 'Grace Hopper',
  reason: 'test',
})

const grouped = reference.replace(/(.{4})/g, '$1 ').toLowerCase()
for (const [what, text] of [
  ['a creditor reference', reference],
  ['one in groups and small letters', grouped],
  ['the bank’s own reference', 'bank-ref 4'],
  ['the payer', 'grace H'],
])
  test(`an order is found by ${what}`, async () => {
    const { orders } = await stores.searchBooks(text ?? '')
    assert.deepEqual(
      orders.map(({ paymentId }) => paymentId),
      [order.paymentId],
    )
  })

test('a payout is found by its number or how it begins, and a run by its number with and without dashes', async () => {
  for (const text of [payoutId, payoutId.toLowerCase(), payoutId.slice(0, 12)])
    assert.deepEqual(
      (await stores.searchBooks(text)).payouts.map((each) => each.payoutId),
      [payoutId],
      text,
    )
  for (const text of [runId, runId.replaceAll('-', '').toUpperCase(), runId.slice(0, 10)])
    assert.deepEqual(
      (await stores.searchBooks(text)).runs.map((each) => each.runId),
      [runId],
      text,
    )
})

test('a merchant is found by a contact, and two characters find nothing', async () => {
  const { contacts } = await stores.searchBooks('ADA@shop')
  assert.deepEqual(
    contacts.map(({ merchantId }) => merchantId),
    [merchant.merchantId],
  )
  const nothing = await stores.searchBooks('gr')
  assert.deepEqual(Object.values(nothing).flat(), [])
})
