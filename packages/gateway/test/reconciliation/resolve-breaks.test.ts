// What operators do with breaks, in every order and by several at once: each difference is booked once, and what a second
// operator refused, or what came meanwhile, stands in nobody's way.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import type { BreakKind } from '../../src/finance/reconciliation/rules/match.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testEnvironment } from '../support/started.ts'
import { mortalPool } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-01T10:00:00Z'))
const config = { ...readConfig({ ...testEnvironment, APPROVAL_FOR: 'correction' }), bankAccountWaitMs: 0 }
let diesAt: string | undefined
const money = openMoney(
  mortalPool(pool, () => diesAt),
  { clock, config },
)
const { operations } = money
const { reconciliation, banks, operators, rails } = actingAs(operations, 'console:alice')
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
const actions = testActions({ stores: money, operations, clock, config })
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

const askToWriteOff = (breakId: string): Promise<string> =>
  actions.asked('alice', 'reconcile.write-off', { params: { breakId } })

async function openOf(kind: BreakKind, sizeMinor: bigint) {
  const open = await breaks.listBreaks({ status: 'open', kind }, { skip: 0, limit: 100 })
  return open.find((each) => each.sizeMinor === sizeMinor) ?? assert.fail(`no ${kind} of ${sizeMinor}`)
}

const resolutionOf = async (breakId: string) => (await breaks.showBreak(breakId)).found.resolution

test('a break that was paired while its write-off waited is not written off', async () => {
  for (const side of ['here', 'there'] as const) {
    const { here, there } = await apart(side === 'here' ? 1_000n : 1_100n)
    const approvalId = await askToWriteOff({ here, there }[side].breakId)
    await breaks.pair(here.breakId, there.breakId, 'the same')
    assert.deepEqual(
      [await resolutionOf(here.breakId), await resolutionOf(there.breakId)],
      ['paired', 'paired'],
    )
    await assert.rejects(actions.approve('bob', approvalId), /already resolved/, side)
  }
})

test('a break whose write-off was refused ends by news like any other', async () => {
  await say({ amountMinor: 1_200n, text: 'a deposit' })
  const { breakId } = await openOf('missing_here', 1_200n)
  await actions.reject('bob', await askToWriteOff(breakId))
  await money.addWallet(1_200n, { currency })
  await reconciliation.matchLines('bank:main')
  assert.equal(await resolutionOf(breakId), 'matched')
  assert.equal(await operations.reconcile(), 0)
})

test('a transfer whose line comes while its write-off waits is explained once, and is not written off', async () => {
  await say({ amountMinor: -1n, text: 'so that it is looked for' })
  const transferId = await topUp(1_300n)
  clock.advance(10 * day)
  await say({ amountMinor: -2n, text: 'nothing' })
  const there = await openOf('missing_there', 1_300n)
  const approvalId = await askToWriteOff(there.breakId)
  await say({ amountMinor: 1_300n, text: `for ${transferId}` })
  assert.equal(await resolutionOf(there.breakId), 'matched')
  await assert.rejects(actions.approve('bob', approvalId), /already resolved/)
})

test('a write-off that was requested for one amount is not done for another', async () => {
  const text = `for ${await topUp(1_400n)}`
  await say({ amountMinor: 1_399n, text })
  const { breakId } = await openOf('amount_differs', 1n)
  const approvalId = await askToWriteOff(breakId)
  // Another line takes the transfer: the first line is now missing in the books as a whole.
  await say({ amountMinor: 1_400n, text })
  assert.equal((await openOf('missing_here', 1_399n)).breakId, breakId)
  await assert.rejects(actions.approve('bob', approvalId), /amount is now 13\.99 EUR, not -0\.01/)
  assert.equal(await resolutionOf(breakId), undefined)
  await actions.approve('bob', await askToWriteOff(breakId))
  assert.equal(await resolutionOf(breakId), 'written_off')
})

test('a break that is being resolved one way is not resolved another way, and is free again after a failure', async () => {
  await say({ amountMinor: 1_500n, text: 'thank you' })
  const { breakId } = await openOf('missing_here', 1_500n)
  const noOrder = { reference: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W', reason: 'seen' }
  await assert.rejects(breaks.confirm(breakId, noOrder), /This rail has no payment with the reference/)
  assert.equal((await breaks.showBreak(breakId)).found.correctionId, undefined)
  diesAt = 'insert into transfers'
  await assert.rejects(breaks.writeOff(breakId, { reason: 'a gain' }), /result is unknown/)
  diesAt = undefined
  assert.notEqual((await breaks.showBreak(breakId)).found.correctionId, undefined)
  await assert.rejects(breaks.confirm(breakId, noOrder), /being resolved/)
  await assert.rejects(breaks.pair(breakId, breakId, 'the same'), /being resolved|without a statement line/)
})

test('a break whose operator’s process died is free again after a while', async () => {
  await say({ amountMinor: 1_600n, text: 'thank you' })
  const { breakId } = await openOf('missing_here', 1_600n)
  diesAt = 'insert into transfers'
  await assert.rejects(breaks.writeOff(breakId, { reason: 'a gain' }), /result is unknown/)
  diesAt = undefined
  await operations.reconcile()
  assert.notEqual((await breaks.showBreak(breakId)).found.correctionId, undefined)
  clock.advance(11 * 60_000)
  await operations.reconcile()
  assert.equal((await breaks.showBreak(breakId)).found.correctionId, undefined)
})
