// Disputes through a rail: notifications in every order, lost and repeated, and after each the books are proved.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { makeTransactionId } from '@tillgate/protocol'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { settlementColumns } from '../../src/finance/reconciliation/fetch-settlements.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { type HeldClock, heldClock } from '../support/money.ts'
import { approved, openRails } from '../support/rails.ts'

const { pool } = await freshDatabase()
const clock: HeldClock = heldClock()
const rails = await openRails(pool, { clock })
const { money, operations, stores } = rails
const bank = await rails.addBank('bank')

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles.splice(0), [])
})

type Paid = Awaited<ReturnType<typeof paid>>

async function paid(given: { readonly paymentAmount?: number } = {}) {
  const merchant = await money.addMerchant()
  const order = await money.addOrder(merchant, given as never)
  const outcome = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  const { transactionId } = outcome.attempt
  bank.payments.set(transactionId, approved)
  await settle()
  return { merchant, order, transactionId, reference: `dp_${transactionId.slice(-8)}` }
}

/** Until nothing is due. */
async function settle(afterMs = 2_000): Promise<void> {
  clock.advance(afterMs)
  for (let turns = 0; turns < 20; turns++) if ((await rails.turn()) === 0) return
}

async function notify(of: Pick<Paid, 'transactionId' | 'reference'>, name: string, secret?: string) {
  const { transactionId, reference: disputeId } = of
  const notification = { type: `dispute.${name}`, version: 1, disputeId, transactionId }
  return operations.handleRailNotification({ railId: 'bank', ...bank.notification(notification, secret) })
}

function say(of: Paid, status: string, more: object = {}): void {
  bank.disputes.set(of.reference, { status, amountMinor: '1000', currency: 'USD', ...more })
}

async function hear(of: Paid, status: string, more: object = {}): Promise<void> {
  say(of, status, more)
  assert.equal(await notify(of, status === 'open' ? 'opened' : status), 'heard')
  await settle()
}

async function balances({ merchant: { merchantId } }: Paid) {
  const { rows } = await pool.query<{ kind: string; minor: string }>(
    `select owner_kind as kind, credits_posted - debits_posted as minor
       from accounts where owner_id = $1 and credits_posted <> debits_posted order by 1`,
    [merchantId],
  )
  return Object.fromEntries(rows.map(({ kind, minor }) => [kind, Number(minor)]))
}

async function withheld(): Promise<number> {
  const { rows } = await pool.query<{ minor: string }>(
    "select credits_posted - debits_posted as minor from accounts where account_id = 'disputes:bank:USD'",
  )
  return Number(rows[0]?.minor ?? 0)
}

async function events({ order }: Paid): Promise<string[]> {
  const { rows } = await pool.query<{ event_name: string; endpoint_id: string }>(
    "select event_name, endpoint_id from callbacks where payment_id = $1 and event_name like '%dispute%' order by callback_id",
    [order.paymentId],
  )
  return rows.map(({ event_name }) => event_name.replace('payment.dispute.', ''))
}

async function subscribe({ merchant }: Pick<Paid, 'merchant'>, names: readonly string[] | undefined) {
  await actingAs(operations, 'test').endpoints.addEndpoint(
    merchant.merchantId,
    {
      url: 'https://shop.example/disputes',
      format: 'standard',
      events: names as never,
    },
    'test',
  )
}

function refund({ merchant, order }: Paid, refundAmount: number) {
  const referRefundNo = `r-${makeTransactionId(clock.now(), randomBytes)}`
  return operations.refundOrder(
    merchant,
    JSON.stringify({ paymentId: order.paymentId, referRefundNo, refundAmount, refundReason: 'test' }),
  )
}

const found = async ({ order }: Paid): Promise<Order> => {
  const stored = await money.orders.findOrder(order)
  assert(stored)
  return stored
}

test('opened and won: the amount leaves the balance and comes back, with an event for the endpoint that wants it', async () => {
  const of = await paid()
  await subscribe(of, undefined)
  await subscribe(of, ['payment.dispute.opened', 'payment.dispute.won'])
  const before = await withheld()
  await hear(of, 'open', { reason: 'not_received', respondBy: clock.now() + 86_400_000 })
  assert.deepEqual(await balances(of), {})
  assert.equal((await withheld()) - before, 1_000)
  assert.equal((await found(of)).disputedMinor, 1_000n)
  await hear(of, 'won')
  assert.deepEqual(await balances(of), { merchant: 1_000 })
  assert.equal((await withheld()) - before, 0)
  assert.deepEqual(await events(of), ['opened', 'won'])
  assert.equal((await found(of)).disputedMinor, 0n)
})

test('a repeated notification changes nothing, and a forged one asks nothing', async () => {
  const of = await paid()
  bank.askedOfDisputes.length = 0
  assert.equal(await notify(of, 'opened', 'whsec_Zm9yZ2VkIGZvcmdlZCBmb3JnZWQgZm9yZ2VkIQ=='), 'refused')
  await settle()
  assert.deepEqual(bank.askedOfDisputes, [])
  for (let times = 0; times < 3; times++) await hear(of, 'open')
  for (let times = 0; times < 3; times++) await hear(of, 'lost')
  const { rows } = await pool.query(
    "select kind from transfers where payment_id = $1 and kind like 'dispute%'",
    [of.order.paymentId],
  )
  assert.deepEqual(rows.map(({ kind }) => kind).sort(), ['dispute', 'dispute_lost'])
})

test('lost is the first news, then won: the money is where the rail says', async () => {
  const of = await paid()
  say(of, 'lost')
  await notify(of, 'won')
  await notify(of, 'opened')
  await settle()
  assert.deepEqual(await balances(of), {})
  await hear(of, 'won')
  assert.deepEqual(await balances(of), { merchant: 1_000 })
  await hear(of, 'open')
  await hear(of, 'won')
  assert.deepEqual(await balances(of), { merchant: 1_000 })
})

test('a lost notification costs time alone: an open dispute is asked about again', async () => {
  const of = await paid()
  await hear(of, 'open')
  say(of, 'lost')
  await settle(7 * 60 * 60_000)
  const [dispute] = await stores.disputes.listOfOrder(of.order)
  assert.equal(dispute?.status, 'lost')
})

test('a disputed amount cannot be refunded, by the code and by the database', async () => {
  const of = await paid()
  await hear(of, 'open', { amountMinor: '600' })
  await assert.rejects(refund(of, 5), /at most 4.00 USD. The rest is disputed/)
  const past = pool.query(
    'update orders set refund_held_minor = 500, refund_count = 1 where payment_id = $1',
    [of.order.paymentId],
  )
  await assert.rejects(past, /check constraint/)
  await refund(of, 4)
  await settle()
  await hear(of, 'won', { amountMinor: '600' })
  await refund(of, 6)
  await settle()
  assert.deepEqual(await balances(of), {})
})

test('a dispute after a refund makes the merchant owe, and the next payment repays', async () => {
  const of = await paid()
  await refund(of, 10)
  await settle()
  await hear(of, 'open', { feeMinor: '150' })
  assert.deepEqual(await balances(of), { fees: 150, owed: -1_150 })
  await assert.rejects(refund(of, 1), /at most 0.00 USD/)
  const order = await money.addOrder(of.merchant)
  const outcome = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  bank.payments.set(outcome.attempt.transactionId, approved)
  await settle()
  assert.equal(await operations.collectDebts(), 1)
  assert.deepEqual(await balances(of), { fees: 150, owed: -150 })
  await hear(of, 'won')
  assert.deepEqual(await balances(of), { merchant: 1_000 })
})

test('a refund that fails after the dispute began is not refundable again', async () => {
  const of = await paid()
  bank.firstRefund = { status: 'submitted', checkAfterSeconds: 86_000 }
  const { refundId } = await refund(of, 10)
  await settle()
  await hear(of, 'open')
  bank.refunds.set(refundId, { status: 'declined', reason: 'No.' })
  await settle(90_000_000)
  await assert.rejects(refund(of, 1), /at most 0.00 USD/)
  bank.firstRefund = { status: 'approved', reference: 'refund' }
  await operations.collectDebts()
  assert.deepEqual(await balances(of), {})
})

test('a dispute of an unknown payment, an unknown dispute and too much move nothing', async () => {
  const of = await paid()
  assert.equal(
    await notify({ transactionId: 'T01K73ZQ802NZ7V3N4Q5R6S7T8Y', reference: 'x' }, 'opened'),
    'heard',
  )
  assert.equal(await notify(of, 'opened'), 'heard')
  await settle()
  await hear(of, 'open', { amountMinor: '1001' })
  await hear(of, 'open', { currency: 'JPY' })
  assert.deepEqual(await balances(of), { merchant: 1_000 })
  assert.match(rails.alerts.join(), /a dispute is not booked/)
})

test('partial disputes together never exceed the payment', async () => {
  const of = await paid()
  await hear(of, 'open', { amountMinor: '700' })
  const second = { ...of, reference: `${of.reference}b` }
  await hear(second, 'open', { amountMinor: '400' })
  assert.equal((await found(of)).disputedMinor, 700n)
  await hear(second, 'open', { amountMinor: '300' })
  assert.equal((await found(of)).disputedMinor, 1_000n)
  assert.deepEqual(await balances(of), {})
})

test('two rails may use one number, and a dispute before the approval waits', async () => {
  const of = await paid()
  const other = await rails.addBank('other')
  const order = await money.addOrder(of.merchant)
  const outcome = await operations.payByRail.start({ ...order, railId: 'other', locale: 'en' })
  assert(outcome.kind === 'started')
  const { transactionId } = outcome.attempt
  other.disputes.set(of.reference, { status: 'open', amountMinor: '1000', currency: 'USD' })
  const notification = { type: 'dispute.opened', version: 1, disputeId: of.reference, transactionId }
  await operations.handleRailNotification({ railId: 'other', ...other.notification(notification) })
  await hear(of, 'open')
  assert.deepEqual(await stores.disputes.listOfOrder(order), [])
  other.payments.set(transactionId, approved)
  await settle(3_000)
  await settle(61_000)
  assert.equal((await stores.disputes.listOfOrder(order)).length, 1)
})

test('a chargeback and its reversal on the provider’s statement match the dispute', async () => {
  const of = await paid()
  await hear(of, 'open', { amountMinor: '600' })
  await hear(of, 'won', { amountMinor: '600' })
  const lost = await paid()
  await hear(lost, 'open')
  await hear(lost, 'lost')
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  const rows = [
    ['pay-1', '10.00', of.transactionId],
    ['back-1', '-6.00', of.reference],
    ['again-1', '6.00', of.reference],
    ['pay-2', '10.00', lost.transactionId],
    ['back-2', '-10.00', lost.reference],
  ]
  const lines = rows.map(([line, amount, reference]) => `${line},${day},${amount},0,USD,${reference},po_1\n`)
  const content = Buffer.from(`line,day,amount,fee,currency,reference,batch\n${lines.join('')}`)
  const file = {
    name: 'report.csv',
    async *open() {
      yield content
    },
  }
  const { reconciliation } = actingAs(operations, 'test')
  const mapping = { mappingName: 'bank', account: 'rail:bank', settlesTo: 'main', columns: settlementColumns }
  await reconciliation.mappings.saveMapping(mapping, 'test')
  await reconciliation.importStatement({ file, mapping: 'bank', reason: 'test' })
  const { rows: unmatched } = await pool.query(
    "select refs from statement_lines where account = 'rail:bank' and match_id is null",
  )
  assert.deepEqual(unmatched, [])
  const { rows: matched } = await pool.query(
    "select count(*)::int as count from matched_transfers where account = 'rail:bank'",
  )
  assert.equal(matched[0]?.['count'], rows.length)
})

test('evidence is passed on once with its file, and deleted a month after the end', async () => {
  const of = await paid()
  await hear(of, 'open', { accepts: ['evidence', 'accept'], respondBy: clock.now() + 86_400_000 })
  const [dispute] = await stores.disputes.listOfOrder(of.order)
  assert(dispute)
  const { disputes } = actingAs(operations, 'test')
  const file = Buffer.from('%PDF-1.7 proof')
  bank.askedOfDisputes.length = 0
  await disputes.sendEvidence(dispute, { text: 'It was delivered.', file })
  await assert.rejects(
    disputes.sendEvidence(dispute, { text: 'Again.', file: undefined }),
    /already answered/,
  )
  await assert.rejects(disputes.acceptDispute(dispute, 'test'), /already answered/)
  await settle()
  await settle(7 * 60 * 60_000)
  const evidence = bank.askedOfDisputes.filter(({ type }) => type === 'dispute.evidence')
  assert.equal(evidence.length, 1)
  const [sent] = evidence
  assert(sent?.type === 'dispute.evidence')
  assert.equal(sent.text, 'It was delivered.')
  assert.deepEqual(Buffer.from(sent.file?.content ?? '', 'base64'), file)
  await hear(of, 'lost')
  const { rows } = await pool.query<{ sealed_file: Buffer }>(
    'select sealed_file from disputes where dispute_id = $1',
    [dispute.disputeId],
  )
  assert(rows[0] && !rows[0].sealed_file.includes('proof'), 'the file is sealed')
  clock.advance(29 * 86_400_000)
  assert.equal(await stores.disputes.forgetEvidence(clock.now() - 30 * 86_400_000), 0)
  clock.advance(2 * 86_400_000)
  assert.equal(await stores.disputes.forgetEvidence(clock.now() - 30 * 86_400_000), 1)
  const after = await stores.disputes.find(dispute)
  assert(after?.response?.kind === 'evidence' && after.response.text === undefined)
  assert.equal(await stores.disputes.readFile(dispute), undefined)
})

test('an acceptance that the rail did not take yet is passed on until it is', async () => {
  const of = await paid()
  await hear(of, 'open', { accepts: ['accept'] })
  const [dispute] = await stores.disputes.listOfOrder(of.order)
  assert(dispute)
  await actingAs(operations, 'test').disputes.acceptDispute(dispute, 'goodwill')
  bank.askedOfDisputes.length = 0
  say(of, 'lost')
  await settle()
  assert.deepEqual(
    bank.askedOfDisputes.map(({ type }) => type),
    ['dispute.accept'],
  )
  assert.equal((await stores.disputes.find(dispute))?.status, 'lost')
})
