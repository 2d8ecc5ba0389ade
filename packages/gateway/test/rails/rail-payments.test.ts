// Payments through a rail, by a bank that speaks real HTTP: every way in which it can answer, late, twice, wrongly or not
// at all, and after each of them the books are proved.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { leaseMs } from '../../src/finance/rails/ask-rails.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { type HeldClock, heldClock } from '../support/money.ts'
import { payOutWholly } from '../support/payouts.ts'
import { approved, openRails, type Rails, type TestBank } from '../support/rails.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const clock: HeldClock = heldClock()
const rails = await openRails(pool, { clock })
const { money, operations, alerts } = rails
const { payByRail, askRails, handleRailNotification } = operations
const merchant = await money.addMerchant()
const bank = await rails.addBank('bank')
const banks = [bank]
const usual = { first: bank.first, firstRefund: bank.firstRefund }

beforeEach(async () => {
  Object.assign(bank, usual, { says: () => undefined })
  bank.asked.length = 0
  alerts.length = 0
  await actingAs(operations, 'test').rails.resumeRail('bank', 'test')
  operations.railDirectory.forget()
})
afterEach(async () => {
  await prove()
  await endWhatIsOpen()
  await prove()
})

async function prove(): Promise<void> {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
  await suspenseIsListed(pool, operations)
}

/** So that the next test finds nothing that waits. */
async function endWhatIsOpen(): Promise<void> {
  for (const each of banks)
    each.says = ({ type }) => ({ status: type.startsWith('refund') ? 'approved' : 'cancelled' })
  for (let turns = 0; turns < 100; turns++) {
    clock.advance(2 * 60 * 60_000)
    await operations.expireOrders()
    const { rowCount } = await pool.query('select from rail_tasks limit 1')
    if (rowCount === 0) return
    await rails.turn()
  }
}

async function started(given: Parameters<typeof money.addOrder>[1] = {}, of: Rails = rails) {
  const order = await money.addOrder(merchant, given)
  const outcome = await of.operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started', outcome.kind)
  return { order, attempt: outcome.attempt, transactionId: outcome.attempt.transactionId }
}

async function found({ merchantId, paymentId }: Pick<Order, 'merchantId' | 'paymentId'>) {
  const order = await money.orders.findOrder({ merchantId, paymentId })
  assert(order)
  return order
}

async function attemptsOf(order: Order): Promise<string[]> {
  return (await rails.stores.attempts.listAttempts(order)).map(({ status }) => status)
}

async function events({ paymentId }: Order): Promise<string[]> {
  const { rows } = await pool.query<{ event_name: string }>(
    'select event_name from callbacks where payment_id = $1 order by created_at, callback_id',
    [paymentId],
  )
  return rows.map(({ event_name }) => event_name.replace('payment.', ''))
}

async function balance(accountId: string): Promise<bigint> {
  const { rows } = await pool.query<{ balance: string }>(
    'select credits_posted - debits_posted as balance from accounts where account_id = $1',
    [accountId],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

test('start, redirect, approved: both callbacks, the money from the rail, and the rail named', async () => {
  const { order, attempt } = await started()
  assert.deepEqual(attempt.nextAction, { kind: 'redirect', url: 'https://bank.example/pay' })
  const [start] = bank.asked
  assert(start?.type === 'payment.start')
  assert.deepEqual(
    [start.amount, start.amountMinor, start.currency, start.locale, start.merchantName],
    ['10.00', '1000', 'USD', 'en', 'Shop'],
  )
  assert.match(start.returnUrl, /^http:\/\/localhost:8080\/checkout\/\d{18}\/P\w+\/[\w-]+\/rail$/)
  assert.equal(start.notifyUrl, 'http://localhost:8080/rails/bank/notifications')
  assert.equal((await found(order)).status, 'pending')
  const before = await balance('rail:bank:USD')
  bank.payments.set(attempt.transactionId, approved)
  assert.equal(await rails.turn(), 0, 'not due yet')
  clock.advance(2_000)
  assert.equal(await rails.turn(), 1)
  const paid = await found(order)
  assert.deepEqual(
    [paid.status, paid.railId, paid.walletId, paid.transactionId, paid.openAttempt],
    ['success', 'bank', undefined, attempt.transactionId, undefined],
  )
  assert.deepEqual(await events(order), ['order.confirming', 'order.success'])
  assert.equal(await balance('rail:bank:USD'), before - 1_000n)
  const [, last] = await rails.stores.attempts.listCalls(order, 10)
  assert.deepEqual([last?.type, last?.outcome, last?.detail], ['payment.status', 'approved', 'bank-1'])
  assert.equal(await rails.turn(), 0)
})

test('submitted makes the order confirming, and a decline after it failed', async () => {
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, { status: 'submitted', checkAfterSeconds: 30 })
  clock.advance(2_000)
  await rails.turn()
  assert.equal((await found(order)).status, 'confirming')
  clock.advance(29_000)
  assert.equal(await rails.turn(), 0, 'the rail said when')
  bank.payments.set(transactionId, { status: 'declined', reason: 'No money there.' })
  clock.advance(1_000)
  await rails.turn()
  const failed = await found(order)
  assert.deepEqual([failed.status, failed.message], ['failed', 'No money there.'])
  assert.deepEqual(await events(order), ['order.confirming', 'order.failed'])
})

test('a decline of a pending order ends the attempt, and a wallet pays instead', async () => {
  bank.first = { status: 'declined', reason: 'Card expired.' }
  const { order, attempt } = await started()
  assert.deepEqual([attempt.status, attempt.reason], ['declined', 'Card expired.'])
  assert.equal((await found(order)).openAttempt, undefined)
  const walletId = await money.addWallet(5_000n)
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'submitted')
  await money.settle()
  assert.deepEqual([(await found(order)).status, (await found(order)).railId], ['success', undefined])
})

test('a wallet does not pay while an attempt is open; another choice cancels it first', async () => {
  const { order } = await started()
  const walletId = await money.addWallet(5_000n)
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'attempt_open')
  assert.equal((await payByRail.leave(order))?.status, 'cancelled')
  assert.deepEqual(bank.types(), ['payment.start', 'payment.cancel'])
  clock.advance(1)
  const again = await payByRail.start({ ...order, railId: 'bank', locale: 'de' })
  assert(again.kind === 'started')
  assert.deepEqual(await attemptsOf(order), ['cancelled', 'pending'])
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'attempt_open')
})

test('who changes their mind too late has paid: the cancel is answered with approved', async () => {
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  assert.equal((await payByRail.leave(order))?.status, 'approved')
  assert.equal((await found(order)).status, 'success')
})

test('who changes their mind while the bank’s answer is written down holds nobody up', async () => {
  const { order, transactionId } = await started()
  const leaving = await pool.transaction(async (transaction) => {
    // As an answer is committed: the task, and then the attempt.
    await transaction.query('select from rail_tasks where task_id = $1 for update', [transactionId])
    const leaving = payByRail.leave(order)
    await untilBlocked(pool, 1, '%update rail_tasks%')
    await transaction.query(
      'select from rail_attempts where merchant_id = $1 and transaction_id = $2 for update',
      [order.merchantId, transactionId],
    )
    return [leaving]
  })
  const [left] = await Promise.all(leaving)
  assert.equal(left?.status, 'cancelled')
})

test('choosing the same rail twice is one attempt, also at the same moment', async () => {
  const order = await money.addOrder(merchant)
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => payByRail.start({ ...order, railId: 'bank', locale: 'en' })),
  )
  assert(outcomes.every(({ kind }) => kind === 'started'))
  assert.deepEqual(await attemptsOf(order), ['pending'])
  assert.equal(bank.payments.size, new Set(bank.payments.keys()).size)
})

test('a lost start is looked for by status, and begun again by the same id where it never arrived', async () => {
  bank.says = ({ type }) => (type === 'payment.start' ? 'drop' : undefined)
  const arrived = await started()
  assert.equal(arrived.attempt.status, 'starting')
  bank.says = () => undefined
  clock.advance(1_000)
  await rails.turn()
  assert.deepEqual(bank.types(), ['payment.start', 'payment.status'])
  assert.deepEqual(await attemptsOf(arrived.order), ['pending'])
  bank.says = ({ type }) => (type === 'payment.start' ? 'drop' : undefined)
  const lost = await started()
  bank.payments.delete(lost.transactionId)
  bank.asked.length = 0
  bank.says = () => undefined
  clock.advance(1_000)
  await rails.turn()
  assert.deepEqual(bank.types().slice(-2), ['payment.status', 'payment.start'])
  assert.deepEqual(await attemptsOf(lost.order), ['pending'])
  assert.deepEqual(
    (await rails.stores.attempts.listCalls(lost.order, 10))
      .map(({ type, outcome }) => `${type} ${outcome}`)
      .sort(),
    ['payment.start failed', 'payment.start pending', 'payment.status unknown'],
  )
})

test('killed between commit and call: the lease ends, and the rail is asked whether it ever heard of it', async () => {
  const order = await money.addOrder(merchant)
  const { claimId } = askRails.claiming()
  const { makeTransactionId } = await import('@tillgate/protocol')
  const { randomBytes } = await import('node:crypto')
  const { beginAttempt } = await import('../../src/finance/rails/rules/attempt.ts')
  const transactionId = makeTransactionId(clock.now(), randomBytes)
  const nowMs = clock.now()
  const given = { railId: 'bank', transactionId, locale: 'en', nowMs }
  const task = { ...order, ...given, taskId: transactionId, kind: 'payment', createdAtMs: nowMs } as const
  const attempt = beginAttempt(order, given)
  assert(await rails.stores.attempts.begin({ attempt, task: { ...task, dueAtMs: nowMs + leaseMs, claimId } }))
  clock.advance(leaseMs - 1)
  assert.equal(await rails.turn(), 0)
  clock.advance(1)
  assert.equal(await rails.turn(), 1)
  assert.deepEqual(bank.types(), ['payment.status', 'payment.start'])
  assert.deepEqual(await attemptsOf(order), ['pending'])
})

test('at the expiry the order times out and the attempt is cancelled, whatever the rail says', async () => {
  const { order } = await started({ lifeMs: 300_000 })
  clock.advance(300_000)
  await operations.expireOrders()
  assert.equal((await found(order)).status, 'timeout')
  assert.equal(await rails.turn(), 1)
  assert.deepEqual(bank.types().slice(-1), ['payment.cancel'])
  assert.deepEqual(await attemptsOf(order), ['cancelled'])
  assert.deepEqual(await events(order), ['order.timeout'])
})

test('the merchant cancels while the consumer is at the bank, and the bank is told', async () => {
  const { order } = await started()
  await money.cancelOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
  assert.equal(await rails.turn(), 1)
  assert.deepEqual(await attemptsOf(order), ['cancelled'])
})

test('money that comes after the expiry goes to suspense and back through the rail', async () => {
  const { order, transactionId } = await started({ lifeMs: 300_000 })
  bank.payments.set(transactionId, { status: 'submitted' })
  bank.says = ({ type }) => (type === 'payment.cancel' ? { status: 'submitted' } : undefined)
  clock.advance(300_000)
  await operations.expireOrders()
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['submitted'])
  const before = await balance('rail:bank:USD')
  bank.payments.set(transactionId, approved)
  bank.firstRefund = { status: 'submitted' }
  clock.advance(300_000)
  await rails.turn()
  assert.equal((await found(order)).status, 'timeout', 'a final status stays')
  assert.deepEqual(await attemptsOf(order), ['returning'])
  assert.equal(await balance('suspense:late:USD'), 1_000n)
  assert.match(alerts[0] ?? '', /money came through the rail for an order that is timeout/)
  await rails.turn()
  const refund = bank.asked.find(({ type }) => type === 'refund.start')
  assert(refund?.type === 'refund.start')
  assert.deepEqual(
    [refund.transactionId, refund.amount, refund.reference],
    [transactionId, '10.00', 'bank-1'],
  )
  bank.refunds.set(refund.refundId, { status: 'approved' })
  clock.advance(60_000)
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'])
  assert.deepEqual([await balance('suspense:late:USD'), await balance('rail:bank:USD')], [0n, before])
  assert.equal(await rails.turn(), 0)
})

test('late money is left to an operator where the setting says so, or where the rail does not take it back', async () => {
  const holding = await openRails(pool, { clock, lateMoney: 'hold' })
  for (const given of [
    { of: holding, refund: undefined },
    { of: rails, refund: { status: 'declined', reason: 'Closed.' } },
  ]) {
    const { order, transactionId } = await started()
    await money.cancelOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
    bank.payments.set(transactionId, approved)
    if (given.refund) bank.firstRefund = given.refund
    await given.of.turn()
    await given.of.turn()
    assert.deepEqual(await attemptsOf(order), ['held'])
  }
  assert.equal(await balance('suspense:late:USD'), 2_000n)
  // An operator tries again; once for each that is held.
  bank.firstRefund = { status: 'approved' }
  const { rows } = await pool.query<{ transaction_id: string }>(
    "select transaction_id from rail_attempts where status = 'held'",
  )
  const { returnLateMoney } = actingAs(operations, 'test')
  for (const { transaction_id: transactionId } of rows) {
    const key = { merchantId: merchant.merchantId, transactionId }
    await returnLateMoney(key, 'the account is open again')
    await assert.rejects(returnLateMoney(key, 'twice'), /No money is held for this attempt/)
  }
  await rails.turn()
  assert.equal(await balance('suspense:late:USD'), 0n)
  assert(alerts.some((alert) => /rejected the return of late money/.test(alert)))
})

test('a bank that changes its mind after its decline is heard by its notification, and the money goes back', async () => {
  bank.first = { status: 'declined', reason: 'No.' }
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  const notification = bank.notification({ type: 'payment.changed', transactionId })
  assert.equal(await handleRailNotification({ railId: 'bank', ...notification }), 'heard')
  await rails.turn()
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'])
  assert.equal((await found(order)).status, 'pending')
  bank.payments.set(transactionId, { status: 'declined', reason: 'Oh no.' })
  assert.equal(
    await handleRailNotification({
      railId: 'bank',
      ...bank.notification({ type: 'payment.changed', transactionId }),
    }),
    'heard',
  )
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'], 'what is booked stays')
})

test('a bank that changes its mind while what a wallet paid is refunded holds nobody up', async () => {
  bank.first = { status: 'declined', reason: 'No.' }
  const { order, transactionId } = await started()
  await money.submitPayment({ ...order, walletId: await money.addWallet(5_000n) })
  await money.settle()
  bank.payments.set(transactionId, approved)
  await handleRailNotification({
    railId: 'bank',
    ...bank.notification({ type: 'payment.changed', transactionId }),
  })
  const turning = await pool.transaction(async (transaction) => {
    // As a refund does: the accounts, and then the order.
    await transaction.query("select from accounts where account_id = 'rail:bank:USD' for update")
    const turning = rails.turn()
    await untilBlocked(pool, 1, '%from accounts%for update%')
    await transaction.query('select from orders where merchant_id = $1 and payment_id = $2 for update', [
      order.merchantId,
      order.paymentId,
    ])
    return [turning]
  })
  await Promise.all(turning)
  assert.deepEqual(await attemptsOf(order), ['returning'])
})

test('a bank that changes its mind while its decline is on its way here is heard as well', async () => {
  const { order, transactionId } = await started()
  bank.says = () => (_reply, respond) => {
    bank.says = () => undefined
    bank.payments.set(transactionId, approved)
    const notification = bank.notification({ type: 'payment.changed', transactionId })
    void handleRailNotification({ railId: 'bank', ...notification }).then(() =>
      respond({ status: 'declined', reason: 'No.' }),
    )
  }
  clock.advance(2_000)
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['declined'])
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returning'])
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'])
  assert.equal(await rails.turn(), 0)
})

test('a notification of a payment that is over, and of which the bank knows nothing, is no failure of the bank', async () => {
  bank.says = () => 'drop'
  const { order, transactionId } = await started()
  bank.says = () => undefined
  bank.payments.clear()
  await payByRail.leave(order)
  assert.deepEqual(await attemptsOf(order), ['cancelled'])
  const notification = bank.notification({ type: 'payment.changed', transactionId })
  assert.equal(await handleRailNotification({ railId: 'bank', ...notification }), 'heard')
  assert.equal(await rails.turn(), 1)
  const calls = await rails.stores.attempts.listCalls(order, 10)
  const outcomes = calls.filter(({ type }) => type === 'payment.status').map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, ['unknown'])
  clock.advance(2 * 60 * 60_000)
  assert.equal(await rails.turn(), 0, 'it is asked about once')
})

test('submitted, declined and then approved: the order stays failed, and the money is late', async () => {
  bank.first = { status: 'submitted', reference: 'B-1' }
  const { order, transactionId } = await started()
  assert.equal((await found(order)).status, 'confirming')
  for (const answer of [{ status: 'declined', reason: 'No.' } as const, approved]) {
    bank.payments.set(transactionId, answer)
    await handleRailNotification({
      railId: 'bank',
      ...bank.notification({ type: 'payment.changed', transactionId }),
    })
    await rails.turn()
    assert.equal((await found(order)).status, 'failed')
  }
  assert.equal(await balance('suspense:late:USD'), 1_000n)
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'])
  assert.equal(await balance('suspense:late:USD'), 0n)
})

test('approved, then declined: what was paid stays paid, and somebody is told', async () => {
  bank.first = approved
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, { status: 'declined', reason: 'Changed my mind.' })
  await handleRailNotification({
    railId: 'bank',
    ...bank.notification({ type: 'payment.changed', transactionId }),
  })
  await rails.turn()
  assert.equal((await found(order)).status, 'success')
  assert.match(alerts[0] ?? '', /reversed a payment/)
})

test('a notification only wakes: genuine it has the rail asked at once, forged it moves nothing', async () => {
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  const forged = bank.notification({ type: 'payment.changed', transactionId }, `whsec_${'A'.repeat(43)}=`)
  assert.equal(await handleRailNotification({ railId: 'bank', ...forged }), 'refused')
  assert.equal(await handleRailNotification({ railId: 'nobody', ...forged }), 'refused')
  assert.equal(
    await handleRailNotification({ railId: 'bank', ...bank.notification({ type: 'refund.changed' }) }),
    'malformed',
  )
  const unknown = bank.notification({ type: 'payment.changed', transactionId: 'T0' })
  assert.equal(await handleRailNotification({ railId: 'bank', ...unknown }), 'heard')
  assert.equal(await rails.turn(), 0)
  const genuine = bank.notification({ type: 'payment.changed', transactionId })
  assert.equal(await handleRailNotification({ railId: 'bank', ...genuine }), 'heard')
  assert.equal(await rails.turn(), 1)
  assert.equal((await found(order)).status, 'success')
})

const notBelieved: [string, Parameters<typeof says>[0]][] = [
  ['garbage', 'not json'],
  ['another amount', { ...approved, amountMinor: '999999' }],
  ['another currency', { ...approved, currency: 'JPY' }],
  [
    'a redirect to a script',
    { status: 'pending', nextAction: { kind: 'redirect', url: 'javascript:alert(1)' } },
  ],
  ['pending with nothing to do', { status: 'pending' }],
  ['a status that does not exist', { status: 'paid', reference: 'x' }],
  ['megabytes', `{"status":"approved","reference":"${'x'.repeat(3_000_000)}"}`],
  ['HTTP 500', (reply) => reply.writeHead(500).end('{"status":"approved","reference":"x"}')],
  ['a redirect', (reply) => reply.writeHead(307, { location: 'https://elsewhere.example' }).end()],
  ['nothing', 'drop'],
]
function says(said: ReturnType<TestBank['says']>): void {
  bank.says = () => said
}
for (const [what, said] of notBelieved)
  test(`an answer of ${what} is a failure of the rail: nothing is believed, and it is asked again`, async () => {
    const { order, transactionId } = await started()
    says(said)
    bank.payments.set(transactionId, { status: 'submitted' })
    clock.advance(2_000)
    await rails.turn()
    assert.deepEqual(await attemptsOf(order), ['pending'])
    assert.equal((await found(order)).status, 'pending')
    const [, call] = await rails.stores.attempts.listCalls(order, 10)
    assert.equal(call?.outcome, 'failed')
    bank.says = () => undefined
    clock.advance(1_000)
    await rails.turn()
    assert.equal((await found(order)).status, 'confirming')
  })

test('a rail that fails three times leaves the checkout while another stays, and comes back', async () => {
  const other = await rails.addBank('other')
  banks.push(other)
  bank.says = () => 'drop'
  const { order } = await started()
  for (let failures = 1; failures < 3; failures++) {
    clock.advance(5_000)
    await rails.turn()
  }
  const { rail } = await actingAs(operations, 'test').rails.showRail('bank')
  assert.equal(rail.failures, 3)
  assert.match(alerts.at(-1) ?? '', /rail bank fails and is left alone/)
  const next = await money.addOrder(merchant)
  assert.equal((await payByRail.start({ ...next, railId: 'bank', locale: 'en' })).kind, 'rail_not_offered')
  assert.equal((await payByRail.start({ ...next, railId: 'other', locale: 'en' })).kind, 'started')
  assert.equal(other.asked.length, 1)
  bank.asked.length = 0
  clock.advance(14_999)
  await rails.turn()
  assert.equal(bank.asked.length, 0)
  bank.says = () => undefined
  clock.advance(1)
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['pending'])
  assert.equal((await actingAs(operations, 'test').rails.showRail('bank')).rail.failures, 0)
})

test('a rail that an operator paused is not offered, and what is under way goes on', async () => {
  const { order, transactionId } = await started()
  await actingAs(operations, 'test').rails.pauseRail('bank', 'test')
  operations.railDirectory.forget()
  const next = await money.addOrder(merchant)
  assert.equal((await payByRail.start({ ...next, railId: 'bank', locale: 'en' })).kind, 'rail_not_offered')
  bank.payments.set(transactionId, approved)
  clock.advance(2_000)
  await rails.turn()
  assert.equal((await found(order)).status, 'success')
  await actingAs(operations, 'test').rails.resumeRail('bank', 'test')
  operations.railDirectory.forget()
})

test('a secret rotated in mid-flight: the bank takes either, and so do we', async () => {
  const { order, transactionId } = await started()
  const old = bank.secrets[0]
  const { secret } = await actingAs(operations, 'test').rails.rotateSecret('bank', {
    endsOthers: false,
    reason: 'test',
  })
  operations.railDirectory.forget()
  bank.payments.set(transactionId, approved)
  await handleRailNotification({
    railId: 'bank',
    ...bank.notification({ type: 'payment.changed', transactionId }, old),
  })
  await rails.turn()
  assert.equal((await found(order)).status, 'success')
  bank.secrets.splice(0, 1, secret)
  await started()
  assert.deepEqual(bank.refused, [])
})

test('two gateways settle at once, and every order is paid once', async () => {
  const other = await openRails(pool, { clock })
  const orders = await Promise.all(Array.from({ length: 20 }, () => started()))
  for (const { transactionId } of orders) bank.payments.set(transactionId, approved)
  clock.advance(2_000)
  const asked = await Promise.all([rails.turn(), other.turn(), rails.turn(), other.turn()])
  assert.equal(
    asked.reduce((sum, each) => sum + each),
    20,
  )
  for (const { order } of orders) {
    assert.equal((await found(order)).status, 'success')
    assert.deepEqual(await events(order), ['order.confirming', 'order.success'])
  }
  assert.deepEqual(other.troubles, [])
})

test('a worker that lost its claim writes nothing', async () => {
  const { order, transactionId } = await started()
  clock.advance(2_000)
  const [slow] = await rails.stores.attempts.claim(askRails.claiming(), new Map([['bank', 1]]))
  assert(slow)
  clock.advance(leaseMs)
  bank.payments.set(transactionId, approved)
  await rails.turn()
  assert.equal((await found(order)).status, 'success')
  assert.equal(await rails.stores.attempts.commit({ task: slow, calls: [], next: undefined }), false)
})

test('an order that is cancelled while the answer is on its way: the money is late, not lost', async () => {
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  bank.says = (message) => {
    if (message.type !== 'payment.status') return undefined
    return (_reply, respond) =>
      void money
        .cancelOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
        .then(() => respond(approved))
  }
  clock.advance(2_000)
  await rails.turn()
  assert.equal((await found(order)).status, 'cancelled')
  await rails.turn()
  assert.deepEqual(await attemptsOf(order), ['returned'])
})

test('refunds through the rail: partial, repeated, asynchronous, declined, never more than was paid', async () => {
  bank.first = approved
  const { order, transactionId } = await started()
  const refund = (no: string, amount: string) =>
    money.refundOrder(
      merchant,
      JSON.stringify({
        paymentId: order.paymentId,
        referRefundNo: no,
        refundAmount: amount,
        refundReason: 'Broken',
      }),
    )
  const before = await balance('rail:bank:USD')
  clock.advance(2)
  const first = await refund(`${order.paymentId}-1`, '4.00')
  assert.deepEqual(await refund(`${order.paymentId}-1`, '4.00'), first, 'the same number is the same refund')
  await rails.turn()
  const [sent] = bank.asked.filter(({ type }) => type === 'refund.start')
  assert(sent?.type === 'refund.start')
  assert.deepEqual(
    [sent.refundId, sent.transactionId, sent.reference, sent.amount, sent.reason],
    [first.refundId, transactionId, 'bank-1', '4.00', 'Broken'],
  )
  bank.firstRefund = { status: 'submitted', checkAfterSeconds: 10 }
  const second = await refund(`${order.paymentId}-2`, '6.00')
  await rails.turn()
  await assert.rejects(refund(`${order.paymentId}-3`, '0.01'), /exceeds the remaining amount/)
  bank.refunds.set(second.refundId, { status: 'declined', reason: 'Account closed.' })
  clock.advance(10_000)
  await rails.turn()
  assert.equal(bank.asked.at(-1)?.type, 'refund.status')
  bank.firstRefund = { status: 'approved' }
  clock.advance(2)
  await refund(`${order.paymentId}-4`, '6.00')
  await rails.turn()
  const paid = await found(order)
  assert.deepEqual([paid.refundedMinor, paid.refundHeldMinor, paid.refundCount], [1_000n, 0n, 3])
  assert.equal(await balance('rail:bank:USD'), before + 1_000n)
  assert.deepEqual((await events(order)).slice(2), ['refund.success', 'refund.failed', 'refund.success'])
})

test('a refund whose start was lost is looked for before it is sent again', async () => {
  bank.first = approved
  const { order } = await started()
  bank.says = ({ type }) => (type === 'refund.start' ? 'drop' : undefined)
  const body = { paymentId: order.paymentId, referRefundNo: `${order.paymentId}-x`, refundAmount: 10 }
  await money.refundOrder(merchant, JSON.stringify(body))
  await rails.turn()
  bank.says = () => undefined
  clock.advance(1_000)
  await rails.turn()
  assert.deepEqual(bank.types().slice(-2), ['refund.start', 'refund.status'])
  assert.equal((await found(order)).refundedMinor, 1_000n)
})

test('a merchant with too little for the refund: it fails, and the rail hears nothing of it', async () => {
  const poor = await money.addMerchant()
  bank.first = approved
  const order = await money.addOrder(poor)
  await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  await payOutWholly(money, { merchantId: poor.merchantId, amountMinor: 1_000n })
  bank.asked.length = 0
  const body = { paymentId: order.paymentId, referRefundNo: 'r', refundAmount: 10 }
  clock.advance(2)
  await money.refundOrder(poor, JSON.stringify(body))
  await money.settle()
  await rails.turn()
  assert.deepEqual(bank.types(), [])
  assert.deepEqual((await events(order)).slice(-1), ['refund.failed'])
})

test('a rail that hangs holds up nobody else, and no more of it is under way than there is room for', async () => {
  const slow = await rails.addBank('slow')
  banks.push(slow)
  const waiting: (() => void)[] = []
  slow.says = () => (reply) => void waiting.push(() => reply.destroy())
  const orders = await Promise.all(Array.from({ length: 40 }, () => money.addOrder(merchant)))
  const hanging = orders.map((order) => payByRail.start({ ...order, railId: 'slow', locale: 'en' }))
  bank.first = approved
  const { order } = await started()
  assert.equal((await found(order)).status, 'success')
  while (waiting.length < 32) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await rails.turn(), 0)
  assert.equal(waiting.length, 32)
  while (waiting.length > 0) waiting.splice(0).map((end) => end())
  await Promise.all(hanging)
})
