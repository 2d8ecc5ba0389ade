// What happens when everybody comes at once, over several processes' worth of parts on one database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { payOutWholly } from '../support/payouts.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const processes = Array.from({ length: 4 }, () => openMoney(pool, { clock }))
const [money] = processes as [(typeof processes)[number]]
const at = (index: number) => processes[index % processes.length] ?? money

test('64 parallel payments from one wallet that can afford 10: exactly 10 are paid', async () => {
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(10_999n)
  const orders = await Promise.all(Array.from({ length: 64 }, () => money.addOrder(merchant)))
  const outcomes = await Promise.all(
    orders.map((order, index) => at(index).submitPayment({ ...order, walletId })),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'submitted').length, 10)
  assert.equal(outcomes.filter(({ kind }) => kind === 'insufficient_funds').length, 54)
  await Promise.all(processes.map((each) => each.settle()))
  const statuses = await Promise.all(
    orders.map(async (order) => (await money.orders.findOrder(order))?.status),
  )
  assert.equal(statuses.filter((status) => status === 'success').length, 10)
  assert.equal(statuses.filter((status) => status === 'pending').length, 54)
  assert.equal(await money.balanceOf(walletId), 999n)
  assert.deepEqual(await money.verify(), [])
})

test('64 parallel refunds of two thirds of the amount: exactly one succeeds', async () => {
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(300n)
  const { paymentId, ...order } = await money.addOrder(merchant, { amountMinor: 300n })
  await money.submitPayment({ merchantId: merchant.merchantId, paymentId, walletId })
  await money.settle()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 64 }, (_, index) =>
      at(index).refundOrder(
        merchant,
        JSON.stringify({ paymentId, referRefundNo: `${order.orderNo}-${index}`, refundAmount: '2.00' }),
      ),
    ),
  )
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  assert.equal(refused.length, 63)
  for (const reason of refused) {
    assert.ok(reason instanceof Failure)
    assert.equal(reason.code, 40902)
    assert.match(reason.message, /1\.00 USD/)
  }
  await Promise.all(processes.map((each) => each.settle()))
  const { refunds } = await money.queryOrder(merchant, JSON.stringify({ paymentId }))
  assert.deepEqual(
    refunds.map(({ status }) => status),
    ['refund_success'],
  )
  assert.equal(await money.balanceOf(walletId), 200n)
  assert.deepEqual(await money.verify(), [])
})

test('64 parallel refunds with one referRefundNo are one refund', async () => {
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(300n)
  const order = await money.addOrder(merchant, { amountMinor: 300n })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  const body = JSON.stringify({ paymentId: order.paymentId, referRefundNo: 'same', refundAmount: 1 })
  const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => at(i).refundOrder(merchant, body)))
  assert.equal(new Set(answers.map(({ refundId }) => refundId)).size, 1)
  await money.settle()
  assert.equal(await money.balanceOf(walletId), 100n)
  assert.deepEqual(await money.verify(), [])
})

test('of many consumers that pay one order at once, one pays', async () => {
  const merchant = await money.addMerchant()
  const wallets = await Promise.all(Array.from({ length: 16 }, () => money.addWallet(1_000n)))
  const order = await money.addOrder(merchant)
  const outcomes = await Promise.all(
    wallets.map((walletId, index) => at(index).submitPayment({ ...order, walletId })),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'submitted').length, 1)
  for (const outcome of outcomes) {
    if (outcome.kind !== 'submitted')
      assert.deepEqual(outcome, { kind: 'order_not_payable', status: 'confirming' })
  }
  await Promise.all(processes.map((each) => each.settle()))
  const balances = await Promise.all(wallets.map((walletId) => money.balanceOf(walletId)))
  assert.equal(balances.filter((balance) => balance === 0n).length, 1)
  assert.deepEqual(await money.verify(), [])
})

test('a poor wallet does not keep a rich one from paying the same order at the same time', async () => {
  const merchant = await money.addMerchant()
  const [poor, rich] = [await money.addWallet(1n), await money.addWallet(1_000n)]
  const order = await money.addOrder(merchant)
  const outcomes = await Promise.all(
    [poor, poor, poor, rich, poor].map((walletId) => money.submitPayment({ ...order, walletId })),
  )
  assert.equal(outcomes[3]?.kind, 'submitted')
  await money.settle()
  assert.equal((await money.orders.findOrder(order))?.status, 'success')
})

test('payments, refunds and payouts that cross each other never deadlock and keep the books', async () => {
  const merchants = await Promise.all([money.addMerchant(), money.addMerchant()])
  const wallets = await Promise.all(Array.from({ length: 4 }, () => money.addWallet(100_000n)))
  const orders = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      money.addOrder(merchants[i % 2] ?? merchants[0], { amountMinor: 10n }),
    ),
  )
  const paying = orders.map(async (order, index) => {
    const merchant = merchants[index % 2] ?? merchants[0]
    await at(index).submitPayment({ ...order, walletId: wallets[index % 4] ?? '' })
    await at(index + 1).settle()
    const { paymentId } = order
    const body = JSON.stringify({ paymentId, referRefundNo: paymentId, refundAmount: '0.05' })
    await at(index + 2)
      .refundOrder(merchant, body)
      .catch((error: unknown) => assert.equal((error as Failure).code, 40901))
    await payOutWholly(at(index + 3), { merchantId: merchant.merchantId, amountMinor: 1n }).catch(
      (error: unknown) => assert.equal((error as Failure).code, 40901),
    )
  })
  await Promise.all(paying)
  while ((await money.settle()) > 0);
  assert.deepEqual(
    processes.flatMap(({ troubles }) => troubles),
    [],
  )
  assert.deepEqual(await money.verify(), [])
})

test('a refund that is sent again while it fails for want of money waits for nobody in a circle', async () => {
  const merchant = await money.addMerchant()
  const walletId = await money.addWallet(300n)
  const order = await money.addOrder(merchant, { amountMinor: 300n })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  await payOutWholly(money, { merchantId: merchant.merchantId, amountMinor: 300n })
  const body = JSON.stringify({ paymentId: order.paymentId, referRefundNo: 'again', refundAmount: 1 })
  const { refundId } = await money.refundOrder(merchant, body)

  // The second sending as far as it comes: it has its share of the order, and is about to insert the same refund.
  const { inserted, settling } = await pool.transaction(async (transaction) => {
    await transaction.query(
      'select from orders where merchant_id = $1 and payment_id = $2 for no key update',
      [order.merchantId, order.paymentId],
    )
    const settling = money.settle()
    await untilBlocked(pool, 1, '%update orders%')
    const inserted = await transaction.query(
      'insert into refunds select * from refunds where merchant_id = $1 and refund_id = $2 on conflict do nothing',
      [order.merchantId, refundId],
    )
    return { inserted: inserted.rowCount, settling }
  })
  assert.equal(inserted, 0)
  await settling
  assert.deepEqual(money.troubles, [])
  const { refunds } = await money.queryOrder(merchant, JSON.stringify({ paymentId: order.paymentId }))
  assert.deepEqual(
    refunds.map(({ status }) => status),
    ['refund_failed'],
  )
  assert.deepEqual(await money.verify(), [])
})
