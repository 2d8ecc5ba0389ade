// Payment by bank transfer: what an operator records of the bank's entries pays orders, whole, in parts, too much, twice
// and too late; nothing counts twice, and after each of them the books are proved.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import type { Receipt } from '../../src/finance/rails/record-transfers.ts'
import { beginAttempt } from '../../src/finance/rails/rules/attempt.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { orderChanges, testOperations } from '../support/operations.ts'
import { openRails } from '../support/rails.ts'
import { testEnvironment } from '../support/started.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const rails = await openRails(pool, { clock })
const { money, operations, alerts } = rails
const { payByRail } = operations
const merchant = await money.addMerchant()
const by = actingAs(operations, 'test')
const account = { holder: 'Example GmbH', iban: 'DE89370400440532013000', bic: undefined, lines: [] }
await by.rails.addTransferRail(
  'transfer',
  { ...noExtras, name: 'Bank transfer', currencies: ['USD'], account },
  'test',
)
operations.railDirectory.forget()

beforeEach(() => {
  alerts.length = 0
})
afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
  await suspenseIsListed(pool, operations)
})

async function started() {
  const order = await money.addOrder(merchant)
  const outcome = await payByRail.start({ ...order, railId: 'transfer', locale: 'de' })
  assert(outcome.kind === 'started', outcome.kind)
  return { order, attempt: outcome.attempt }
}

let entry = 0
function receipt({ paymentId }: Order, amountMinor: bigint, given: Partial<Receipt> = {}): Receipt {
  return {
    reference: creditorReference(paymentId),
    currency: 'USD',
    amountMinor,
    valueDate: '2025-01-01',
    outsideReference: `entry ${++entry}`,
    party: 'Ada, DE02…',
    reason: 'statement',
    ...given,
  }
}

const confirm = (given: Receipt) => by.transfers.confirmTransfer('transfer', given)

async function statusOf({ merchantId, paymentId }: Order): Promise<string | undefined> {
  return (await money.orders.findOrder({ merchantId, paymentId }))?.status
}

async function events({ paymentId }: Order): Promise<string[]> {
  const { rows } = await pool.query<{ event_name: string }>(
    'select event_name from callbacks where payment_id = $1 order by created_at, callback_id',
    [paymentId],
  )
  return rows.map(({ event_name }) => event_name.replace('payment.', ''))
}

async function suspense(): Promise<bigint> {
  const { rows } = await pool.query<{ balance: string }>(
    `select credits_posted - debits_posted as balance from accounts where account_id = 'suspense:late:USD'`,
  )
  return BigInt(rows[0]?.balance ?? 0)
}

test('the consumer is told account and reference at once; the exact amount pays, with both callbacks', async () => {
  const { order, attempt } = await started()
  assert.equal(attempt.status, 'pending')
  assert(attempt.nextAction?.kind === 'instructions')
  assert.deepEqual(
    attempt.nextAction.lines.map(({ label }) => label),
    ['Account holder', 'IBAN', 'Amount', 'Reference'],
  )
  const { heldMinor, order: paid } = await confirm(receipt(order, 1_000n))
  assert.deepEqual([paid.status, paid.railId, heldMinor], ['success', 'transfer', 0n])
  assert.deepEqual(await events(order), ['order.confirming', 'order.success'])
  assert.equal(await rails.turn(), 0, 'nothing is asked any more')
})

test('a reference may be typed with spaces and in small letters, or be the paymentId', async () => {
  const first = await started()
  const typed = creditorReference(first.order.paymentId)
    .toLowerCase()
    .replace(/(.{4})/g, '$1 ')
  assert.equal((await confirm(receipt(first.order, 1_000n, { reference: typed }))).order.status, 'success')
  const second = await started()
  const { paymentId } = second.order
  assert.equal(
    (await confirm(receipt(second.order, 1_000n, { reference: paymentId }))).order.status,
    'success',
  )
})

test('too little waits for the rest, and the page asks for what is left; then it is paid', async () => {
  const { order } = await started()
  const before = await suspense()
  assert.equal((await confirm(receipt(order, 400n))).heldMinor, 400n)
  assert.equal(await statusOf(order), 'pending')
  assert.equal(await suspense(), before + 400n)
  const [attempt] = await rails.stores.attempts.listAttempts(order)
  assert(attempt?.nextAction?.kind === 'instructions')
  const lines = attempt.nextAction.lines.map(({ value }) => value)
  assert.deepEqual(lines.slice(-3, -1), ['4.00 USD', '6.00 USD'])
  await payByRail.look(order)
  const [looked] = await rails.stores.attempts.listAttempts(order)
  assert.deepEqual(looked?.nextAction, attempt.nextAction, 'asking changes nothing')
  const { heldMinor, order: paid } = await confirm(receipt(order, 600n))
  assert.deepEqual([paid.status, heldMinor], ['success', 0n])
  assert.equal(await suspense(), before)
})

test('too little until the expiry lies in suspense, and is sent back once', async () => {
  const { order } = await started()
  await confirm(receipt(order, 400n))
  clock.advance(25 * 60 * 60_000)
  await operations.expireOrders()
  await rails.turn()
  assert.equal(await statusOf(order), 'timeout')
  assert.deepEqual(
    (await rails.stores.attempts.listAttempts(order)).map(({ status }) => status),
    ['cancelled'],
  )
  const sent = { valueDate: '2025-01-02', party: undefined, reason: 'too little, too late' }
  const back = (outsideReference: string, amountMinor: bigint) =>
    by.transfers.returnTransfer('transfer', order, { ...sent, outsideReference, amount: () => amountMinor })
  await assert.rejects(back('back too much', 401n), /Only 4\.00 USD of this order is in suspense/)
  const both = await Promise.allSettled([back('back 1', 400n), back('back 2', 400n)])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await assert.rejects(back('back 3', 1n), /Only 0\.00 USD of this order is in suspense/)
})

test('a merchant of whose orders nothing but too little came has its bills: what lies in suspense is not its', async () => {
  const other = await money.addMerchant()
  const order = await money.addOrder(other)
  await payByRail.start({ ...order, railId: 'transfer', locale: 'de' })
  await confirm(receipt(order, 400n))
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  clock.advance(2 * 24 * 60 * 60_000)
  while ((await operations.makeBills()).more);
  const { bill } = await operations.readBill({ merchantId: other.merchantId, day })
  assert.deepEqual([bill.lines, bill.totals], [0, []])
})

test('too much pays the order, and the rest lies in suspense for it', async () => {
  const { order } = await started()
  const before = await suspense()
  assert.equal((await confirm(receipt(order, 1_250n))).heldMinor, 250n)
  assert.equal(await statusOf(order), 'success')
  assert.equal(await suspense(), before + 250n)
  assert.match(alerts.join(), /bank transfers exceed the order/)
})

test('twice, or after the end, changes no final status: the money lies in suspense', async () => {
  const twice = await started()
  await confirm(receipt(twice.order, 1_000n))
  assert.equal((await confirm(receipt(twice.order, 1_000n))).heldMinor, 1_000n)
  assert.deepEqual(await events(twice.order), ['order.confirming', 'order.success'])
  const late = await started()
  clock.advance(25 * 60 * 60_000)
  const { heldMinor, order } = await confirm(receipt(late.order, 1_000n))
  assert.deepEqual([order.status, heldMinor], ['timeout', 1_000n])
  assert.match(alerts.join(), /for an order that is timeout/)
})

test('whoever changes their mind pays otherwise, and the transfer that comes after all is kept', async () => {
  const { order } = await started()
  assert.equal((await payByRail.leave(order))?.status, 'cancelled')
  const walletId = await money.addWallet(5_000n)
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'submitted')
  await money.settle()
  assert.equal((await confirm(receipt(order, 1_000n))).heldMinor, 1_000n)
})

/** What the page of the open attempt asks for. */
async function askedFor({ merchantId, paymentId }: Order): Promise<string[]> {
  const { openAttempt: transactionId = '' } = (await money.orders.findOrder({ merchantId, paymentId })) ?? {}
  const attempt = await rails.stores.attempts.findAttempt({ merchantId, transactionId })
  assert(attempt?.nextAction?.kind === 'instructions', attempt?.status)
  return attempt.nextAction.lines.slice(2, -1).map(({ label, value }) => `${label} ${value}`)
}

/** Started and left by the consumer, whose money is under way. */
async function left() {
  const { order } = await started()
  assert.equal((await payByRail.leave(order))?.status, 'cancelled')
  return order
}

async function again(order: Order) {
  const outcome = await payByRail.start({ ...order, railId: 'transfer', locale: 'de' })
  assert(outcome.kind === 'started', outcome.kind)
  return outcome.attempt
}

const back = (order: Order, amountMinor: bigint) =>
  by.transfers.returnTransfer('transfer', order, {
    valueDate: '2025-01-02',
    party: undefined,
    reason: 'from a wrong account',
    outsideReference: `entry ${++entry}`,
    amount: () => amountMinor,
  })

/** Does this once, just after somebody has read the entries of an order and before they decide. */
function afterNextReading(act: () => Promise<unknown>): void {
  const { transferEntries } = rails.stores
  const { listEntries } = transferEntries
  transferEntries.listEntries = async (key) => {
    transferEntries.listEntries = listEntries
    const entries = await listEntries(key)
    await act()
    return entries
  }
}

test('whoever comes back to the bank transfer is asked for what has not come yet', async () => {
  const order = await left()
  await confirm(receipt(order, 400n))
  assert.equal((await again(order)).status, 'pending')
  assert.deepEqual(await askedFor(order), ['Received so far 4.00 USD', 'Amount 6.00 USD'])
  const { heldMinor, order: paid } = await confirm(receipt(order, 600n))
  assert.deepEqual([paid.status, heldMinor], ['success', 0n])
})

test('whoever comes back when all has come has paid, once, with both callbacks', async () => {
  const order = await left()
  const before = await suspense()
  await confirm(receipt(order, 1_000n))
  assert.equal((await again(order)).status, 'approved')
  assert.equal(await statusOf(order), 'success')
  assert.deepEqual(await events(order), ['order.confirming', 'order.success'])
  assert.equal(await suspense(), before)
  assert.equal(
    (await payByRail.start({ ...order, railId: 'transfer', locale: 'de' })).kind,
    'order_not_payable',
  )
  const { rows } = await pool.query('select 1 from rail_tasks where payment_id = $1', [order.paymentId])
  assert.deepEqual(rows, [], 'nothing is asked any more')
})

test('kill -9 after the second start: a worker pays out of what came, or asks for the rest', async () => {
  for (const [amountMinor, status] of [
    [1_000n, 'success'],
    [400n, 'pending'],
  ] as const) {
    const order = await left()
    await confirm(receipt(order, amountMinor))
    const { merchantId, paymentId } = order
    const transactionId = `T2 ${paymentId}`
    const nowMs = clock.now()
    const task = { taskId: transactionId, kind: 'payment', railId: 'transfer', transactionId } as const
    await rails.stores.attempts.begin({
      attempt: beginAttempt(order, { railId: 'transfer', transactionId, locale: 'de', nowMs }),
      task: { ...task, merchantId, paymentId, createdAtMs: nowMs, dueAtMs: nowMs },
    })
    await rails.turn()
    assert.equal(await statusOf(order), status)
  }
})

test('money that is booked while the second attempt begins is counted', async () => {
  const order = await left()
  afterNextReading(() => confirm(receipt(order, 400n)))
  await again(order)
  assert.deepEqual(await askedFor(order), ['Received so far 4.00 USD', 'Amount 6.00 USD'])
  const whole = await left()
  afterNextReading(() => confirm(receipt(whole, 1_000n)))
  assert.equal((await again(whole)).status, 'approved')
  assert.deepEqual(await events(whole), ['order.confirming', 'order.success'])
})

test('an attempt that begins while money is booked counts it', async () => {
  const order = await left()
  afterNextReading(() => again(order))
  await confirm(receipt(order, 400n))
  assert.deepEqual(await askedFor(order), ['Received so far 4.00 USD', 'Amount 6.00 USD'])
  await payByRail.leave(order)
  afterNextReading(() => again(order))
  await back(order, 400n)
  assert.deepEqual(await askedFor(order), ['Amount 10.00 USD'])
})

test('money that is sent back while the order is open is asked for again', async () => {
  const { order } = await started()
  await confirm(receipt(order, 400n))
  assert.equal((await back(order, 100n)).heldMinor, 300n)
  assert.deepEqual(await askedFor(order), ['Received so far 3.00 USD', 'Amount 7.00 USD'])
  assert.equal((await back(order, 300n)).heldMinor, 0n)
  assert.deepEqual(await askedFor(order), ['Amount 10.00 USD'])
  const { heldMinor, order: paid } = await confirm(receipt(order, 1_000n))
  assert.deepEqual([paid.status, heldMinor], ['success', 0n])
})

test('what is sent back and what comes at the same moment are both counted', async () => {
  const { order } = await started()
  await confirm(receipt(order, 400n))
  await Promise.all([back(order, 400n), confirm(receipt(order, 300n))])
  assert.deepEqual(await askedFor(order), ['Received so far 3.00 USD', 'Amount 7.00 USD'])
})

test('money that was sent back as the second attempt began pays nothing', async () => {
  const order = await left()
  await confirm(receipt(order, 1_000n))
  afterNextReading(() => back(order, 1_000n))
  assert.equal((await again(order)).status, 'pending')
  assert.deepEqual(await askedFor(order), ['Amount 10.00 USD'])
})

test('an entry of the bank counts once, also when two operators record it at the same moment', async () => {
  const { order } = await started()
  const one = receipt(order, 400n)
  const results = await Promise.allSettled([confirm(one), confirm(one), confirm(one)])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  const other = await started()
  await assert.rejects(
    confirm({ ...receipt(other.order, 1_000n), outsideReference: one.outsideReference }),
    (error) => {
      assert(error instanceof Failure && error.field === 'outsideReference')
      return error.message.includes(order.paymentId)
    },
  )
})

test('two parts at the same moment are two parts, and pay together', async () => {
  const { order } = await started()
  await Promise.all([confirm(receipt(order, 500n)), confirm(receipt(order, 500n))])
  assert.equal(await statusOf(order), 'success')
})

test('a wrong reference, currency or day is refused at its field, and nothing is recorded', async () => {
  const { order } = await started()
  const refused = async (given: Partial<Receipt>, field: string, text: RegExp) =>
    assert.rejects(confirm(receipt(order, 1_000n, given)), (error) => {
      assert(error instanceof Failure)
      assert.equal(error.field, field)
      return text.test(error.message)
    })
  const reference = creditorReference(order.paymentId)
  // 02 to 98 are used, so one more is always wrong; another last letter is right once in 97.
  const wrongDigits = String(Number(reference.slice(2, 4)) + 1).padStart(2, '0')
  await refused(
    { reference: `RF${wrongDigits}${reference.slice(4)}` },
    'reference',
    /not a valid creditor reference/,
  )
  await refused({ reference: 'RF18539007547034' }, 'reference', /no payment with the reference/)
  await refused({ currency: 'EUR' }, 'currency', /order is in USD/)
  await refused({ valueDate: '2025-02-30' }, 'valueDate', /but was 2025-02-30/)
  await refused({ valueDate: '2999-01-01' }, 'valueDate', /is in the future/)
  assert.equal(await statusOf(order), 'pending')
  await assert.rejects(
    by.transfers.confirmTransfer('bank', receipt(order, 1n)),
    /Rail bank for bank transfers does not exist/,
  )
})

test('what the bank booked names the operator’s account: the one given, or the one with the rail’s IBAN', async () => {
  const { order } = await started()
  const bankOf = async (given: Receipt) => {
    await confirm(given)
    const entries = await rails.stores.transferEntries.listEntries(order)
    return entries.at(-1)?.bankName
  }
  assert.equal(await bankOf(receipt(order, 100n)), undefined)
  const details = { holder: 'Example GmbH', lines: undefined, bic: undefined }
  await by.banks.addBank({ bankName: 'giro', currency: undefined, ...details, iban: account.iban }, 'test')
  await by.banks.addBank({ bankName: 'euro', currency: 'EUR', ...details, iban: account.iban }, 'test')
  assert.equal(await bankOf(receipt(order, 100n)), 'giro')
  assert.equal(await bankOf(receipt(order, 100n, { bankName: 'main' })), 'main')
  await assert.rejects(confirm(receipt(order, 100n, { bankName: 'euro' })), /holds EUR, not USD/)
  await assert.rejects(
    confirm(receipt(order, 100n, { bankName: 'none' })),
    /Bank account none does not exist/,
  )
})

test('where money in needs a second operator, a transfer counts after that operator agrees, once', async () => {
  const { order } = await started()
  for (const login of ['alice', 'bob'])
    await by.operators.addOperator({ login, role: 'admin', password: 'a password of the team' })
  const config = readConfig({ ...testEnvironment, APPROVAL_FOR: 'transfer' })
  const actions = testActions({ ...(await openRails(pool, { clock, config })), clock, config })
  const { outsideReference, valueDate, reference } = receipt(order, 1_000n)
  const came = { reference, amount: '10.00', currency: 'USD', outsideReference, valueDate, bank: 'main' }
  const confirmed = (input: object) =>
    actions.run('alice', 'transfer.confirm', { params: { railId: 'transfer' }, input: { ...input } })
  await assert.rejects(confirmed({ ...came, valueDate: '2999-01-01' }), /is in the future/)
  const asked = await confirmed(came)
  assert(asked.kind === 'waiting')
  assert.equal(await statusOf(order), 'pending')
  const { approvalId, summary } = asked.request
  assert.match(summary, /^Record a received bank transfer\..*amount 10\.00, currency USD.*bank.* main/)
  await assert.rejects(actions.approve('alice', approvalId), /your own request/)
  await actions.approve('bob', approvalId)
  assert.equal(await statusOf(order), 'success')
  await assert.rejects(actions.approve('bob', approvalId), /was approved/)
  await assert.rejects(confirmed(came), /already recorded/)
})

test('whoever watches orders is told of what a transfer paid, once, and of the refund that was sent', async () => {
  const published: string[] = []
  const { operations: watched } = testOperations(pool, {
    clock,
    publish: (changes) => published.push(...orderChanges(changes)),
  })
  const { transfers } = actingAs(watched, 'test')
  const { order } = await started()
  const { paymentId, merchantId } = order
  await transfers.confirmTransfer('transfer', receipt(order, 400n))
  assert.deepEqual(published.splice(0), [`${paymentId} undefined`], 'its page asks for less')
  const rest = receipt(order, 600n)
  await transfers.confirmTransfer('transfer', rest)
  await assert.rejects(transfers.confirmTransfer('transfer', rest), /already recorded/)
  assert.deepEqual(published.splice(0), [`${paymentId} confirming`, `${paymentId} success`])
  const wish = JSON.stringify({ paymentId, referRefundNo: 'told', refundAmount: '4.00' })
  const { refundId } = await operations.refundOrder(merchant, wish)
  await transfers.settleRefund(
    { merchantId, refundId },
    { sent: undefined, reason: 'The account is closed.' },
  )
  assert.deepEqual(published, [`${paymentId} refund_failed`])
})

test('a refund waits until an operator has sent it, or says that it cannot be', async () => {
  const { order } = await started()
  await confirm(receipt(order, 1_000n))
  clock.advance(1_000)
  const refund = async (referRefundNo: string, refundAmount: string) =>
    operations.refundOrder(
      merchant,
      JSON.stringify({ paymentId: order.paymentId, referRefundNo, refundAmount }),
    )
  const { refundId } = await refund('r1', '4.00')
  await rails.turn()
  const key = { merchantId: order.merchantId, refundId }
  const sent = { outsideReference: 'refund 1', valueDate: '2025-01-03', party: 'Ada' }
  await by.transfers.settleRefund(key, { sent, reason: 'sent' })
  await assert.rejects(by.transfers.settleRefund(key, { sent, reason: 'sent' }), /already refund_success/)
  clock.advance(1_000)
  const second = { ...key, refundId: (await refund('r2', '1.00')).refundId }
  await assert.rejects(by.transfers.settleRefund(second, { sent, reason: 'sent' }), /already recorded/)
  await by.transfers.settleRefund(second, { sent: undefined, reason: 'The account is closed.' })
  assert.deepEqual((await events(order)).slice(-2), ['refund.success', 'refund.failed'])
})

test('kill -9 between start and answer: the next look begins the same payment', async () => {
  const order = await money.addOrder(merchant)
  const outcome = await payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
  assert(outcome.kind === 'started')
  await pool.query(
    `update rail_attempts set status = 'starting', next_action = null, reference = null where transaction_id = $1`,
    [outcome.attempt.transactionId],
  )
  const looked = await payByRail.look({ ...order, openAttempt: outcome.attempt.transactionId })
  assert.deepEqual([looked?.status, looked?.reference], ['pending', creditorReference(order.paymentId)])
})

test('a transfer rail has an account and neither address nor secret', async () => {
  await assert.rejects(
    by.rails.rotateSecret('transfer', { endsOthers: false, reason: 'x' }),
    /neither an address/,
  )
  await assert.rejects(
    by.rails.changeRail('transfer', { url: 'https://bank.example' }, 'x'),
    /has an account/,
  )
  const changed = await by.rails.changeAccount(
    'transfer',
    { ...account, iban: 'GB82 WEST 1234 5698 7654 32' },
    'moved',
  )
  assert.equal(changed.account?.iban, 'GB82WEST12345698765432')
  await assert.rejects(
    by.rails.changeAccount('transfer', { ...account, iban: 'GB82 WEST 1234 5698 7654 33' }, 'x'),
    /not an IBAN/,
  )
  await assert.rejects(
    pool.query(`update rails set url = 'https://x.example' where rail_id = 'transfer'`),
    /rails_reached/,
  )
})

test('the proof of the books finds an entry, or what it moved, that is missing or different', async () => {
  const { order } = await started()
  await confirm(receipt(order, 1_250n))
  const mine = `payment_id = '${order.paymentId}'`
  for (const [wrong, claim] of [
    [`delete from transfer_entries where ${mine}`, /in the books exactly once/],
    [`update transfer_entries set amount_minor = 1 where ${mine}`, /in the books exactly once/],
    [`update transfer_entries set amount_minor = 1 where ${mine}`, /pay no more than was received/],
    [`delete from transfers where kind = 'transfer_applied' and ${mine}`, /out of suspense once/],
  ] as const) {
    const undo = new Error('rolled back')
    const doing = pool.transaction(async (transaction) => {
      await transaction.query(wrong)
      const asking = {
        query: (statement: never, values: never) =>
          String(statement).startsWith('set transaction')
            ? Promise.resolve({ rows: [], rowCount: 0 })
            : transaction.query(statement, values),
      }
      // Safe: the proof asks within the one transaction that it is given.
      const within = {
        ...pool,
        transaction: (work: (of: unknown) => unknown) => work(asking),
      } as unknown as Pool
      const { findings } = await verifyLedger(within)
      assert(
        findings.some((finding) => claim.test(finding.claim)),
        `${wrong}: ${JSON.stringify(findings)}`,
      )
      throw undo
    })
    await assert.rejects(doing, undo)
  }
})
