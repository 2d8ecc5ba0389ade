// Limits of wallets: for a payment, a day and what is in them, by default and for each, however many pay at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import type { Rail } from '../../src/core/orders/payments/rules/rail.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const dayMs = 86_400_000
let isDeclining = false
const rail: Rail = {
  authorise: async () => (isDeclining ? { kind: 'declined', reason: 'No.' } : { kind: 'approved' }),
  refund: async () => ({ kind: 'approved' }),
}
const walletLimits = {
  payment: new Map([['EUR', 500n]]),
  day: new Map([['EUR', 1_000n]]),
  balance: new Map([['EUR', 2_000n]]),
}
const processes = Array.from({ length: 4 }, () => openMoney(pool, { clock, rail, config: { walletLimits } }))
const [money] = processes as [(typeof processes)[number]]
const merchant = await money.addMerchant()
const settle = () => Promise.all(processes.map((each) => each.settle()))

async function pay(walletId: string, amountMinor: bigint, currency = 'USD'): Promise<string> {
  const order = await money.addOrder(merchant, { amountMinor, currency })
  return (await money.submitPayment({ ...order, walletId })).kind
}

test('64 parallel payments of a wallet with a limit for the day: exactly as many as fit are paid', async () => {
  const walletId = await money.addWallet(100_000n)
  const limits = { paymentMinor: undefined, dayMinor: 10_999n, balanceMinor: undefined }
  await money.manageWallets.setLimits(walletId, { currency: 'USD', ...limits, reason: 'test' })
  const orders = await Promise.all(Array.from({ length: 64 }, () => money.addOrder(merchant)))
  const outcomes = await Promise.all(
    orders.map((order, index) => (processes[index % 4] ?? money).submitPayment({ ...order, walletId })),
  )
  assert.equal(outcomes.filter(({ kind }) => kind === 'submitted').length, 10)
  assert.equal(outcomes.filter(({ kind }) => kind === 'over_limit').length, 54)
  await settle()
  assert.equal(await money.balanceOf(walletId), 90_000n)
  assert.equal(await pay(walletId, 999n), 'submitted')
  assert.equal(await pay(walletId, 1n), 'over_limit')
  await settle()
  clock.advance(dayMs)
  assert.equal(await pay(walletId, 10_999n), 'submitted', 'the next day begins anew')
  await settle()
  assert.deepEqual(await money.verify(), [])
})

test('the defaults hold for every wallet without limits of its own, in their currency alone', async () => {
  const walletId = await money.addWallet(2_000n, { currency: 'EUR' })
  assert.equal(await pay(walletId, 501n, 'EUR'), 'over_limit')
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  assert.equal(await pay(walletId, 1n, 'EUR'), 'over_limit')
  await money.manageWallets.setLimits(walletId, {
    currency: 'EUR',
    paymentMinor: 600n,
    dayMinor: 1_600n,
    balanceMinor: undefined,
    reason: 'test',
  })
  assert.equal(await pay(walletId, 601n, 'EUR'), 'over_limit')
  assert.equal(await pay(walletId, 600n, 'EUR'), 'submitted')
  const dollars = await money.addWallet(100_000n)
  assert.equal(await pay(dollars, 50_000n), 'submitted')
  await settle()
})

test('a payment that fails is given back to its day, and not to the next', async () => {
  const walletId = await money.addWallet(2_000n, { currency: 'EUR' })
  isDeclining = true
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  assert.equal(await pay(walletId, 1n, 'EUR'), 'over_limit')
  await settle()
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  clock.advance(dayMs)
  isDeclining = false
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  await settle()
  assert.equal(await pay(walletId, 500n, 'EUR'), 'submitted')
  assert.equal(await pay(walletId, 1n, 'EUR'), 'over_limit')
  await settle()
})

test('a limit of nothing stops a wallet from paying, and a limit changes from one payment to the next', async () => {
  const walletId = await money.addWallet(2_000n, { currency: 'EUR' })
  const limits = { currency: 'EUR', dayMinor: undefined, balanceMinor: undefined, reason: 'test' }
  await money.manageWallets.setLimits(walletId, { ...limits, paymentMinor: 0n })
  assert.equal(await pay(walletId, 1n, 'EUR'), 'over_limit')
  await money.manageWallets.setLimits(walletId, { ...limits, paymentMinor: undefined })
  assert.equal(await pay(walletId, 1n, 'EUR'), 'submitted')
  await settle()
})

test('top-ups bring a wallet to its limit and no further, also many at once; refunds always reach it', async () => {
  const walletId = await money.addWallet(1_500n, { currency: 'EUR' })
  const topUp = (amountMinor: bigint) =>
    money.funds.topUp([{ walletId, currency: 'EUR', amountMinor }], { subject: walletId, reason: 'test' })
  const outcomes = await Promise.allSettled(Array.from({ length: 16 }, () => topUp(100n)))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5)
  for (const each of outcomes)
    if (each.status === 'rejected') assert(each.reason instanceof Failure && each.reason.code === 40901)
  const order = await money.addOrder(merchant, { amountMinor: 500n, currency: 'EUR' })
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'submitted')
  await settle()
  await topUp(500n)
  const refund = { paymentId: order.paymentId, referRefundNo: 'limits-1', refundAmount: '5.00' }
  await money.refundOrder(merchant, JSON.stringify(refund))
  await settle()
  assert.equal(await money.balanceOf(walletId, 'EUR'), 2_500n)
  assert.deepEqual(await money.verify(), [])
})
