// One operator supplies a statement. Where money in needs a second operator, the lines of the statement credit nothing
// before that operator agrees: no order is paid and no payout comes back.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { readConfig } from '../../src/app/settings/config.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { addPaidMerchant, availableOf } from '../support/payouts.ts'
import { testEnvironment } from '../support/started.ts'
import { suspenseIsListed } from '../support/suspense.ts'
import { openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const config = readConfig({ ...testEnvironment, APPROVAL_FOR: 'money-in' })
const bank = await openTransferBank(pool, { clock, config })
const { money, operations, reconciliation, statusOf } = bank
const { operators } = actingAs(operations, 'test')
for (const login of ['alice', 'bob'])
  await operators.addOperator({ login, role: 'admin', password: 'a password of the team' })
const actions = testActions({ stores: bank.stores, operations, clock, config })

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  await suspenseIsListed(pool, operations)
})

async function onlyBreak() {
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  const [found] = open
  assert(found && open.length === 1, `${open.length} are open`)
  return found
}

const ask = (breakId: string, reference?: string) =>
  actions.asked('alice', 'reconcile.confirm', { params: { breakId }, input: reference ? { reference } : {} })
const resolutionOf = async (breakId: string) =>
  (await reconciliation.breaks.showBreak(breakId)).found.resolution

test('a line that names an order pays the order after a second operator agrees, and the break is resolved', async () => {
  const order = await bank.startedOrder()
  const { counts } = await bank.say(creditorReference(order.paymentId))
  assert.deepEqual([counts.matched, counts.booked, counts.breaks], [0, 0, 1])
  await operations.reconcile()
  assert.equal(await statusOf(order), 'pending')
  const { breakId, kind, item } = await onlyBreak()
  assert.equal(kind, 'missing_here')
  assert.deepEqual([item?.kind, item?.transferId], ['transfer', order.paymentId])
  const approvalId = await ask(breakId)
  assert.equal(await ask(breakId), approvalId, 'the same request, sent again')
  await operations.reconcile()
  assert.equal(await statusOf(order), 'pending')
  await assert.rejects(actions.approve('alice', approvalId), /your own request/)
  await actions.approve('bob', approvalId)
  assert.equal(await statusOf(order), 'success')
  assert.equal(await resolutionOf(breakId), 'confirmed')
  const { rows } = await pool.query<{ rule: string }>('select rule from reconciliation_matches')
  assert.deepEqual(rows, [{ rule: 'entry_reference' }])
})

test('a forged return of a paid payout credits nothing before a second operator agrees', async () => {
  const { merchantId } = await addPaidMerchant(money, { minor: 300_000n })
  const by = actingAs(operations, 'test')
  const given = { merchantId, currency: 'USD', amountMinor: 300_000n, bankName: 'main' }
  const { payoutId } = await by.payouts.requestPayout(given, { reason: 'test' })
  const payout = await by.payouts.findPayout({ merchantId, payoutId })
  await by.payoutRuns.sendRun(payout.runId, 'test')
  await bank.say(payoutId, -300_000n)
  await operations.reconcile()
  assert.equal((await by.payouts.findPayout(payout)).status, 'paid')
  await bank.say(payoutId, 300_000n)
  await operations.reconcile()
  assert.equal((await by.payouts.findPayout(payout)).status, 'paid')
  assert.equal(await availableOf(money, merchantId), 0n)
  const { breakId, kind, item } = await onlyBreak()
  assert.deepEqual([kind, item?.kind], ['missing_here', 'payout_return'])
  const approvalId = await ask(breakId)
  assert.equal(await availableOf(money, merchantId), 0n)
  await actions.approve('bob', approvalId)
  assert.equal((await by.payouts.findPayout(payout)).status, 'returned')
  assert.equal(await availableOf(money, merchantId), 300_000n)
  await operations.reconcile()
  assert.equal(await resolutionOf(breakId), 'confirmed')
})

test('one approval books one line: the other lines of the statement still wait', async () => {
  const orders = [await bank.startedOrder(), await bank.startedOrder()]
  for (const order of orders) await bank.say(creditorReference(order.paymentId))
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  assert.equal(open.length, 2)
  const [first, second] = open.toSorted((a, _b) => (a.item?.transferId === orders[0]?.paymentId ? -1 : 1))
  assert(first && second)
  await actions.approve('bob', await ask(first.breakId))
  await operations.reconcile()
  assert.deepEqual(await Promise.all(orders.map(statusOf)), ['success', 'pending'])
  await actions.approve('bob', await ask(second.breakId))
  assert.deepEqual(await Promise.all(orders.map(statusOf)), ['success', 'success'])
})

test('a line that names nothing waits likewise, and after a rejection it can be requested again', async () => {
  const order = await bank.startedOrder()
  await bank.say('thank you')
  const { breakId } = await onlyBreak()
  await assert.rejects(ask(breakId), /Enter the order’s reference/)
  const first = await ask(breakId, order.paymentId)
  await actions.reject('bob', first)
  const second = await ask(breakId, order.paymentId)
  assert.notEqual(second, first)
  assert.equal(await statusOf(order), 'pending')
  await actions.approve('bob', second)
  assert.equal(await statusOf(order), 'success')
  assert.equal(await resolutionOf(breakId), 'confirmed')
})

test('a break that was resolved meanwhile is not booked by an earlier request', async () => {
  const order = await bank.startedOrder()
  await bank.say('for the order')
  const { breakId } = await onlyBreak()
  const approvalId = await ask(breakId, order.paymentId)
  await actions.done('alice', 'reconcile.write-off', { params: { breakId } })
  await assert.rejects(actions.approve('bob', approvalId), /already resolved/)
  assert.equal(await statusOf(order), 'pending')
})

test('a line is booked for the order that is named, by whichever of the account’s rails it waits', async () => {
  await bank.addRail('wire')
  const order = await bank.startedOrder('wire')
  await bank.say('with regards')
  const { breakId } = await onlyBreak()
  await actions.approve('bob', await ask(breakId, order.paymentId))
  assert.equal(await statusOf(order), 'success')
})
