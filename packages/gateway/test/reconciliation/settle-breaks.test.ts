// What operators do with breaks, in every order and by several at once: each difference is booked once, and what a second
// operator refused, or what came meanwhile, stands in nobody's way.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/acts/rail-acts.ts'
import type { TransferActs } from '../../src/rails/transfer-acts.ts'
import type { BreakKind } from '../../src/reconciliation/rules/match.ts'
import { readConfig } from '../../src/settings/config.ts'
import type { MoneyActs } from '../../src/treasury/money-acts.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testEnvironment } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-01T10:00:00Z'))
const money = openMoney(pool, {
  clock,
  config: readConfig({ ...testEnvironment, APPROVAL_FOR: 'correction' }),
})
const { operations } = money
const { reconciliation, banks, operators, rails } = operations.as('console:alice')
const { breaks } = reconciliation
const iban = 'DE89370400440532013000'
const currency = 'EUR'
await banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')
const account = { holder: 'Operator', iban, bic: undefined, lines: [] }
await rails.addTransferRail(
  'transfer',
  { ...noExtras, name: 'Transfer', currencies: [currency], account },
  'test',
)
for (const login of ['alice', 'bob'])
  await operators.addOperator({ login, role: 'admin', password: 'a password of the team' })
const { correct } = operations.moneyActs({ actor: 'console:alice', operator: { login: 'alice' } })
const bob = { operator: { login: 'bob', role: 'admin' }, actor: 'console:bob' } as const
const { approve, reject } = operations.decideApprovals
const day = 86_400_000

afterEach(async () => assert.deepEqual(await money.verify(), []))

let files = 0
async function say(...lines: readonly { amountMinor: bigint; text: string }[]): Promise<void> {
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const name = `${++files}`
  const written = lines.map((line, index) => ({ ...line, day: today, reference: `E${name}-${index}` }))
  const given = { iban, currency, version: 4, from: today, through: today, openingMinor: 0n } as const
  const text = camt053({ ...given, lines: written }).replace(/<Bal>.*<\/Bal>/, '')
  await reconciliation.importStatement({ file: fileOf(name, text), reason: 'test' })
}

/** Two breaks of one amount: a top-up that no statement shows, and ten days later a line that names nothing. */
async function apart(amountMinor: bigint) {
  await say({ amountMinor: -1n, text: 'so that it is looked for' })
  await money.addWallet(amountMinor, { currency })
  clock.advance(10 * day)
  await say({ amountMinor, text: 'thank you' })
  return {
    here: await openOf('missing_here', amountMinor),
    there: await openOf('missing_there', amountMinor),
  }
}

async function topUp(amountMinor: bigint): Promise<string> {
  const walletId = await money.addWallet(amountMinor, { currency })
  const { rows } = await pool.query<{ transfer_id: string }>(
    'select transfer_id from transfers where credit_account = $1',
    [`wallet:${walletId}:${currency}`],
  )
  return rows[0]?.transfer_id ?? assert.fail('nothing was topped up')
}

async function askToWriteOff(breakId: string): Promise<string> {
  const outcome = await breaks.writeOff(breakId, { reason: 'never came', correct })
  assert(outcome.kind === 'waiting')
  return outcome.request.approvalId
}

async function openOf(kind: BreakKind, sizeMinor: bigint) {
  const open = await breaks.listBreaks({ status: 'open', kind }, { skip: 0, limit: 100 })
  return open.find((each) => each.sizeMinor === sizeMinor) ?? assert.fail(`no ${kind} of ${sizeMinor}`)
}

const settlementOf = async (breakId: string) => (await breaks.showBreak(breakId)).found.settlement

test('what waits to be written off is not paired, on either side, until that is refused', async () => {
  for (const side of ['here', 'there'] as const) {
    const { here, there } = await apart(side === 'here' ? 1_000n : 1_100n)
    const approvalId = await askToWriteOff({ here, there }[side].breakId)
    const pair = () => breaks.pair(here.breakId, there.breakId, 'the same')
    await assert.rejects(pair(), /waits for a second operator/, side)
    await reject(approvalId, bob, 'look for it')
    await operations.reconcile()
    await pair()
    assert.deepEqual(
      [await settlementOf(here.breakId), await settlementOf(there.breakId)],
      ['paired', 'paired'],
    )
  }
})

test('a break whose write-off was refused ends by news like any other', async () => {
  await say({ amountMinor: 1_200n, text: 'a deposit' })
  const { breakId } = await openOf('missing_here', 1_200n)
  await reject(await askToWriteOff(breakId), bob, 'look for it')
  await money.addWallet(1_200n, { currency })
  await operations.reconcile()
  assert.equal(await settlementOf(breakId), 'matched')
  assert.equal(await operations.reconcile(), 0)
})

test('a transfer whose line comes while its write-off waits is explained once, and the worker goes on', async () => {
  await say({ amountMinor: -1n, text: 'so that it is looked for' })
  const transferId = await topUp(1_300n)
  clock.advance(10 * day)
  await say({ amountMinor: -2n, text: 'nothing' })
  const there = await openOf('missing_there', 1_300n)
  const approvalId = await askToWriteOff(there.breakId)
  await say({ amountMinor: 1_300n, text: `for ${transferId}` })
  assert.equal(await settlementOf(there.breakId), 'matched')
  await approve(approvalId, bob, 'yes')
  await operations.reconcile()
  await operations.reconcile()
  clock.advance(10 * day)
  await say({ amountMinor: -3n, text: 'nothing' })
  // The correction is now what no statement shows.
  const { item, amountMinor } = await openOf('missing_there', 1_300n)
  assert.deepEqual([item?.what, amountMinor], ['correction', 1_300n])
})

test('a difference that is written off after another line took the transfer leaves both to be looked at again', async () => {
  const text = `for ${await topUp(1_400n)}`
  await say({ amountMinor: 1_399n, text })
  const { breakId } = await openOf('amount_differs', 1n)
  const approvalId = await askToWriteOff(breakId)
  await say({ amountMinor: 1_400n, text })
  await approve(approvalId, bob, 'yes')
  await operations.reconcile()
  assert.equal(await settlementOf(breakId), 'written_off')
  assert.equal((await openOf('missing_here', 1_399n)).amountMinor, 1_399n)
  assert.equal(await operations.reconcile(), 0)
})

test('what is being booked as money for an order is not written off at the same moment, nor the other way round', async () => {
  await say({ amountMinor: 1_500n, text: 'thank you' })
  const { breakId } = await openOf('missing_here', 1_500n)
  const refused = new Failure('not_found', { message: 'no such order' })
  const confirm = (confirmTransfer: TransferActs['confirmTransfer']) =>
    breaks.confirm(breakId, { reference: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W', reason: 'seen', confirmTransfer })
  const writeOff = (by: MoneyActs['correct']) => breaks.writeOff(breakId, { reason: 'a gain', correct: by })

  const beside = { message: /waits for a second operator or for the next pass/ }
  const confirming = confirm(async () => {
    await assert.rejects(writeOff(correct), beside)
    throw refused
  })
  await assert.rejects(confirming, refused)
  const writingOff = writeOff(async () => {
    await assert.rejects(
      confirm(() => assert.fail('booked twice')),
      beside,
    )
    throw refused
  })
  await assert.rejects(writingOff, refused)
  assert.equal((await breaks.showBreak(breakId)).found.actId, undefined)
})

test('whoever dies while a break is settled leaves it to others after a while', async () => {
  await say({ amountMinor: 1_600n, text: 'thank you' })
  const { breakId } = await openOf('missing_here', 1_600n)
  const killed = () => Promise.reject(new Error('killed'))
  const settling = [
    () =>
      breaks.confirm(breakId, {
        reference: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
        reason: 'seen',
        confirmTransfer: killed,
      }),
    () => breaks.writeOff(breakId, { reason: 'a gain', correct: killed }),
  ]
  for (const settle of settling) {
    await assert.rejects(settle(), /killed/)
    await operations.reconcile()
    assert.notEqual((await breaks.showBreak(breakId)).found.actId, undefined)
    clock.advance(11 * 60_000)
    await operations.reconcile()
    assert.equal((await breaks.showBreak(breakId)).found.actId, undefined)
  }
})
