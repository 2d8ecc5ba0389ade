import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from './support/database.ts'
import { callbacksOf, heldClock, openMoney } from './support/money.ts'

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
