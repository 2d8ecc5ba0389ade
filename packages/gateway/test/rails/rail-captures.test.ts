// Orders with captureMode manual at a rail, by a bank that speaks real HTTP: reserved, captured in parts, released and
// expired, with responses that are lost, late or wrong; and after each of them the books are proved.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { leaseMs } from '../../src/finance/rails/ask-rails.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { approved, authorized, openRails } from '../support/rails.ts'

const day = 24 * 60 * 60_000
const { pool } = await freshDatabase()
const clock = heldClock()
const rails = await openRails(pool, { clock })
const { money, operations, alerts } = rails
const { payByRail, captureOrder, releaseOrder, queryOrder, handleRailNotification } = operations
const merchant = await money.addMerchant()
const bank = await rails.addBank('bank', { authorizationDays: 5 })
await rails.addBank('old')
const { first } = bank

beforeEach(async () => {
  Object.assign(bank, { first, says: () => undefined })
  bank.asked.length = 0
  alerts.length = 0
  await actingAs(operations, 'test').rails.resumeRail('bank', 'test')
  operations.railDirectory.forget()
})
afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
})

async function reserved(amountMinor = 1_000n) {
  bank.first = authorized
  const order = await money.addOrder(merchant, { amountMinor, isManual: true })
  const outcome = await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started', outcome.kind)
  bank.types()
  return { ...order, transactionId: outcome.attempt.transactionId }
}

const capture = (paymentId: string, referCaptureNo: string, given: object = {}) =>
  captureOrder(merchant, JSON.stringify({ paymentId, referCaptureNo, ...given }))
const release = (paymentId: string) => releaseOrder(merchant, JSON.stringify({ paymentId }))
const query = (paymentId: string) => queryOrder(merchant, JSON.stringify({ paymentId }))
const statusOf = async ({ paymentId }: Pick<Order, 'paymentId'>) => {
  const { paymentStatus, msg, authorization } = await query(paymentId)
  return [paymentStatus, msg, authorization?.capturedAmount]
}

async function refused(work: Promise<unknown>, words: RegExp): Promise<void> {
  await assert.rejects(
    work,
    (error) => error instanceof Failure && error.code === 40901 && words.test(error.message),
  )
}

async function balance(accountId: string): Promise<bigint> {
  const { rows } = await pool.query<{ balance: string }>(
    'select credits_posted - debits_posted as balance from accounts where account_id = $1',
    [accountId],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

const merchantBalance = () => balance(`merchant:${merchant.merchantId}:USD`)

test('reserved, captured in two parts: the money moves with each capture, and the last one ends the order', async () => {
  const before = await merchantBalance()
  bank.first = authorized
  const order = await money.addOrder(merchant, { isManual: true })
  const { paymentId } = order
  await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  const [start] = bank.asked.splice(0)
  assert(start?.type === 'payment.start')
  assert.equal(start.captureMode, 'manual')
  const { authorization, paymentStatus } = await query(paymentId)
  assert.deepEqual(
    [paymentStatus, authorization?.remainingAmount, authorization?.expiresAt],
    ['confirming', 10, clock.now() + 5 * day],
  )
  assert.equal(await merchantBalance(), before)
  const partly = await capture(paymentId, '1', { amount: '4.00' })
  assert.deepEqual(
    [partly.status, partly.captureStatus, partly.remainingAmount],
    ['confirming', 'captured', 6],
  )
  assert.equal(await merchantBalance(), before + 400n)
  const whole = await capture(paymentId, '2', { amount: '5.00', final: true })
  assert.deepEqual([whole.status, whole.capturedAmount, whole.remainingAmount], ['success', 9, 0])
  assert.equal(await merchantBalance(), before + 900n)
  const asked = bank.asked.map(
    (message) => message.type === 'payment.capture' && [message.amount, message.final],
  )
  assert.deepEqual(asked, [
    ['4.00', false],
    ['5.00', true],
  ])
  assert.equal(await rails.turn(), 0)
})

test('a lost response to a capture is asked for again with the same id, and captures once', async () => {
  const { paymentId } = await reserved()
  const before = await merchantBalance()
  let calls = 0
  bank.says = ({ type }) => (type === 'payment.capture' && ++calls < 3 ? 'drop' : undefined)
  const answer = await capture(paymentId, '1', { amount: '4.00' })
  assert.deepEqual([answer.captureStatus, answer.capturedAmount], ['capturing', 0])
  await refused(capture(paymentId, '2', { amount: '1.00' }), /still processing the capture 1/)
  assert.equal(await merchantBalance(), before)
  for (let turns = 0; turns < 3; turns++) {
    clock.advance(60_000)
    await rails.turn()
  }
  const ids = bank.asked.flatMap((message) => (message.type === 'payment.capture' ? message.captureId : []))
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1])
  const repeated = await capture(paymentId, '1', { amount: '4.00' })
  assert.deepEqual([repeated.captureStatus, repeated.capturedAmount], ['captured', 4])
  assert.equal(await merchantBalance(), before + 400n)
  await release(paymentId)
})

test('a gateway that stopped after it asked for a capture continues when its claim ends', async () => {
  const { paymentId, transactionId } = await reserved()
  // The worker that claimed the task is gone.
  await pool.query('update rail_tasks set claim_id = gen_random_uuid(), due_at = $2 where task_id = $1', [
    transactionId,
    clock.now() + leaseMs,
  ])
  assert.equal((await capture(paymentId, '1')).captureStatus, 'capturing')
  assert.deepEqual(bank.types(), [])
  clock.advance(leaseMs)
  await rails.turn()
  assert.deepEqual(bank.types(), ['payment.capture'])
  assert.deepEqual(await statusOf({ paymentId }), ['success', '', 10])
})

test('a declined capture is reported with the reason, and another one can follow', async () => {
  const { paymentId } = await reserved()
  bank.says = ({ type }) =>
    type === 'payment.capture' ? { status: 'declined', reason: 'Too early.' } : undefined
  await refused(capture(paymentId, '1', { amount: '4.00' }), /Too early\./)
  await refused(capture(paymentId, '1', { amount: '4.00' }), /Too early\./)
  bank.says = () => undefined
  const { captureStatus, status } = await capture(paymentId, '2')
  assert.deepEqual([captureStatus, status], ['captured', 'success'])
  const { authorization } = await query(paymentId)
  assert.deepEqual(
    authorization?.captures.map(({ captureStatus: each, msg }) => [each, msg]),
    [
      ['failed', 'Too early.'],
      ['captured', undefined],
    ],
  )
})

test('a response with another amount is not believed', async () => {
  const { paymentId } = await reserved()
  bank.says = ({ type }) =>
    type === 'payment.capture' ? { status: 'approved', amountMinor: '1001' } : undefined
  assert.equal((await capture(paymentId, '1')).captureStatus, 'capturing')
  assert.deepEqual(await statusOf({ paymentId }), ['confirming', '', 0])
  bank.says = () => undefined
  clock.advance(60_000)
  await rails.turn()
  assert.deepEqual(await statusOf({ paymentId }), ['success', '', 10])
})

test('ten captures at once take no more than was authorized', async () => {
  const { paymentId } = await reserved()
  const before = await merchantBalance()
  await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => capture(paymentId, `${index}`, { amount: 3 })),
  )
  for (let turns = 0; turns < 5; turns++) {
    clock.advance(60_000)
    await rails.turn()
  }
  const { authorization } = await query(paymentId)
  assert(Number(authorization?.capturedAmount) <= 9)
  assert.equal(await merchantBalance(), before + BigInt(Number(authorization?.capturedAmount) * 100))
  await release(paymentId)
})

test('a release gives the rest back, and is sent again until the rail has released it', async () => {
  const [untouched, partly] = [await reserved(), await reserved()]
  await capture(partly.paymentId, '1', { amount: 4 })
  bank.types()
  assert.equal((await release(untouched.paymentId)).status, 'failed')
  assert.deepEqual(await statusOf(untouched), ['failed', 'The authorization was released.', 0])
  let calls = 0
  bank.says = ({ type }) => (type === 'payment.release' && ++calls < 3 ? 'drop' : undefined)
  assert.equal((await release(partly.paymentId)).status, 'confirming')
  await refused(capture(partly.paymentId, '2', { amount: 1 }), /being released/)
  for (let turns = 0; turns < 3; turns++) {
    clock.advance(60_000)
    await rails.turn()
  }
  assert.equal(calls, 3)
  assert.deepEqual(await statusOf(partly), ['success', '', 4])
  assert.equal((await release(partly.paymentId)).status, 'success')
})

test('the authorization ends after the rail’s days, or when the provider ends it', async () => {
  const [expired, ended] = [await reserved(), await reserved()]
  bank.first = { ...authorized, authorizedUntil: clock.now() + day }
  const early = await money.addOrder(merchant, { isManual: true })
  await payByRail.start({ ...early, railId: 'bank', locale: 'en' })
  bank.payments.set(ended.transactionId, { status: 'cancelled' })
  const notification = bank.notification({ type: 'payment.changed', transactionId: ended.transactionId })
  assert.equal(await handleRailNotification({ railId: 'bank', ...notification }), 'heard')
  await rails.turn()
  assert.deepEqual(await statusOf(ended), ['failed', 'The provider ended the authorization.', 0])
  clock.advance(day)
  await rails.turn()
  assert.deepEqual(await statusOf(early), ['failed', 'The authorization expired.', 0])
  clock.advance(4 * day - 1)
  await rails.turn()
  assert.equal((await statusOf(expired))[0], 'confirming')
  clock.advance(1)
  await refused(capture(expired.paymentId, '1'), /expired/)
  await rails.turn()
  assert.deepEqual(await statusOf(expired), ['failed', 'The authorization expired.', 0])
})

test('a rail that takes the money at once has captured the order', async () => {
  bank.first = approved
  const order = await money.addOrder(merchant, { isManual: true })
  await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  await rails.turn()
  assert.deepEqual(await statusOf(order), ['success', '', 10])
  assert(alerts.some((alert) => alert.includes('asked to reserve')))
})

test('money that is reserved after the order expired is released at once', async () => {
  const order = await money.addOrder(merchant, { isManual: true })
  const outcome = await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  bank.payments.set(outcome.attempt.transactionId, authorized)
  clock.advance(600_000)
  await operations.expireOrders()
  bank.types()
  await rails.turn()
  assert.deepEqual(bank.types(), ['payment.cancel', 'payment.release'])
  assert.equal((await statusOf(order))[0], 'timeout')
})

test('a consumer who was too late to pay another way has agreed', async () => {
  const order = await money.addOrder(merchant, { isManual: true })
  const outcome = await payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  bank.payments.set(outcome.attempt.transactionId, authorized)
  await payByRail.leave(order)
  assert.equal((await statusOf(order))[0], 'confirming')
  assert.equal((await capture(order.paymentId, '1')).status, 'success')
})

test('a rail without captures is not offered for such an order, and an authorization that nobody asked for is not believed', async () => {
  const manual = await money.addOrder(merchant, { isManual: true })
  assert.equal((await payByRail.start({ ...manual, railId: 'old', locale: 'en' })).kind, 'rail_not_offered')
  bank.first = authorized
  const automatic = await money.addOrder(merchant)
  await payByRail.start({ ...automatic, railId: 'bank', locale: 'en' })
  assert.equal((await query(automatic.paymentId)).paymentStatus, 'pending')
  const [call] = await rails.stores.attempts.listCalls(automatic, 1)
  assert.equal(call?.detail, 'returned authorized for a payment without captureMode')
})
