// The operator's own money as an operator meets it: on the bank account's page of the console, on the page of a break, and on the
// command line.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { actingAs } from '../support/acting.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient, signedInAs } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const gateway = await startTestGateway()
const { operations } = gateway
const { banks, reconciliation } = actingAs(operations, 'test')
const admin = new ConsoleClient(gateway)
await admin.signIn()
afterEach(() => suspenseIsListed(gateway.pool, operations))
const folder = mkdtempSync(join(tmpdir(), 'own-money-'))
after(() => rmSync(folder, { recursive: true }))
const [currency, iban] = ['CHF', 'CH9300762011623852957']
const none = { lines: undefined, bic: undefined }
await banks.addBank({ ...none, bankName: 'own', currency, holder: 'Shop', iban }, 'test')
const page = '/money/banks/own'
const reason = 'first week'

const tillgate = (...args: string[]) => runCommand(databaseOf(gateway), args)
const told = (path: string, fields: Record<string, string>) =>
  admin.told(`${page}/${path}`, { currency, reason, formId: randomUUID(), ...fields }, { on: page })

test('the page of a bank account sets its opening balance, and shows it', async () => {
  assert.match(
    (await admin.get(page)).text,
    /Set the opening balance….*Owner’s deposit….*Owner’s withdrawal….*Sweep fees…/s,
  )
  const opening = { amount: '1000', day: '2026-01-05', formId: randomUUID() }
  for (const _ of [1, 2])
    assert.match(
      await told('opening-balance', opening),
      /own opened with 1000 CHF on 2026-01-05\.|This was already done/,
    )
  assert.match((await admin.get(page)).text, /Opening balance 2026-01-05.*1[^0-9]000\.00/s)
  assert.match(
    await told('opening-balance', { ...opening, formId: randomUUID() }),
    /own already has an opening balance in CHF\. Reverse that transfer first/,
  )
})

test('the owner’s deposits and withdrawals are recorded there, within what is the owner’s', async () => {
  assert.match(
    await told('deposits', { amount: '200.50', reference: 'Founder 1' }),
    /200\.50 CHF is recorded as the owner’s deposit/,
  )
  assert.match(await told('withdrawals', { amount: '2000' }), /Equity has 1200\.50 CHF\. Sweep fees first/)
  assert.match(await told('withdrawals', { amount: '0.50' }), /recorded as the owner’s withdrawal/)
  assert.match(await told('fee-sweeps', {}), /There are 0\.00 CHF of fees to sweep/)
  const { text } = await admin.get(page)
  assert.match(text, /owner deposit.*Founder1/s)
  assert.match((await admin.get('/money')).text, /Equity.*1[^0-9]200\.00/s)
})

test('a viewer sees the account, and records nothing', async () => {
  const viewer = await signedInAs(gateway, 'viewer')
  const { text } = await viewer.get(page)
  assert.match(text, /Opening balance 2026-01-05/)
  assert.doesNotMatch(text, /Owner’s deposit…/)
  const sent = await viewer.post(`${page}/deposits`, { amount: '1', currency, reason }, { on: '/account' })
  assert.equal(sent.status, 403)
})

test('the command line does the same', async () => {
  const money = ['--currency', currency, '--reason', reason]
  const opened = await tillgate(
    'bank',
    'opening-balance',
    'main',
    '--amount=-5',
    '--day',
    '2026-01-05',
    ...money,
  )
  assert.match(opened.out, /main opened with -5 CHF on 2026-01-05/, opened.err)
  const deposited = await tillgate('bank', 'deposit', 'own', '--amount', '10', '--reference', 'R 1', ...money)
  assert.match(deposited.out, /10 CHF is recorded as the owner’s deposit/, deposited.err)
  const withdrawn = await tillgate('bank', 'withdraw', 'own', '--amount', '10', ...money)
  assert.match(withdrawn.out, /10 CHF is recorded as the owner’s withdrawal/, withdrawn.err)
  const swept = await tillgate('bank', 'sweep-fees', 'own', '--from', 'main', ...money)
  assert.match(swept.err, /There are 0\.00 CHF of fees to sweep/)
  assert.match(
    (await tillgate('bank', 'show', 'own', '--json')).out,
    /"openings": \[\s+\{\s+"currency": "CHF",\s+"amount": "1000\.00"/,
  )
})

test('a line of a statement is booked from its break, in the console and on the command line', async () => {
  const day = '2026-01-05'
  const lines = [
    { reference: 'C1', day, amountMinor: -350n, text: 'Account fee' },
    { reference: 'C2', day, amountMinor: 12n, text: 'Interest' },
  ]
  const file = join(folder, 'statement.xml')
  const span = { from: day, through: day, openingMinor: 100_000n } as const
  writeFileSync(file, camt053({ iban, currency, version: 8, ...span, lines }))
  const imported = await tillgate('reconcile', 'import', file, '--reason', reason)
  assert.equal(imported.code, 0, imported.err)
  const open = await reconciliation.breaks.listBreaks(
    { status: 'open', account: 'bank:own' },
    { skip: 0, limit: 10 },
  )
  const [charge, interest] = open.map(({ breakId }) => breakId)
  const at = `/reconciliation/breaks/${charge}`
  assert.match(
    (await admin.get(at)).text,
    /3\.50 CHF went out\. The line is booked as the type that you choose/,
  )
  const booking = { as: 'bank_charge', reason, formId: randomUUID() }
  assert.match(await admin.told(`${at}/book-as`, booking, { on: at }), /The line is booked as bank charge/)
  const booked = await tillgate(
    'reconcile',
    'book-as',
    interest ?? '',
    '--as',
    'interest',
    '--reason',
    reason,
  )
  assert.match(booked.out, /The line is booked as interest/, booked.err)
  const of = { account: 'bank:own', currency }
  const closed = await reconciliation.days.closeDay(of, day, 'week')
  assert.deepEqual(
    closed.map(({ outsideMinor, unexplainedMinor }) => [outsideMinor, unexplainedMinor]),
    [[99_662n, 0n]],
  )
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})

test('a bank account is one line: what the books expect, what the statement shows, and whether both agree', async () => {
  const row = async (at: string) =>
    (await admin.get(at)).text.match(/<tr>(?:(?!<\/tr>).)*CHF(?:(?!<\/tr>).)*<\/tr>/gs)?.map((each) =>
      each
        .replaceAll(/<[^>]+>|\s|&nbsp;/g, ' ')
        .replaceAll(/ +/g, ' ')
        .trim(),
    )
  const agrees = /^own Open CH93.* CHF 1,196\.62 996\.62 2026-01-05 Agrees$/
  const onMoney = await row('/money')
  assert(
    onMoney?.some((each) => agrees.test(each)),
    JSON.stringify(onMoney),
  )
  assert.match((await row(page))?.[0] ?? '', /^CHF 1,196\.62 996\.62 2026-01-05 Agrees$/)
  const shown = await tillgate('bank', 'show', 'own', '--json')
  assert.match(shown.out, /"booked": "1196\.62",\s+"statementDay": "2026-01-05",\s+"statement": "996\.62"/)
})

test('days that are unexplained for want of an opening balance say so, until it is set', async () => {
  const ibanOfAnother = 'CH5604835012345678009'
  await banks.addBank({ ...none, bankName: 'another', currency, holder: 'Shop', iban: ibanOfAnother }, 'test')
  const file = join(folder, 'another.xml')
  const span = { from: '2026-01-05', through: '2026-01-06', openingMinor: 30_000n, lines: [] } as const
  writeFileSync(file, camt053({ iban: ibanOfAnother, currency, version: 8, ...span }))
  const imported = await tillgate('reconcile', 'import', file, '--reason', reason)
  assert.equal(imported.code, 0, imported.err)
  const days = `/reconciliation/days?account=bank%3Aanother&currency=${currency}&month=2026-01`
  const hint =
    /no opening balance in CHF.*on 2026-01-05, <a href="\/money\/banks\/another">set its opening balance/
  assert.match((await admin.get(days)).text, hint)
  assert.match((await admin.get('/money')).text, /300\.00<\/span> unexplained/)
  const at = '/money/banks/another'
  const opening = { amount: '300', currency, day: '2026-01-05', reason, formId: randomUUID() }
  await admin.told(`${at}/opening-balance`, opening, { on: at })
  assert.doesNotMatch((await admin.get(days)).text, /no opening balance/)
})

test('unknown money that is parked is listed until it is released, and its transfer is offered', async () => {
  const iban = 'CH3908704016075473007'
  await banks.addBank({ ...none, bankName: 'unknown', currency, holder: 'Shop', iban }, 'test')
  const day = '2026-01-05'
  const span = { from: day, through: day, openingMinor: 0n } as const
  const line = { reference: 'U1', day, amountMinor: 9_500n, text: 'for <Ada>'.replaceAll('<', '&lt;') }
  const file = join(folder, 'unknown.xml')
  writeFileSync(file, camt053({ iban, currency, version: 8, ...span, lines: [line] }))
  const imported = await tillgate('reconcile', 'import', file, '--reason', reason)
  assert.equal(imported.code, 0, imported.err)
  const [found] = await reconciliation.breaks.listBreaks(
    { status: 'open', account: 'bank:unknown' },
    { skip: 0, limit: 10 },
  )
  const at = `/reconciliation/breaks/${found?.breakId}`
  const parked = await admin.told(`${at}/park`, { reason, formId: randomUUID() }, { on: at })
  assert.match(parked, /The money is in suspense/)
  const { text: settled } = await admin.get(at)
  assert.match(settled, /contained no matching transfer when the break was found.*Was unexplained/s)
  const { text: overview } = await admin.get('/overview')
  assert.match(overview, /href="\/money\/corrections".*Money in suspense: 95\.00 CHF/s)
  const corrections = '/money/corrections'
  const listed = async () =>
    /<h2>Unknown money in suspense.*?<\/table>/s.exec((await admin.get(corrections)).text)?.[0]
  const before = (await listed()) ?? ''
  assert.match(before, /95\.00.*for &lt;Ada>|95\.00.*for &lt;Ada&gt;/s)
  const [, transferId = ''] = /<code>(T[0-9A-Z]{26})<\/code>/.exec(before) ?? []
  assert((await admin.get(corrections)).text.includes(`<option value="${transferId}">95.00 CHF`))
  const release = { transferId, bank: 'unknown', reason }
  assert.match(before, /send-back.*name="transferId" value="T[0-9A-Z]{26}".*name="amount" value="95\.00"/s)
  assert.doesNotMatch(before, /To the merchant…/)
  const some = { ...release, amount: '20', formId: randomUUID() }
  await admin.told(`${corrections}/send-back`, some, { on: corrections })
  assert.match((await listed()) ?? '', /75\.00/)
  await admin.told(`${corrections}/send-back`, { ...release, formId: randomUUID() }, { on: corrections })
  assert.equal(await listed(), undefined)
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})
