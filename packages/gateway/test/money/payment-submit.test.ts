import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walletRail } from '../../src/finance/rails/wallet-rail.ts'
import type { Pool, Queryable } from '../../src/platform/database/pool.ts'
import { freshDatabase } from '../support/database.ts'
import { callbacksOf, heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const money = openMoney(pool, { clock })
const merchant = await money.addMerchant()

test('a payment holds the money with confirming and posts it with success, each with its callback', async () => {
  const walletId = await money.addWallet(5_000n)
  const order = await money.addOrder(merchant, { amountMinor: 1_250n })
  const outcome = await money.submitPayment({ ...order, walletId })
  assert.equal(outcome.kind, 'submitted')
  const { transactionId } = outcome as { transactionId: string }
  const confirming = await money.orders.findOrder(order)
  assert.equal(confirming?.status, 'confirming')
  assert.equal(confirming.transactionId, transactionId)
  assert.equal(confirming.completedAtMs, undefined)
  assert.equal(await money.balanceOf(walletId), 3_750n)

  clock.advance(40)
  assert.equal(await money.settle(), 1)
  const paid = await money.orders.findOrder(order)
  assert.equal(paid?.status, 'success')
  assert.equal(paid.completedAtMs, clock.now())
  const [account] = await money.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchant.merchantId })
  assert.equal(account?.creditsPostedMinor, 1_250n)
  assert.equal(account.creditsPendingMinor, 0n)
  const callbacks = await callbacksOf(pool, order)
  assert.deepEqual(
    callbacks.map(({ eventName, body }) => [eventName, body.status, body.transactionId, body.completeTime]),
    [
      ['payment.order.confirming', 'confirming', transactionId, undefined],
      ['payment.order.success', 'success', transactionId, clock.now()],
    ],
  )
  assert.equal(await money.settle(), 0)
  assert.deepEqual(money.troubles, [])
})

test('a declined payment gives the money back, and the order failed with the reason', async () => {
  const declining = openMoney(pool, {
    clock,
    rail: { ...walletRail, authorise: async () => ({ kind: 'declined', reason: 'The card is lost.' }) },
  })
  const walletId = await money.addWallet(1_000n)
  const order = await money.addOrder(merchant)
  await declining.submitPayment({ ...order, walletId })
  await declining.settle()
  const answer = await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
  assert.equal(answer.status, 'failed')
  assert.equal(answer.msg, 'The card is lost.')
  assert.equal(answer.payAmount, undefined)
  assert.equal(await money.balanceOf(walletId), 1_000n)
  const failed = (await callbacksOf(pool, order)).at(-1)
  assert.deepEqual(
    [failed?.eventName, failed?.body.msg, failed?.body.completeTime],
    ['payment.order.failed', 'The card is lost.', clock.now()],
  )
})

test('too little money changes nothing: no callback, and another wallet can pay', async () => {
  const [poor, rich] = [await money.addWallet(999n), await money.addWallet(1_000n)]
  const order = await money.addOrder(merchant)
  assert.deepEqual(await money.submitPayment({ ...order, walletId: poor }), { kind: 'insufficient_funds' })
  assert.equal((await money.orders.findOrder(order))?.status, 'pending')
  assert.deepEqual(await callbacksOf(pool, order), [])
  assert.equal((await money.submitPayment({ ...order, walletId: rich })).kind, 'submitted')
  await money.settle()
  assert.equal((await money.orders.findOrder(order))?.walletId, rich)
})

test('money in another currency does not pay', async () => {
  const walletId = await money.addWallet(1_000n, { currency: 'EUR' })
  const order = await money.addOrder(merchant)
  assert.deepEqual(await money.submitPayment({ ...order, walletId }), { kind: 'insufficient_funds' })
})

test('an order is payable until the millisecond before its expiry, and not at it', async () => {
  const walletId = await money.addWallet(2_000n)
  const early = await money.addOrder(merchant, { lifeMs: 300_000 })
  const late = await money.addOrder(merchant, { lifeMs: 300_000 })
  clock.advance(299_999)
  assert.equal((await money.submitPayment({ ...early, walletId })).kind, 'submitted')
  clock.advance(1)
  assert.deepEqual(await money.submitPayment({ ...late, walletId }), {
    kind: 'order_not_payable',
    status: 'timeout',
  })
  await money.settle()
  assert.equal((await money.orders.findOrder(early))?.status, 'success')
})

test('a cancelled order is not paid, and an order that is being paid is not cancelled', async () => {
  const walletId = await money.addWallet(2_000n)
  const [cancelled, paying] = [await money.addOrder(merchant), await money.addOrder(merchant)]
  await money.cancelOrder(merchant, JSON.stringify({ paymentId: cancelled.paymentId }))
  assert.deepEqual(await money.submitPayment({ ...cancelled, walletId }), {
    kind: 'order_not_payable',
    status: 'cancelled',
  })
  await money.submitPayment({ ...paying, walletId })
  await assert.rejects(money.cancelOrder(merchant, JSON.stringify({ paymentId: paying.paymentId })), {
    code: 40901,
  })
  await money.settle()
})

test('a wallet that an operator locked does not pay', async () => {
  const walletId = await money.addWallet(2_000n)
  const order = await money.addOrder(merchant)
  await pool.query("update wallets set status = 'locked' where wallet_id = $1", [walletId])
  assert.deepEqual(await money.submitPayment({ ...order, walletId }), { kind: 'wallet_locked' })
})

test('an order without a callbackUrl is paid without callbacks', async () => {
  const walletId = await money.addWallet(1_000n)
  const order = await money.addOrder(merchant, { callbackUrl: null })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  assert.equal((await money.orders.findOrder(order))?.status, 'success')
  assert.deepEqual(await callbacksOf(pool, order), [])
})

test('after all of this the books are clean', async () => {
  assert.deepEqual(await money.verify(), [])
})

test('a payment from a wallet asks nothing about rails, from the submission to its end', async () => {
  const asked: string[] = []
  const heard = (target: Queryable): Queryable => ({
    query(statement, values) {
      asked.push(typeof statement === 'string' ? statement : statement.text)
      return target.query(statement, values)
    },
  })
  const listening: Pool = {
    ...pool,
    ...heard(pool),
    transaction: (work, options) => pool.transaction((transaction) => work(heard(transaction)), options),
  }
  const watched = openMoney(listening, { clock })
  const walletId = await money.addWallet(5_000n)
  const order = await money.addOrder(merchant)
  assert.equal((await watched.submitPayment({ ...order, walletId })).kind, 'submitted')
  assert.equal(await watched.settle(), 1)
  assert(asked.length > 5)
  const tables = asked.join('\n').match(/\b(?:from|join|into|update)\s+(?:rails|rail_\w+)/g)
  assert.deepEqual(tables, null)
})
