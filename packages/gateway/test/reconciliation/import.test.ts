// Statements are imported once, whole or not at all: the same file, the same entry in another file, two who send it at once,
// and files that are broken or hostile, which change nothing.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import {
  type BankLine,
  camt053,
  continentalColumns,
  continentalCsv,
} from '../../../../reliability/reconciliation/statement-files.ts'
import type { StatementFile } from '../../src/finance/reconciliation/read-file.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-12-01T08:00:00Z'))
const money = openMoney(pool, { clock })
const { reconciliation, banks } = actingAs(money.operations, 'test')
const iban = 'DE89370400440532013000'
await banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')

afterEach(async () => assert.deepEqual(await money.verify(), []))

const lines: readonly BankLine[] = [
  { reference: 'B1', day: '2026-11-02', amountMinor: 100n, text: 'one' },
  { reference: 'B1', day: '2026-11-02', amountMinor: 100n, text: 'one' },
  { reference: 'B2', day: '2026-11-03', amountMinor: -250n, text: 'two' },
]
const more = [{ reference: 'B3', day: '2026-11-04', amountMinor: 9n, text: 'three' }, ...lines]
const statement = (of: readonly BankLine[], openingMinor = 0n) => {
  const days = of.map(({ day }) => day).toSorted()
  const [from = '', through = ''] = [days[0], days.at(-1)]
  return camt053({ iban, currency: 'EUR', version: 4, from, through, openingMinor, lines: of })
}
const send = (file: StatementFile, mapping?: string) =>
  reconciliation.importStatement({ file, mapping, reason: 'test' })

async function stored(): Promise<number[]> {
  const { rows } = await pool.query<Record<string, string>>(
    `select (select count(*) from statement_imports) as a, (select count(*) from statement_lines) as b,
            (select count(*) from outside_accounts) as c, (select count(*) from reconciliation_breaks) as d,
            (select count(*) from audit where act like 'reconcile.%') as e`,
  )
  return Object.values(rows[0] ?? {}).map(Number)
}

test('what cannot be read gets an error that says what to change, and changes nothing', async () => {
  const text = statement(lines)
  const before = await stored()
  const cases: [string | Buffer, RegExp][] = [
    ['', /empty/],
    [
      '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><Document>&b;</Document>',
      /document type/,
    ],
    ['<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><Document/>', /document type/],
    [text.slice(0, text.length / 2), /Line \d+: this is not well-formed XML/],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), /UTF-16/],
    [Buffer.from(text.replace('UTF-8', 'EBCDIC-CP-US')), /written in EBCDIC-CP-US/],
    [
      Buffer.concat([
        Buffer.from(text.slice(0, 300)),
        Buffer.from([0xff, 0xfe]),
        Buffer.from(text.slice(300)),
      ]),
      /not UTF-8/,
    ],
    [
      text.replace(iban, 'DE02120300000000202051'),
      /no bank account or rail has the number DE02120300000000202051/,
    ],
    [
      text.replace('2026-11-03</Dt></BookgDt>', '2026-11-99</Dt></BookgDt>'),
      /Line \d+: "2026-11-99" is not a calendar date/,
    ],
    ['day;amount\n1;2\n', /choose a mapping/],
    [`${'a,'.repeat(1_000_000)}\n`, /choose a mapping/],
  ]
  for (const [content, message] of cases)
    await assert.rejects(send(binary(content)), { message }, String(content).slice(0, 40))
  assert.deepEqual(await stored(), before)
})

function binary(content: string | Buffer): StatementFile {
  return {
    name: 'hostile',
    async *open() {
      yield Buffer.from(content)
    },
  }
}

test('a statement is of the account that it names, unless nobody here has that number', async () => {
  const other = 'DE75512108001245126199'
  const details = { holder: 'Operator', iban: other, lines: undefined, bic: undefined }
  await banks.addBank({ bankName: 'second', currency: undefined, ...details }, 'test')
  await banks.addBank({ bankName: 'same', currency: undefined, ...details }, 'test')
  const given = (number: string, account: string) => ({
    file: fileOf('named.sta', mt940(number)),
    account,
    reason: 'test',
  })
  for (const send of [reconciliation.importStatement, reconciliation.dryRun])
    await assert.rejects(send(given(other, 'bank:main')), {
      message: `Line 2: the statement is for ${other}, which belongs to bank:same, not bank:main. Choose bank:same, or no account.`,
    })
  for (const national of ['51210800/1245126199', '51210800/1245126199EUR'])
    await assert.rejects(reconciliation.dryRun(given(national, 'bank:main')), {
      message: `Line 2: the statement is for ${national}, which belongs to bank:same, not bank:main. Choose bank:same, or no account.`,
    })
  for (const [number, account] of [
    [iban, 'bank:main'],
    [other, 'bank:second'],
    [other, 'bank:same'],
    ['51210800/1245126199', 'bank:second'],
    ['37040044/532013000', 'bank:main'],
    ['50010517/1245126199', 'bank:main'],
  ] as const)
    assert.deepEqual((await reconciliation.dryRun(given(number, account))).accounts, [account])
  const unnamed = { file: fileOf('national.sta', mt940('37040044/0532013000')), reason: 'test' }
  assert.deepEqual((await reconciliation.dryRun(unnamed)).accounts, ['bank:main'])
})

test('a day that is in the future, or a currency that the account does not hold, is refused in every format', async () => {
  const number = 'NL91ABNA0417164300'
  await banks.addBank(
    {
      bankName: 'euros',
      holder: 'Operator',
      iban: number,
      currency: 'EUR',
      lines: undefined,
      bic: undefined,
    },
    'test',
  )
  const mappingName = 'euros'
  const columns = { ...continentalColumns, currency: 'USD', fee: undefined, batch: undefined }
  await reconciliation.mappings.saveMapping(
    { mappingName, account: 'bank:euros', settlesTo: undefined, columns },
    'test',
  )
  const before = await stored()
  const camt = (day: string, currency = 'EUR') =>
    camt053({
      ...{ iban: number, currency, version: 4, from: '2026-11-02', through: '2026-11-02', openingMinor: 0n },
      lines: [{ reference: 'F1', day, amountMinor: 100n, text: 'one' }],
    } as const)
  const csv = (day: string) =>
    `Reference;Order;Date;Gross;Fee;Payout\r\nF1;;${day.split('-').reverse().join('.')};1,00;0,00;\r\n`
  const cases: [string, RegExp, mapping?: string][] = [
    [camt('2062-11-02'), /^Line \d+: 2062-11-02 is in the future\. Correct the day\.$/],
    [camt('2026-11-02').replaceAll('2026-11-02', '2026-12-04'), /^Line \d+: 2026-12-04 is in the future/],
    [mt940(number).replace('62F:C261102', '62F:C271102'), /^Line 6: 2027-11-02 is in the future/],
    [mt940(number).replace('61:261102', '61:271102'), /^Line 5: 2027-11-02 is in the future/],
    [
      csv('2062-11-02'),
      /^Line 2: 2062-11-02 is in the future\. Correct the day, or the date format of the mapping euros\.$/,
      mappingName,
    ],
    [
      camt('2026-11-02', 'USD'),
      /^Line \d+: it is in USD, and bank:euros holds EUR\. Import it into an account that holds USD\.$/,
    ],
    [mt940(number).replaceAll('EUR', 'CHF'), /^Line \d: it is in CHF, and bank:euros holds EUR/],
    [csv('2026-11-02'), /^Line 2: it is in USD, and bank:euros holds EUR/, mappingName],
  ]
  for (const [content, message, mapping] of cases) {
    const given = { file: fileOf('days', content), mapping, reason: 'test' }
    for (const send of [reconciliation.dryRun, reconciliation.importStatement])
      await assert.rejects(send(given), { message }, content)
  }
  assert.deepEqual(await stored(), before)
  // Where the bank is it may be tomorrow.
  const tomorrow = { file: fileOf('days', camt('2026-12-02')), reason: 'test' }
  assert.equal((await reconciliation.dryRun(tomorrow)).lastDay, '2026-12-02')
})

function mt940(number: string): string {
  return `:20:S1\n:25:${number}\n:28C:12/1\n:60F:C261101EUR100,\n:61:2611021102C12,50NTRFA\n:62F:C261102EUR112,5\n-\n`
}

test('a file that changes between its two readings is refused, and changes nothing', async () => {
  const before = await stored()
  let readings = 0
  const file: StatementFile = {
    name: 'changing.sta',
    async *open() {
      yield Buffer.from(mt940(iban).replace('12,50', `1${readings++},50`))
    },
  }
  await assert.rejects(send(file), { message: 'The file changed while it was read. Import it again.' })
  assert.deepEqual(await stored(), before)
})

test('an account begins at the oldest day of its first file, in whatever order the file is written', async () => {
  const columns = { ...continentalColumns, fee: undefined, batch: undefined }
  const mapping = { mappingName: 'newest', account: 'bank:second', settlesTo: undefined, columns }
  await reconciliation.mappings.saveMapping(mapping, 'test')
  const rows = Array.from({ length: 2_500 }, (_, index) => ({
    reference: `N${index}`,
    transactionId: '',
    day: index < 1_800 ? '2026-11-16' : index < 2_400 ? '2026-11-02' : '2026-11-09',
    amountMinor: 100n,
    feeMinor: 0n,
    batch: '',
  }))
  // In pieces, as a disk gives it.
  const bytes = Buffer.from(continentalCsv(rows, 'EUR'))
  const file: StatementFile = {
    name: 'newest-first.csv',
    async *open() {
      for (let at = 0; at < bytes.length; at += 4_096) yield bytes.subarray(at, at + 4_096)
    },
  }
  await send(file, 'newest')
  const { rows: accounts } = await pool.query(
    `select start_day::text as start, seen_through::text as seen from outside_accounts where account = 'bank:second'`,
  )
  assert.deepEqual(accounts, [{ start: '2026-11-02', seen: '2026-11-16' }])
  const month = await reconciliation.days.listMonth({ account: 'bank:second', currency: 'EUR' }, '2026-11')
  const [first, last] = ['2026-11-02', '2026-11-16'].map((each) => month.find(({ day }) => day === each))
  assert.equal(first?.outsideMinor, 60_000n)
  // A day has the breaks that were open by then, and none of a later day.
  assert.deepEqual([first?.breaks, last?.breaks], [600, 2_500])
})

test('two who send the same file at once import it once', async () => {
  const file = fileOf('november.xml', statement(lines))
  const both = await Promise.all([send(file), send(file)])
  assert.deepEqual(both.map(({ isRepeated }) => isRepeated).toSorted(), [false, true])
  assert.equal((await send(file)).isRepeated, true)
  const { rows } = await pool.query("select 1 from statement_lines where account = 'bank:main'")
  assert.equal(rows.length, 3)
})

test('the same entry in another file is the same line, and two that are alike in one file are two', async () => {
  const { statement: made } = await send(fileOf('more.xml', statement(more)))
  assert.deepEqual([made.lines, made.known], [1, 3])
})

test('a line that comes after its day was closed lands in the next, and the closed day stays as it is', async () => {
  const of = { account: 'bank:main', currency: 'EUR' }
  const { days } = reconciliation
  const closed = await days.closeDay(of, '2026-11-03', 'test')
  assert.equal(closed.at(-1)?.unexplainedMinor, -50n)
  const late = { reference: 'B9', day: '2026-11-02', amountMinor: 7n, text: 'forgotten' }
  await send(
    fileOf(
      'late.xml',
      statement([late, { ...late, reference: 'B10', day: '2026-11-05' }], 0n).replace(/<Bal>.*<\/Bal>/, ''),
    ),
  )
  const month = await days.listMonth(of, '2026-11')
  assert.deepEqual(
    month.filter(({ closedAtMs }) => closedAtMs !== undefined),
    closed,
  )
  const { rows } = await pool.query(
    "select accounting_day::text as day from statement_lines where mark like 'B9 %'",
  )
  assert.deepEqual(rows, [{ day: '2026-11-04' }])
  await assert.rejects(days.closeDay(of, '2026-11-02', 'test'), /is closed\. Later items/)
  await assert.rejects(days.closeDay(of, '2026-12-01', 'test'), /has not ended/)
})

test('whoever dies after the import is followed by the worker', async () => {
  await pool.query("update statement_lines set match_id = null, break_id = null where mark like 'B3 %'")
  await pool.query(
    "delete from reconciliation_breaks where line_id in (select line_id from statement_lines where mark like 'B3 %')",
  )
  assert.equal(await money.operations.reconcile(), 1)
  assert.equal(await money.operations.reconcile(), 0)
})

test('whoever dies after the import, and sends the file again, finds it matched', async () => {
  await pool.query("update statement_lines set match_id = null, break_id = null where mark like 'B3 %'")
  await pool.query(
    "delete from reconciliation_breaks where line_id in (select line_id from statement_lines where mark like 'B3 %')",
  )
  const again = await send(fileOf('more.xml', statement(more)))
  assert.deepEqual([again.isRepeated, again.counts.breaks + again.counts.matched], [true, 1])
})

test('what was booked on the day before the first statement is in its opening balance, and is not looked for', async () => {
  const given = { iban: 'DE02120300000000202051', currency: 'EUR', version: 4 } as const
  const details = { holder: 'Operator', iban: given.iban, lines: undefined, bic: undefined }
  await banks.addBank({ bankName: 'third', currency: undefined, ...details }, 'test')
  const walletId = await money.addWallet()
  await money.funds.topUp([{ walletId, currency: 'EUR', amountMinor: 500n }], {
    subject: walletId,
    reason: 'test',
    outside: { bankName: 'third' },
  })
  for (const [day, openingMinor] of [
    ['2026-12-02', 500n],
    ['2026-12-12', 507n],
  ] as const) {
    clock.advance(Date.parse(`${day}T10:00:00Z`) - clock.now())
    const lines = day === '2026-12-02' ? [{ reference: 'T1', day, amountMinor: 7n, text: 'first' }] : []
    await send(fileOf(day, camt053({ ...given, from: day, through: day, openingMinor, lines })))
  }
  await reconciliation.matchLines('bank:third')
  const open = await reconciliation.breaks.listBreaks(
    { status: 'open', account: 'bank:third' },
    { skip: 0, limit: 10 },
  )
  assert.deepEqual(
    open.map(({ kind }) => kind),
    ['missing_here'],
  )
  const [first] = await reconciliation.days.listMonth({ account: 'bank:third', currency: 'EUR' }, '2026-12')
  assert.deepEqual([first?.day, first?.bookMinor, first?.unexplainedMinor], ['2026-12-02', 500n, 7n])
})

test('lines are listed page by page in file order, even if the file is a single line of text', async () => {
  const many = Array.from({ length: 9 }, (_, index) => ({
    reference: `P${index}`,
    day: index % 2 === 0 ? '2026-12-03' : '2026-12-02',
    amountMinor: BigInt(index + 1),
    text: 'paged',
  }))
  const { statement: made } = await send(fileOf('one-line.xml', statement(many).replaceAll('\n', '')))
  const listed: string[] = []
  for (let skip = 0; ; skip += 2) {
    const page = await reconciliation.listMatches(made.importId, { skip, limit: 2 })
    listed.push(...page.map(({ entryReference }) => entryReference ?? ''))
    if (page.length < 2) break
  }
  assert.deepEqual(
    listed,
    many.map(({ reference }) => reference),
  )
})

test('a bank’s reference with blanks is the one that the books name', async () => {
  for (const reference of ['NTRY 17/31', 'NTRY 17/32']) {
    const walletId = await money.addWallet()
    await money.funds.topUp([{ walletId, currency: 'EUR', amountMinor: 333n }], {
      subject: walletId,
      reason: 'test',
      outside: { bankName: 'main', reference },
    })
  }
  const said = { day: '2026-12-12', amountMinor: 333n, text: 'top-up' }
  const { counts } = await send(
    fileOf(
      'blanks.xml',
      statement([
        { ...said, reference: 'NTRY 17/31' },
        { ...said, reference: 'NTRY 17/32' },
      ]),
    ),
  )
  assert.equal(counts.matched, 2)
})

test('a file may hold several accounts that are known by numbers alone', async () => {
  const bank = (number: string) => ({
    holder: 'Operator',
    iban: undefined,
    lines: [number, 'A Bank'],
    bic: undefined,
  })
  await banks.addBank({ ...bank('000-123 4567'), bankName: 'us', currency: 'USD' }, 'test')
  await banks.addBank({ ...bank('7654321'), bankName: 'us-two', currency: 'USD' }, 'test')
  const message = (number: string, reference: string) =>
    `:20:S${number}\n:25:${number}\n:28C:1/1\n:60F:C261115USD0,\n:61:261116C5,NTRFNONREF//${reference}\n:62F:C261116USD5,\n-\n`
  const both = `${message('BANKUS33/1234567', 'U1')}${message('7654321USD', 'U2')}`
  const { statement: imported } = await send(fileOf('numbers.sta', both))
  assert.deepEqual([imported.accounts, imported.lines], [['bank:us', 'bank:us-two'], 2])
  await assert.rejects(
    reconciliation.importStatement({ file: fileOf('x', `${both} `), account: 'bank:us', reason: 'test' }),
    /several accounts/,
  )
  await assert.rejects(
    send(fileOf('x', message('55555555', 'U3'))),
    /no bank account or rail has the number 55555555/,
  )
  await banks.addBank({ ...bank('007654321'), bankName: 'us-three', currency: 'USD' }, 'test')
  await assert.rejects(
    send(fileOf('x', message('7654321', 'U4'))),
    /bank:us-three and bank:us-two both have the number 7654321\. Choose the account/,
  )
})
