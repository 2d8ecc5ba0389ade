// A company's first week: own money on the account, customers' transfers, fees, a payout, a refund, bank charges and interest. The
// statements of two bank accounts are imported each morning, and every day closes with nothing unexplained.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { type BankLine, camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import type { AccountOwner } from '../../src/core/ledger/rules/transfer.ts'
import { priceLeadMs } from '../../src/core/orders/fees/rules/price.ts'
import type { OwnBooking } from '../../src/finance/reconciliation/rules/break.ts'
import { dayAfter } from '../../src/platform/runtime/utc.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { giveBankAccount, workOff } from '../support/payouts.ts'
import { openRails } from '../support/rails.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const dayMs = 86_400_000
const untilMorningMs = 20 * 3_600_000
const monday = '2026-11-02'
const clock = heldClock(Date.parse(`${monday}T09:00:00Z`))
const { money, operations } = await openRails(pool, { clock })
const by = actingAs(operations, 'console:alice')
const { banks, rails, prices, payouts, payoutRuns, ownMoney, reconciliation } = by
const currency = 'EUR'
const ibans = { main: 'DE89370400440532013000', own: 'DE75512108001245126199' } as const
type Bank = keyof typeof ibans
const noDetails = { holder: 'Company', lines: undefined, bic: undefined }
await banks.changeBank('main', { ...noDetails, iban: ibans.main }, 'test')
await banks.addBank({ ...noDetails, bankName: 'own', currency, iban: ibans.own }, 'test')
const account = { holder: 'Company', iban: ibans.main, bic: undefined, lines: [] }
const transferRail = { ...noExtras, name: 'Transfer', currencies: [currency], account }
await rails.addTransferRail('transfer', transferRail, 'test')
operations.railDirectory.forget()
const terms = {
  fixedMinor: 0n,
  basisPoints: 200,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: true,
}
await prices.setPrice(
  { merchantId: undefined, railId: undefined, currency, terms, fromMs: undefined },
  'test',
)
const merchant = await money.addMerchant()
const { merchantId } = merchant
await giveBankAccount(pool, merchantId, currency)
clock.advance(priceLeadMs)

/** What the banks have booked: both accounts had money before the gateway knew of them. */
const written: Record<Bank, BankLine[]> = { main: [], own: [] }
const opening: Record<Bank, bigint> = { main: 100_000n, own: 5_000n }
let entries = 0

afterEach(async () => {
  assert.deepEqual(await money.verify(), [])
  await suspenseIsListed(pool, operations)
})

const today = () => new Date(clock.now()).toISOString().slice(0, 10)

function bankBooks(bank: Bank, amountMinor: bigint, given: Partial<BankLine> = {}): void {
  written[bank].push({ reference: `${bank}-${++entries}`, day: today(), amountMinor, ...given })
}

/** The next morning: yesterday's statements come, the lines that `booked` names are resolved, and yesterday is closed. */
async function endDay(booked: Readonly<Record<string, OwnBooking>> = {}): Promise<void> {
  const day = today()
  clock.advance(untilMorningMs)
  for (const bank of ['main', 'own'] as const) await importDay(bank, day)
  for (const { breakId, line } of await reconciliation.breaks.listBreaks(
    { status: 'open' },
    { skip: 0, limit: 100 },
  )) {
    const as = booked[line?.description ?? ''] ?? assert.fail(`an unexpected break: ${line?.description}`)
    await reconciliation.breaks.bookAs(breakId, { as, reason: 'as the bank says' })
  }
  if (day === monday)
    for (const bankName of ['main', 'own'] as const)
      await ownMoney.setOpeningBalance(
        { bankName, currency, amountMinor: opening[bankName], valueDate: monday },
        'the first statement',
      )
  for (const bank of ['main', 'own'] as const) await closeDay(bank, day)
  clock.advance(dayMs - untilMorningMs)
}

async function importDay(bank: Bank, day: string): Promise<void> {
  const before = written[bank].filter((line) => line.day < day)
  const openingMinor = before.reduce((sum, { amountMinor }) => sum + amountMinor, opening[bank])
  const lines = written[bank].filter((line) => line.day === day)
  const file = fileOf(
    `${bank} ${day}`,
    camt053({ iban: ibans[bank], currency, version: 8, from: day, through: day, openingMinor, lines }),
  )
  await reconciliation.importStatement({ file, reason: 'morning' })
}

async function closeDay(bank: Bank, day: string): Promise<void> {
  const of = { account: `bank:${bank}`, currency }
  const [closed, ...others] = await reconciliation.days.closeDay(of, day, 'evening')
  assert.equal(others.length, 0)
  const outside = written[bank].reduce(
    (sum, line) => (line.day <= day ? sum + line.amountMinor : sum),
    opening[bank],
  )
  assert.deepEqual(
    [closed?.outsideMinor, closed?.unexplainedMinor, closed?.breaks],
    [outside, 0n, 0],
    `${bank} on ${day}`,
  )
}

/** A customer pays by bank transfer, and the bank books it. */
async function customerPays(amountMinor: bigint): Promise<string> {
  const order = await money.addOrder(merchant, { amountMinor, currency, lifeMs: dayMs })
  await operations.payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
  const { rows } = await pool.query<{ reference: string }>(
    'select reference from rail_attempts where payment_id = $1',
    [order.paymentId],
  )
  bankBooks('main', amountMinor, { text: `order ${rows[0]?.reference}` })
  return order.paymentId
}

async function balanceOf(ownerKind: AccountOwner['ownerKind'], ownerId: string): Promise<bigint> {
  const accounts = await money.treasury.listAccounts({ ownerKind, ownerId })
  const [found] = accounts.filter((each) => each.currency === currency)
  return (found?.creditsPostedMinor ?? 0n) - (found?.debitsPostedMinor ?? 0n)
}

let paymentId = ''

test('Monday: the account opens with money, the owner pays more in, and a customer pays', async () => {
  await ownMoney.deposit(
    { bankName: 'main', currency, amountMinor: 50_000n, reference: 'FOUNDERS 1' },
    'starting capital',
  )
  bankBooks('main', 50_000n, { endToEndId: 'FOUNDERS 1' })
  paymentId = await customerPays(20_000n)
  await endDay()
  assert.equal(await balanceOf('equity', 'operator'), 155_000n)
  assert.equal(await balanceOf('fees', merchantId), 400n)
})

test('Tuesday: the bank charges its fee, and pays back one that it charged wrongly', async () => {
  await customerPays(30_000n)
  bankBooks('main', -450n, { text: 'Account fee' })
  bankBooks('own', -90n, { text: 'Card' })
  bankBooks('own', 90n, { text: 'Card, returned' })
  await endDay({ 'Account fee': 'bank_charge', Card: 'bank_charge', 'Card, returned': 'bank_charge' })
  assert.deepEqual(
    [await balanceOf('bank_charges', 'main'), await balanceOf('bank_charges', 'own')],
    [-450n, 0n],
  )
})

test('Wednesday: the merchant is paid out, and the bank books that a day later', async () => {
  const given = { merchantId, currency, amountMinor: 40_000n, bankName: 'main' }
  const { payoutId } = await payouts.requestPayout(given, { reason: 'test' })
  await workOff(money)
  await payoutRuns.sendRun((await payouts.findPayout({ merchantId, payoutId })).runId, 'test')
  await endDay()
  bankBooks('main', -40_000n, { endToEndId: payoutId })
})

test('Thursday: fees are swept to the company’s own account, and are on their way over night', async () => {
  const { transferId, amountMinor } = await ownMoney.sweepFees(
    { bankName: 'own', fromBankName: 'main', currency, amountMinor: undefined },
    'fees of the week',
  )
  assert.equal(amountMinor, 1_000n)
  assert.equal(await balanceOf('fees', merchantId), 0n)
  bankBooks('main', -1_000n, { endToEndId: transferId ?? '' })
  await endDay()
  bankBooks('own', 1_000n, { endToEndId: transferId ?? '' })
})

test('Friday: interest comes, and the owner takes money out', async () => {
  bankBooks('own', 12n, { text: 'Interest' })
  bankBooks('main', -3n, { text: 'Negative interest' })
  await ownMoney.withdraw({ bankName: 'own', currency, amountMinor: 2_500n }, 'salary')
  // The bank’s line names nothing: amount and day do.
  bankBooks('own', -2_500n, { text: 'thank you' })
  await endDay({ Interest: 'interest', 'Negative interest': 'interest' })
  assert.deepEqual([await balanceOf('interest', 'own'), await balanceOf('interest', 'main')], [12n, -3n])
})

test('Saturday: a refund gives back the fee that was swept, and what the owner did not record comes by the statement', async () => {
  const body = { paymentId, referRefundNo: 'wrong size', refundAmount: 50 }
  const { refundId } = await money.refundOrder(merchant, JSON.stringify(body))
  bankBooks('main', -5_000n, { endToEndId: refundId })
  bankBooks('main', 7_700n, { text: 'From the owner' })
  bankBooks('own', -100n, { text: 'To the owner' })
  await endDay({ 'From the owner': 'owner_deposit', 'To the owner': 'owner_withdrawal' })
  assert.equal(await balanceOf('fees', merchantId), -100n)
})

test('Sunday: nothing happens, and the week is explained to the last cent', async () => {
  await endDay()
  assert.deepEqual(await reconciliation.days.listUnexplained(), [])
  const standings = (await reconciliation.listStandings()).filter((each) => each.currency === currency)
  const expected = (['main', 'own'] as const).map((bank) => [
    bank,
    written[bank].reduce((sum, { amountMinor }) => sum + amountMinor, opening[bank]),
  ])
  for (const at of ['expectedMinor', 'statement'] as const)
    assert.deepEqual(
      standings.map((each) => [
        each.bankName,
        at === 'statement' ? each.statement?.outsideMinor : each.expectedMinor,
      ]),
      expected,
    )
  assert.deepEqual(
    standings.map(({ throughRailsMinor, statement }) => [throughRailsMinor, statement?.unexplainedMinor]),
    [
      [45_000n, 0n],
      [0n, 0n],
    ],
  )
  const { ownMinor, equityMinor } = await ownMoney.ownMoney(currency)
  assert.equal(equityMinor, 100_000n + 5_000n + 50_000n + 1_000n - 2_500n + 7_700n - 100n)
  assert.equal(ownMinor, equityMinor - 100n - 450n + 12n - 3n)
  const sunday = dayAfter(monday, 6)
  const month = await reconciliation.days.listMonth({ account: 'bank:main', currency }, '2026-11')
  assert.deepEqual(
    month.map(({ day, closedAtMs }) => [day, closedAtMs !== undefined]),
    Array.from({ length: 7 }, (_, index) => [dayAfter(monday, index), true]),
  )
  assert.equal(month.at(-1)?.day, sunday)
  assert.equal(month.at(-1)?.inTransitMinor, 0n)
})
