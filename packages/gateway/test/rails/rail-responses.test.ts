// A rail's responses are signed. A response that is not signed for this very message counts as no response: it moves no
// money, it is recorded with its reason, and the rail is asked again.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { makeWebhookSecret } from '@tillgate/protocol'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { approved, openRails, type SignedResponse } from '../support/rails.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const rails = await openRails(pool, { clock })
const { money, operations } = rails
const merchant = await money.addMerchant()
const bank = await rails.addBank('bank')
const anotherSecret = makeWebhookSecret((size) => Buffer.alloc(size, 9))

beforeEach(async () => {
  Object.assign(bank, { says: () => undefined, signs: () => undefined })
  await actingAs(operations, 'test').rails.resumeRail('bank', 'test')
  operations.railDirectory.forget()
})
afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
})

async function started() {
  const order = await money.addOrder(merchant)
  const outcome = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started', outcome.kind)
  bank.asked.length = 0
  return { order, transactionId: outcome.attempt.transactionId }
}

const lastCall = async (order: { merchantId: string; paymentId: string }) =>
  (await rails.stores.attempts.listCalls(order, 10)).at(-1)

const statusOf = async (order: { merchantId: string; paymentId: string }) =>
  (await money.orders.findOrder(order))?.status

const bad: readonly (readonly [string, (response: SignedResponse) => object, RegExp])[] = [
  ['is not signed', () => ({}), /or the response was not signed/],
  [
    'lacks its signature',
    ({ sign }) => ({ ...sign(), 'webhook-signature': '' }),
    /signature of the response is wrong/,
  ],
  [
    'has its id twice',
    ({ messageId, sign }) => ({ ...sign(), 'webhook-id': [messageId, messageId] }),
    /or the response was not signed/,
  ],
  ['is signed for another message', ({ sign }) => sign('another'), /signed for another message/],
  [
    'is signed for another message and relabeled',
    ({ messageId, sign }) => ({ ...sign('another'), 'webhook-id': messageId }),
    /signature of the response is wrong/,
  ],
  [
    'was signed more than five minutes ago',
    ({ messageId, nowMs, sign }) => sign(messageId, nowMs - 301_000),
    /more than 5 minutes/,
  ],
  [
    'was signed more than five minutes ahead',
    ({ messageId, nowMs, sign }) => sign(messageId, nowMs + 302_000),
    /more than 5 minutes/,
  ],
  [
    'is signed with another secret',
    ({ messageId, nowMs, sign }) => sign(messageId, nowMs, [anotherSecret]),
    /signature of the response is wrong/,
  ],
]

for (const [what, signs, reason] of bad)
  test(`an approval that ${what} moves nothing, is recorded, and the rail is asked again`, async () => {
    const { order, transactionId } = await started()
    bank.payments.set(transactionId, approved)
    bank.signs = signs
    clock.advance(2_000)
    assert.equal(await rails.turn(), 1)
    assert.equal(await statusOf(order), 'pending')
    const call = await lastCall(order)
    assert.deepEqual([call?.type, call?.outcome], ['payment.status', 'failed'])
    assert.match(call?.detail ?? '', reason)
    const { rail } = await actingAs(operations, 'test').rails.showRail('bank')
    assert.equal(rail.failures, 1)
    assert.match(rail.lastFailure ?? '', reason)

    bank.signs = () => undefined
    clock.advance(1_000)
    assert.equal(await rails.turn(), 1)
    assert.deepEqual(bank.types(), ['payment.status', 'payment.status'])
    assert.equal(await statusOf(order), 'success')
  })

test('a byte that changes on the way makes a response none, also one that JSON does not mind', async () => {
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  bank.says = () => (reply, respond) => {
    const end = reply.end.bind(reply)
    reply.end = (text: unknown) => end(`${text} `)
    respond(approved)
  }
  clock.advance(2_000)
  await rails.turn()
  assert.equal(await statusOf(order), 'pending')
  bank.says = () => undefined
  clock.advance(1_000)
  await rails.turn()
  assert.equal(await statusOf(order), 'success')
})

test('the gateway’s own message, sent back with its signature, is no response', async () => {
  const { order } = await started()
  bank.says = (message) => ({ ...message })
  clock.advance(2_000)
  await rails.turn()
  const call = await lastCall(order)
  assert.equal(call?.outcome, 'failed')
  assert.equal(await statusOf(order), 'pending')
})

test('a start and a refund count only when the rail signed its response', async () => {
  const order = await money.addOrder(merchant)
  bank.signs = () => ({})
  const begun = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert.notEqual(
    begun.kind === 'started' && begun.attempt.status,
    'pending',
    'no page to send the consumer to',
  )
  bank.signs = () => undefined
  clock.advance(60_000)
  await rails.turn()
  const [attempt] = await rails.stores.attempts.listAttempts(order)
  assert(attempt)
  bank.payments.set(attempt.transactionId, approved)
  clock.advance(60_000)
  await rails.turn()
  assert.equal(await statusOf(order), 'success')

  clock.advance(2)
  await money.refundOrder(
    merchant,
    JSON.stringify({ paymentId: order.paymentId, referRefundNo: 'r-1', refundAmount: '10.00' }),
  )
  const refunded = async () => (await money.orders.findOrder(order))?.refundedMinor
  bank.signs = () => ({})
  await rails.turn()
  assert.equal((await lastCall(order))?.type, 'refund.start')
  assert.equal(await refunded(), 0n)
  bank.signs = () => undefined
  clock.advance(1_000)
  await rails.turn()
  assert.equal(await refunded(), 1_000n)
})

test('while the secret is replaced a response is good under either secret, and under no earlier one', async () => {
  const by = actingAs(operations, 'test').rails
  const before = bank.secrets.splice(0)
  const rotated = await by.rotateSecret('bank', { endsOthers: false, reason: 'test' })
  operations.railDirectory.forget()
  bank.secrets.push(rotated.secret, ...before)
  for (const secrets of [[rotated.secret], before]) {
    const { order, transactionId } = await started()
    bank.payments.set(transactionId, approved)
    bank.signs = ({ messageId, nowMs, sign }) => sign(messageId, nowMs, secrets)
    clock.advance(2_000)
    await rails.turn()
    assert.equal(await statusOf(order), 'success')
  }
  const { order, transactionId } = await started()
  bank.payments.set(transactionId, approved)
  await by
    .rotateSecret('bank', { endsOthers: true, reason: 'stolen' })
    .then(({ secret }) => bank.secrets.push(secret))
  operations.railDirectory.forget()
  bank.signs = ({ messageId, nowMs, sign }) => sign(messageId, nowMs, before)
  clock.advance(2_000)
  await rails.turn()
  assert.equal(await statusOf(order), 'pending')
})
