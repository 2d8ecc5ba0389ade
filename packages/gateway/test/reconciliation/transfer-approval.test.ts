// A statement is brought by one operator. Where a second one must say that a bank transfer came, its lines pay no order before
// that, whether the statement names the order or an operator does.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { creditorReference } from '../../src/rails/rules/bank-account.ts'
import { mayPair } from '../../src/reconciliation/rules/break.ts'
import { readConfig } from '../../src/settings/config.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { testEnvironment } from '../support/started.ts'
import { openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-16T10:00:00Z'))
const config = readConfig({ ...testEnvironment, APPROVAL_FOR: 'transfer' })
/** How often the matcher was told that there is something to do. */
let hinted = 0
const bank = await openTransferBank(pool, { clock, config, onReconcile: () => hinted++ })
const { operations, reconciliation, statusOf } = bank
const { operators } = operations.as('console:alice')
for (const login of ['alice', 'bob'])
  await operators.addOperator({ login, role: 'admin', password: 'a password of the team' })

const { confirmTransfer } = operations.transferActs({
  actor: 'console:alice',
  operator: { login: 'alice' },
})
const bob = { operator: { login: 'bob', role: 'admin' }, actor: 'console:bob' } as const
const { approve, reject } = operations.decideApprovals

afterEach(async () => assert.deepEqual((await operations.verifyLedger()).findings, []))

async function onlyBreak() {
  const open = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 10 })
  const [found] = open
  assert(found && open.length === 1, `${open.length} are open`)
  return found
}

async function waiting(breakId: string, reference?: string) {
  const outcome = await reconciliation.breaks.confirm(breakId, { reference, reason: 'seen', confirmTransfer })
  assert(outcome.kind === 'waiting')
  return outcome.request
}

test('a line that names an order pays it after a second operator’s yes, and the break ends by itself', async () => {
  const order = await bank.startedOrder()
  const { counts } = await bank.say(creditorReference(order.paymentId))
  assert.deepEqual(counts, { matched: 0, booked: 0, breaks: 1 })
  await operations.reconcile()
  assert.equal(await statusOf(order), 'pending')
  const { breakId, kind, item } = await onlyBreak()
  assert.equal(kind, 'missing_here')
  assert.deepEqual([item?.kind, item?.transferId], ['transfer', order.paymentId])
  const { approvalId, act } = await waiting(breakId)
  assert(act.kind === 'transfer.confirm' && act.paymentId === order.paymentId)
  await assert.rejects(waiting(breakId), /waits for a second operator/)
  await operations.reconcile()
  assert.equal(await statusOf(order), 'pending')
  const before = hinted
  await approve(approvalId, bob, 'on the statement')
  assert.equal(await statusOf(order), 'success')
  assert.equal(hinted, before + 1)
  await operations.reconcile()
  const { found } = await reconciliation.breaks.showBreak(breakId)
  assert.deepEqual([found.settlement, found.reason], ['confirmed', 'seen'])
  const { rows } = await pool.query<{ rule: string }>('select rule from reconciliation_matches')
  assert.deepEqual(rows, [{ rule: 'entry_reference' }])
})

test('a line that names nothing waits likewise; whoever is refused asks anew', async () => {
  const order = await bank.startedOrder()
  await bank.say('thank you')
  const { breakId } = await onlyBreak()
  await assert.rejects(waiting(breakId), /Say for which order it is/)
  const command = operations.transferActs({ actor: 'cli:root', operator: undefined })
  const named = { reference: order.paymentId, reason: 'seen' }
  await assert.rejects(reconciliation.breaks.confirm(breakId, { ...named, ...command }), /second operator/)
  const first = await waiting(breakId, order.paymentId)
  assert.equal(mayPair((await reconciliation.breaks.showBreak(breakId)).found), false)
  await reject(first.approvalId, bob, 'not so')
  // Everything that could settle it before can settle it again.
  const { found: refused } = await reconciliation.breaks.showBreak(breakId)
  assert.deepEqual([refused.actId, mayPair(refused)], [undefined, true])
  await assert.rejects(reconciliation.breaks.pair(breakId, breakId, 'the same'), /misses a line/)
  const second = await waiting(breakId, order.paymentId)
  assert.notEqual(second.approvalId, first.approvalId)
  assert.equal(await statusOf(order), 'pending')
  await approve(second.approvalId, bob, 'yes')
  assert.equal(await statusOf(order), 'success')
  await operations.reconcile()
  assert.equal((await reconciliation.breaks.showBreak(breakId)).found.settlement, 'confirmed')
})

test('a line that waits for a second operator as money for an order is not written off beside it', async () => {
  const order = await bank.startedOrder()
  await bank.say('for the order')
  const { breakId } = await onlyBreak()
  const { approvalId } = await waiting(breakId, order.paymentId)
  const { correct } = operations.moneyActs({ actor: 'console:alice', operator: { login: 'alice' } })
  const writeOff = () => reconciliation.breaks.writeOff(breakId, { reason: 'a gain', correct })
  await assert.rejects(writeOff(), /waits for a second operator/)
  // As whoever died before it was noted at the break leaves it.
  await pool.query('update reconciliation_breaks set act_id = null where break_id = $1', [breakId])
  await assert.rejects(writeOff(), /waits for a second operator/)
  assert.equal((await waiting(breakId, order.paymentId)).approvalId, approvalId)
  await approve(approvalId, bob, 'yes')
  await assert.rejects(writeOff(), /waits for a second operator/)
  await operations.reconcile()
  assert.equal((await reconciliation.breaks.showBreak(breakId)).found.settlement, 'confirmed')
})

test('a request that was refused before it was noted at its break stands in nobody’s way', async () => {
  const order = await bank.startedOrder()
  await bank.say('for another order')
  const { breakId } = await onlyBreak()
  const first = await waiting(breakId, order.paymentId)
  await reject(first.approvalId, bob, 'not so')
  await pool.query('update reconciliation_breaks set act_id = null where break_id = $1', [breakId])
  const other = await bank.startedOrder()
  const second = await waiting(breakId, other.paymentId)
  await approve(second.approvalId, bob, 'yes')
  assert.deepEqual([await statusOf(order), await statusOf(other)], ['pending', 'success'])
  await operations.reconcile()
})

test('what is asked for anew as money for an order is not written off at the same moment', async () => {
  const order = await bank.startedOrder()
  await bank.say('for an order')
  const { breakId } = await onlyBreak()
  await reject((await waiting(breakId, order.paymentId)).approvalId, bob, 'not so')
  const { correct } = operations.moneyActs({ actor: 'console:alice', operator: { login: 'alice' } })
  const second = await reconciliation.breaks.confirm(breakId, {
    reference: order.paymentId,
    reason: 'seen again',
    async confirmTransfer(...given) {
      const writtenOff = reconciliation.breaks.writeOff(breakId, { reason: 'a gain', correct })
      await assert.rejects(writtenOff, /being settled/)
      return confirmTransfer(...given)
    },
  })
  assert(second.kind === 'waiting')
  await approve(second.request.approvalId, bob, 'yes')
  await operations.reconcile()
  assert.equal((await reconciliation.breaks.showBreak(breakId)).found.settlement, 'confirmed')
})

test('a line is booked for the order that is named, by whichever of the account’s rails it waits', async () => {
  await bank.addRail('wire')
  const order = await bank.startedOrder('wire')
  await bank.say('with regards')
  const { breakId } = await onlyBreak()
  await approve((await waiting(breakId, order.paymentId)).approvalId, bob, 'yes')
  assert.equal(await statusOf(order), 'success')
  await operations.reconcile()
})
