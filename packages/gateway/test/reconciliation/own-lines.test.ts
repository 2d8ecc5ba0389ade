// Lines of bank statements that are the operator's own, and opening balances: when they count, what they are never taken for, and
// that each is booked once, whoever else settles the same break.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { type BankLine, camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { type OwnBooking, returnReference } from '../../src/finance/reconciliation/rules/break.ts'
import type { CsvMapping } from '../../src/finance/reconciliation/rules/csv.ts'
import { dayAfter } from '../../src/platform/runtime/utc.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { heldClock, openMoney } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { testEnvironment } from '../support/started.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-20T10:00:00Z'))
const money = openMoney(pool, { clock })
const { reconciliation, banks, corrections, ownMoney, operators, rails } = actingAs(money.operations, 'test')
const { breaks, days } = reconciliation
const currency = 'EUR'
const first = '2026-11-10'

afterEach(async () => {
  assert.deepEqual(await money.verify(), [])
  await suspenseIsListed(pool, money.operations)
})

let made = 0
/** A bank account with an IBAN of its own, whose bank says what the test wants. */
async function openBank() {
  const bankName = `bank-${++made}`
  const account = `bank:${bankName}`
  const iban = ibanOf(made)
  await banks.addBank({ bankName, currency, holder: 'Shop', iban, lines: undefined, bic: undefined }, 'test')
  return {
    bankName,
    account,
    currency,
    /** A statement of these days; the balance before them is the one that the account had. */
    say(from: string, through: string, openingMinor: bigint, lines: readonly BankLine[] = []) {
      const text = camt053({ iban, currency, version: 8, from, through, openingMinor, lines })
      return reconciliation.importStatement({ file: fileOf(`${bankName} ${from}`, text), reason: 'test' })
    },
    async unexplained(day: string): Promise<bigint | undefined> {
      const month = await days.listMonth({ account, currency }, day.slice(0, 7))
      return month.find((each) => each.day === day)?.unexplainedMinor
    },
    /** Books, statement and what is in transit. */
    async sums(day: string): Promise<readonly (bigint | undefined)[]> {
      const found = (await days.listMonth({ account, currency }, day.slice(0, 7))).find(
        (each) => each.day === day,
      )
      return [found?.bookMinor, found?.outsideMinor, found?.inTransitMinor]
    },
    async openBreak() {
      const [found, ...others] = await breaks.listBreaks({ status: 'open', account }, { skip: 0, limit: 10 })
      assert(found && others.length === 0, `${others.length + Number(found !== undefined)} breaks`)
      return found
    },
    async hasBreaks(): Promise<boolean> {
      return (await breaks.listBreaks({ status: 'open', account }, { skip: 0, limit: 1 })).length > 0
    },
    setOpening: (amountMinor: bigint, valueDate = first) =>
      ownMoney.setOpeningBalance({ bankName, currency, amountMinor, valueDate }, 'test'),
    async bookedMinor(): Promise<bigint> {
      return -(await balanceOf('bank', bankName))
    },
  }
}

/** German, of an account number. */
function ibanOf(number: number): string {
  const account = `37040044${String(number).padStart(10, '0')}`
  const check = 98n - (BigInt(`${account}131400`) % 97n)
  return `DE${String(check).padStart(2, '0')}${account}`
}

let entries = 0
const line = (amountMinor: bigint, given: Partial<BankLine> = {}): BankLine => ({
  reference: `L${++entries}`,
  day: first,
  amountMinor,
  ...given,
})

test('an opening balance that is booked after the statement explains every open day, and closed ones stay as they are', async () => {
  const bank = await openBank()
  await bank.say(first, dayAfter(first, 3), 100_000n)
  assert.equal(await bank.unexplained(first), 100_000n)
  await days.closeDay(bank, first, 'too early')
  await bank.setOpening(100_000n)
  assert.deepEqual(
    [await bank.unexplained(first), await bank.unexplained(dayAfter(first, 1))],
    [100_000n, 0n],
  )
  assert.deepEqual(await bank.sums(dayAfter(first, 1)), [100_000n, 100_000n, 0n])
  await days.closeDay(bank, dayAfter(first, 3), 'now')
  const unexplained = await days.listUnexplained()
  assert.deepEqual(
    unexplained.filter(({ account }) => account === bank.account),
    [],
  )
})

test('an opening balance that is booked before the statement comes counts once', async () => {
  const bank = await openBank()
  await bank.setOpening(100_000n)
  await bank.say(first, dayAfter(first, 1), 100_000n)
  assert.equal(await bank.unexplained(first), 0n)
  assert.deepEqual(await bank.sums(first), [100_000n, 100_000n, 0n])
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const later = await openBank()
  await later.setOpening(300n, today)
  clock.advance(3 * 86_400_000)
  await later.say(dayAfter(today, 2), dayAfter(today, 2), 300n)
  assert.equal(await later.unexplained(dayAfter(today, 2)), 0n)
})

test('an opening balance is what stands of it: what was taken back counts no more, also below zero', async () => {
  const bank = await openBank()
  await bank.say(first, dayAfter(first, 1), -4_000n)
  const { transferId } = await bank.setOpening(-4_500n)
  assert.equal(await bank.unexplained(first), 500n)
  await corrections.correct(
    {
      kind: 'reverse',
      merchantId: '',
      currency,
      amountMinor: 500n,
      corrects: transferId,
      outside: { bankName: bank.bankName },
    },
    'typed wrongly',
  )
  assert.equal(await bank.unexplained(first), 0n)
  assert.deepEqual(await bank.sums(first), [-4_000n, -4_000n, 0n])
})

test('an opening balance and its reversal are never overdue, and no line is taken for them', async () => {
  const bank = await openBank()
  const { transferId } = await bank.setOpening(7_700n)
  const outside = { bankName: bank.bankName, reference: 'REVERSAL1' }
  await corrections.correct(
    { kind: 'reverse', merchantId: '', currency, amountMinor: 700n, corrects: transferId, outside },
    'typed wrongly',
  )
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const same = line(7_700n, { day: today, text: `for ${transferId}` })
  await bank.say(first, today, 7_000n, [same, line(-700n, { day: today, text: 'REVERSAL1' })])
  clock.advance(20 * 86_400_000)
  await bank.say(dayAfter(today, 20), dayAfter(today, 20), 14_000n)
  const open = await breaks.listBreaks({ status: 'open', account: bank.account }, { skip: 0, limit: 10 })
  assert.deepEqual(
    open.map(({ kind, amountMinor }) => [kind, amountMinor]),
    [
      ['missing_here', 7_700n],
      ['missing_here', -700n],
    ],
  )
})

test('an opening balance of a later day than the first statement is refused, with that day', async () => {
  const bank = await openBank()
  await bank.say(first, dayAfter(first, 3), 100n)
  await assert.rejects(
    bank.setOpening(100n, dayAfter(first, 1)),
    /first statement of bank:bank-\d+ in EUR begins on 2026-11-10\. Enter the balance with which that day began/,
  )
  await bank.setOpening(100n, dayAfter(first, -5))
  assert.equal(await bank.unexplained(first), 0n)
})

test('a deposit that comes after its line ends the break, by its reference, or by amount and day', async () => {
  const bank = await openBank()
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  await bank.say(day, day, 0n, [
    line(5_000n, { day, endToEndId: 'FOUNDER-7' }),
    line(6_000n, { day, text: 'no name' }),
  ])
  assert(await bank.hasBreaks())
  const { bankName } = bank
  const actions = await actionsOf()
  const params = { bankName }
  await actions.done('alice', 'bank.deposit', {
    params,
    input: { amount: '50.00', currency, reference: 'FOUNDER -7' },
  })
  await actions.done('alice', 'bank.deposit', { params, input: { amount: '60.00', currency } })
  assert(!(await bank.hasBreaks()))
})

async function breakOf(bank: Awaited<ReturnType<typeof openBank>>, amountMinor: bigint): Promise<string> {
  await bank.say(first, first, 0n, [line(amountMinor, { text: 'what is it' })])
  return (await bank.openBreak()).breakId
}

test('a line is booked as what it is, by its mark and value date, and the break ends with one audit entry', async () => {
  for (const [as, amountMinor, other] of [
    ['bank_charge', -350n, 'bank_charges'],
    ['bank_charge', 350n, 'bank_charges'],
    ['interest', 20n, 'interest'],
    ['interest', -20n, 'interest'],
    ['owner_deposit', 900n, 'equity'],
    ['owner_withdrawal', -900n, 'equity'],
  ] as const) {
    const bank = await openBank()
    const breakId = await breakOf(bank, amountMinor)
    const ended = await breaks.bookAs(breakId, { as, reason: 'test' })
    assert.deepEqual([ended.resolution, ended.resolvedBy], ['confirmed', 'test'])
    assert.equal(await bank.bookedMinor(), amountMinor)
    assert.equal(await bank.unexplained(first), 0n)
    const { rows } = await pool.query(
      `select a.act, a.subject, t.kind, t.outside_reference = l.mark as is_marked, t.value_date = l.value_day as is_dated,
              split_part(case when $2 then t.credit_account else t.debit_account end, ':', 1) as other
         from transfers t join audit a on a.audit_id = t.audit_id, statement_lines l
        where l.account = $1 and t.outside_reference = l.mark`,
      [bank.account, amountMinor > 0n],
    )
    assert.deepEqual(rows, [
      { act: 'reconcile.book-as', subject: breakId, kind: as, is_marked: true, is_dated: true, other },
    ])
  }
})

test('a deposit goes not out, a withdrawal comes not in, and more than equity has is not withdrawn', async () => {
  const [into, out] = [await openBank(), await openBank()]
  const [inId, outId] = [await breakOf(into, 500n), await breakOf(out, -990_000_000n)]
  const book = (breakId: string, as: OwnBooking) => breaks.bookAs(breakId, { as, reason: 'test' })
  await assert.rejects(book(inId, 'owner_withdrawal'), /Money came in, so this is not a withdrawal/)
  await assert.rejects(book(outId, 'owner_deposit'), /Money went out, so this is not a deposit/)
  await assert.rejects(book(outId, 'owner_withdrawal'), /too little for this withdrawal\. Sweep fees first/)
  assert.equal(await out.bookedMinor(), 0n)
})

test('what a bank kept of a transfer is a charge, and both make up the line', async () => {
  const bank = await openBank()
  const { bankName } = bank
  await ownMoney.deposit({ bankName, currency, amountMinor: 10_000n, reference: 'ABROAD-1' }, 'test')
  await bank.say(first, dayAfter(first, 10), 0n, [
    line(9_985n, { day: dayAfter(first, 10), endToEndId: 'ABROAD-1' }),
  ])
  const { breakId, kind, amountMinor } = await bank.openBreak()
  assert.deepEqual([kind, amountMinor], ['amount_differs', -15n])
  await breaks.bookAs(breakId, { as: 'bank_charge', reason: 'fee of the bank between' })
  assert.equal(await bank.bookedMinor(), 9_985n)
  assert(!(await bank.hasBreaks()))
  assert.equal(await bank.unexplained(dayAfter(first, 10)), 0n)
})

test('of several who settle a break at once one does, and the same action sent again does nothing', async () => {
  for (let turn = 0; turn < 4; turn++) {
    const bank = await openBank()
    const breakId = await breakOf(bank, -350n)
    const idempotencyKey = randomUUID()
    const book = (id?: string) =>
      breaks.bookAs(breakId, { as: 'bank_charge', reason: 'test', idempotencyKey: id })
    const outcomes = await Promise.allSettled([
      book(idempotencyKey),
      book(idempotencyKey),
      book(),
      breaks.bookAs(breakId, { as: 'interest', reason: 'test' }),
      breaks.writeOff(breakId, { reason: 'test' }),
      reconciliation.matchLines(bank.account),
    ])
    assert.equal(await bank.bookedMinor(), -350n, JSON.stringify(outcomes.map(({ status }) => status)))
    await money.operations.reconcile()
    assert(!(await bank.hasBreaks()))
    assert.equal(await bank.unexplained(first), 0n)
  }
})

test('a booking is there once with its match and the end of its break, or nothing of it is, wherever its process dies', async () => {
  for (let atPoint = 1; ; atPoint++) {
    const bank = await openBank()
    const breakId = await breakOf(bank, -350n)
    const faulty = faultyPool(pool, { atPoint, dies: 'process' })
    const dying = actingAs(testOperations(faulty.pool, { clock }).operations, 'test').reconciliation.breaks
    const given = { as: 'bank_charge', reason: 'test', idempotencyKey: randomUUID() } as const
    await dying.bookAs(breakId, given).catch(() => {})
    const isEnded = (await breaks.showBreak(breakId)).found.resolution !== undefined
    assert.equal(await bank.bookedMinor(), isEnded ? -350n : 0n, `point ${atPoint}`)
    await breaks.bookAs(breakId, given)
    assert.equal(await bank.bookedMinor(), -350n)
    assert(!(await bank.hasBreaks()))
    if (!faulty.hasFailed()) break
  }
})

test('unknown money is parked in suspense, and moved on from there to a bank account, once and whole', async () => {
  const bank = await openBank()
  const { bankName } = bank
  await bank.say(first, first, 0n, [line(7_500n, { text: 'no idea' })])
  const { breakId } = await bank.openBreak()
  const suspenseMinor = () => balanceOf('suspense', 'late')
  const before = await suspenseMinor()
  const ended = await breaks.park(breakId, { reason: 'who is it?' })
  assert.deepEqual([ended.resolution, ended.resolvedBy], ['parked', 'test'])
  assert.deepEqual([await suspenseMinor(), await bank.bookedMinor()], [before + 7_500n, 7_500n])
  assert.equal(await bank.unexplained(first), 0n)
  const { parked } = await breaks.showBreak(breakId)
  assert(parked)
  const release = (amountMinor: bigint, to: 'bank' | 'merchant' = 'bank') =>
    corrections.correct(
      {
        ...({ kind: 'release', to, merchantId: '', currency, amountMinor, corrects: parked } as const),
        outside: { bankName, reference: undefined, valueDate: undefined },
      },
      'test',
    )
  await assert.rejects(release(7_500n, 'merchant'), /belongs to no merchant/)
  await assert.rejects(release(7_501n), /At most 75\.00 EUR of transfer/)
  await release(7_500n)
  await assert.rejects(release(1n), /At most 0\.00 EUR of transfer/)
  assert.deepEqual([await suspenseMinor(), await bank.bookedMinor()], [before, 0n])
})

test('unknown money that is left is listed, however much that is newer has moved on', async () => {
  const { bankName, ...bank } = await openBank()
  await bank.say(first, first, 0n, [line(100n, { text: 'one' }), line(200n, { text: 'two' })])
  const found = await breaks.listBreaks({ status: 'open', account: bank.account }, { skip: 0, limit: 10 })
  for (const { breakId } of found) await breaks.park(breakId, { reason: 'test' })
  const [newest, older] = await breaks.listParked(2)
  assert(newest && older)
  const outside = { bankName, reference: undefined, valueDate: undefined }
  const release = ({ transferId, leftMinor }: typeof newest) =>
    corrections.correct(
      {
        kind: 'release',
        to: 'bank',
        merchantId: '',
        currency,
        amountMinor: leftMinor,
        corrects: transferId,
        outside,
      },
      'test',
    )
  await release(newest)
  assert.deepEqual(await breaks.listParked(1), [older])
  await release(older)
  assert.deepEqual(await breaks.listParked(1), [])
})

test('unknown money goes back to its sender, and the bank’s line of that transfer is matched by the reference', async () => {
  const bank = await openBank()
  await bank.say(first, first, 0n, [line(7_500n, { text: 'no idea' })])
  const { breakId } = await bank.openBreak()
  const ended = await breaks.returnToSender(breakId, { reason: 'nobody here' })
  assert.equal(ended.resolution, 'returned')
  assert.deepEqual([await balanceOf('suspense', 'late'), await bank.bookedMinor()], [0n, 0n])
  await assert.rejects(breaks.park(breakId, { reason: 'test' }), /already resolved/)
  const { parked } = await breaks.showBreak(breakId)
  assert.equal(parked, undefined, 'nothing of it is left to move')
  const sentOn = dayAfter(first, 9)
  await bank.say(dayAfter(first, 1), sentOn, 7_500n, [
    line(-7_500n, { day: sentOn, endToEndId: returnReference({ breakId }) }),
  ])
  assert(!(await bank.hasBreaks()))
  assert.equal(await bank.unexplained(sentOn), 0n)
})

test('only money that came to a bank account and is in no books is parked or returned', async () => {
  const bank = await openBank()
  const breakId = await breakOf(bank, -350n)
  for (const way of ['park', 'returnToSender'] as const)
    await assert.rejects(breaks[way](breakId, { reason: 'test' }), /Only received bank money/)
  const other = await openBank()
  const incoming = await breakOf(other, 350n)
  await assert.rejects(
    breaks.park(incoming, { reason: 'test', amount: '3.49' }),
    /The break has changed: its amount is now 3\.50 EUR/,
  )
})

test('a return is there once with its match and the end of its break, or nothing of it is, wherever its process dies', async () => {
  for (let atPoint = 1; ; atPoint++) {
    const bank = await openBank()
    const breakId = await breakOf(bank, 350n)
    const faulty = faultyPool(pool, { atPoint, dies: 'process' })
    const dying = actingAs(testOperations(faulty.pool, { clock }).operations, 'test').reconciliation.breaks
    const given = { reason: 'test', idempotencyKey: randomUUID() }
    await dying.returnToSender(breakId, given).catch(() => {})
    await Promise.all([breaks.returnToSender(breakId, given), breaks.returnToSender(breakId, given)])
    assert.equal(await bank.bookedMinor(), 0n)
    assert(!(await bank.hasBreaks()))
    const { rows } = await pool.query('select kind from transfers where audit_id = $1 order by kind', [
      given.idempotencyKey,
    ])
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['unknown_received', 'unknown_returned'],
    )
    if (!faulty.hasFailed()) break
  }
})

async function balanceOf(ownerKind: 'suspense' | 'bank', ownerId: string): Promise<bigint> {
  const [found] = await money.treasury.listAccounts({ ownerKind, ownerId })
  return found ? found.creditsPostedMinor - found.debitsPostedMinor : 0n
}

test('a line of a rail is nobody’s charge or interest', async () => {
  const url = 'https://card.example/rail'
  await rails.addRail('card', { ...noExtras, name: 'Card', url, currencies: [currency] }, 'test')
  const columns: CsvMapping = {
    separator: ',',
    decimalSign: '.',
    dayForm: 'YYYY-MM-DD',
    sign: 'as_written',
    day: 'Day',
    amount: 'Amount',
    currency,
    references: ['Reference'],
  }
  const mapping = { mappingName: 'card', account: 'rail:card', settlesTo: undefined, columns }
  await reconciliation.mappings.saveMapping(mapping, 'test')
  const file = fileOf('card', `Day,Amount,Reference\n${first},-1.00,X1\n`)
  await reconciliation.importStatement({ file, mapping: 'card', reason: 'test' })
  const [found] = await breaks.listBreaks({ status: 'open', account: 'rail:card' }, { skip: 0, limit: 1 })
  await assert.rejects(
    breaks.bookAs(found?.breakId ?? '', { as: 'bank_charge', reason: 'test' }),
    /Only a bank line/,
  )
})

async function actionsOf(approvalFor?: string) {
  const config = readConfig({
    ...testEnvironment,
    ...(approvalFor !== undefined && { APPROVAL_FOR: approvalFor }),
  })
  for (const login of ['alice', 'bob'])
    if (!(await money.operators.findOperator(login)))
      await operators.addOperator({ login, role: 'admin', password: 'a password of the team' })
  return testActions({ ...testOperations(pool, { clock, config }), clock, config })
}

test('own money waits for a second operator by what it does: money that comes in, or money that goes out', async () => {
  const bank = await openBank()
  const params = { bankName: bank.bankName }
  const moneyOf = (amount: string) => ({ amount, currency })
  const [into, out] = [await actionsOf('money-in'), await actionsOf('money-out')]
  const asked = await into.asked('alice', 'bank.opening-balance', {
    params,
    input: { ...moneyOf('12.00'), day: first },
  })
  assert.equal(await bank.bookedMinor(), 0n)
  await into.approve('bob', asked)
  assert.equal(await bank.bookedMinor(), 1_200n)
  const deposit = await into.asked('alice', 'bank.deposit', { params, input: moneyOf('3.00') })
  await into.reject('bob', deposit)
  assert.equal(await bank.bookedMinor(), 1_200n)
  await into.done('alice', 'bank.withdraw', { params, input: moneyOf('1.00') })
  await out.done('alice', 'bank.deposit', { params, input: moneyOf('4.00') })
  const withdrawal = await out.asked('alice', 'bank.withdraw', { params, input: moneyOf('2.00') })
  await out.approve('bob', withdrawal)
  assert.equal(await bank.bookedMinor(), 1_300n)

  const charged = await openBank()
  const breakId = await breakOf(charged, -350n)
  const booking = { params: { breakId }, input: { as: 'bank_charge' } }
  const request = await out.asked('alice', 'reconcile.book-as', booking)
  assert.equal(await charged.bookedMinor(), 0n)
  assert(await charged.hasBreaks())
  await out.approve('bob', request)
  assert.equal(await charged.bookedMinor(), -350n)
  assert(!(await charged.hasBreaks()))
})

test('a request to book a line waits for the amount that it was made for', async () => {
  const bank = await openBank()
  const { bankName } = bank
  const both = await actionsOf('money-in,money-out')
  await ownMoney.deposit({ bankName, currency, amountMinor: 10_000n, reference: 'ABROAD-2' }, 'test')
  await bank.say(first, first, 0n, [line(9_985n, { endToEndId: 'ABROAD-2' })])
  const { breakId, amountMinor } = await bank.openBreak()
  assert.equal(amountMinor, -15n)
  const asked = await both.asked('alice', 'reconcile.book-as', {
    params: { breakId },
    input: { as: 'bank_charge' },
  })
  // The deposit is this line’s now, and all of the other one is unexplained.
  await bank.say(dayAfter(first, 1), dayAfter(first, 1), 9_985n, [
    line(10_000n, { day: dayAfter(first, 1), endToEndId: 'ABROAD-2' }),
  ])
  assert.equal((await breaks.showBreak(breakId)).found.amountMinor, 9_985n)
  await assert.rejects(both.approve('bob', asked), /The break has changed: its amount is now 99\.85 EUR/)
  assert.equal(await bank.bookedMinor(), 10_000n)
})
