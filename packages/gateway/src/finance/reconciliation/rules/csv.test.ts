import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CsvMapping, checkMapping, makeCsvReader } from './csv.ts'
import type { StatementLine } from './statement.ts'

const columns: CsvMapping = {
  separator: ';',
  decimalSign: ',',
  dayForm: 'DD.MM.YYYY',
  sign: 'as_written',
  day: 'Tag',
  amount: 'Betrag',
  currency: 'EUR',
  references: ['Ref'],
}

function read(text: string, mapping: CsvMapping = columns, piece = text.length, batches = false) {
  const reader = makeCsvReader(mapping, { batches })
  const items = []
  for (let at = 0; at < text.length; at += piece) items.push(...reader.write(text.slice(at, at + piece)))
  return [...items, ...reader.end()]
}

const linesOf = (...given: Parameters<typeof read>): StatementLine[] =>
  read(...given).flatMap((item) => (item.kind === 'line' ? [item.line] : []))

test('amounts may have either decimal separator, groups, signs or parentheses, and days have their format', () => {
  const [a, b, c] = linesOf(
    'Tag;Betrag;Ref\r\n16.11.2026;1.234,5;A1\r\n17.11.2026;-0,07;B2\r\n\r\n18.11.2026 09:30;(3);"C;""3"""',
  )
  assert.deepEqual(
    [a?.amountMinor, a?.day, b?.amountMinor, c?.amountMinor, c?.day, c?.entryReference, c?.lineNumber],
    [123_450n, '2026-11-16', -7n, -300n, '2026-11-18', 'C;"3"', 5],
  )
})

test('thousands are grouped by any usual separator, in groups of three digits', () => {
  const amountOf = (amount: string, decimalSign: CsvMapping['decimalSign']) =>
    linesOf(`Tag;Betrag;Ref\n16.11.2026;${amount};a`, { ...columns, decimalSign })[0]?.amountMinor
  const comma = ['1.234.567,80', '1 234 567,8', '1\u202f234\u202f567,80', "1'234'567,80", '1’234’567,80']
  for (const amount of comma) assert.equal(amountOf(amount, ','), 123_456_780n, amount)
  assert.equal(amountOf('1,234,567.80', '.'), 123_456_780n)
  assert.equal(amountOf('- 1.234', ','), -123_400n)
  assert.equal(amountOf('( 1 234 )', ','), -123_400n)
  assert.equal(amountOf('1234567,80', ','), 123_456_780n)
  assert.equal(amountOf(',5', ','), 50n)

  const refused: [string, CsvMapping['decimalSign']][] = [
    ['12.50', ','],
    ['12,50', '.'],
    ['1.2345', ','],
    ['1234.567', ','],
    ['0.500', ','],
    ['1.234 567', ','],
    ['1,234.567', ','],
    ['12,50,00', ','],
    ['12 50', ','],
    [',', ','],
  ]
  for (const [amount, decimalSign] of refused)
    assert.throws(
      () => amountOf(amount, decimalSign),
      { message: /^Line 2: .* is not an amount such as .*Change the mapping’s decimal sign/ },
      amount,
    )
})

test('a quoted cell may contain separators and line breaks, and the file may be split at any byte', () => {
  const text = 'Tag;Betrag;Ref\n16.11.2026;1,00;"a;\nb"\n17.11.2026;2,00;x\n'
  for (const piece of [1, 3, 10]) assert.deepEqual(read(text, columns, piece), read(text))
  assert.deepEqual(
    linesOf(text).map(({ lineNumber }) => lineNumber),
    [2, 4],
  )
})

test('a column may hold the direction, and lines may be excluded by a value', () => {
  const mapping: CsvMapping = {
    ...columns,
    sign: 'column',
    direction: 'Art',
    outWord: 'S',
    skipColumn: 'Typ',
    skipWords: ['sum'],
  }
  const items = read(
    'Tag;Betrag;Ref;Art;Typ\n16.11.2026;1,00;a;S;\n16.11.2026;1,00;b;H;\n16.11.2026;9,00;c;H;sum\n',
    mapping,
  )
  assert.deepEqual(
    items.map((item) => (item.kind === 'line' ? item.line.amountMinor : item.kind)),
    ['account', -100n, 100n, 'skipped'],
  )
})

test('with a direction column, a minus sign must agree with it', () => {
  const mapping: CsvMapping = { ...columns, sign: 'column', direction: 'Art', outWord: ' Soll' }
  const of = (amount: string, word: string) =>
    linesOf(`Tag;Betrag;Ref;Art\n16.11.2026;${amount};a;${word}`, mapping)[0]?.amountMinor
  assert.deepEqual(
    [of('12,50', 'Soll'), of('-12,50', 'Soll'), of('(12,50)', ' SOLL '), of('12,50', 'soll')],
    [-1250n, -1250n, -1250n, -1250n],
  )
  assert.equal(of('12,50', 'Haben'), 1250n)
  assert.throws(() => of('-12,50', 'Haben'), {
    message: /^Line 2: the amount is below zero, and "Art" says "Haben", not " Soll"\..* as_written/,
  })
})

test('a rail’s payout is named by a column, or is that of the day', () => {
  const text = 'Tag;Betrag;Ref;Gebühr;Sammler\n16.11.2026;10,00;a;0,30;S1\n17.11.2026;5,00;b;;\n'
  const [a, b] = linesOf(text, { ...columns, fee: 'Gebühr', batch: 'Sammler' }, text.length, true)
  assert.deepEqual([a?.feeMinor, a?.batch, b?.feeMinor, b?.batch], [30n, 'S1', 0n, '2026-11-17'])
})

test('a rail may write fees as negative; refunded fees are then positive', () => {
  const text =
    'Tag;Betrag;Ref;Gebühr\n16.11.2026;10,00;a;-0,30\n16.11.2026;-10,00;b;0,30\n16.11.2026;0,00;dispute;-15,00\n'
  const read = linesOf(text, { ...columns, fee: 'Gebühr', feeSign: 'reversed' }, text.length, true)
  assert.deepEqual(
    read.map(({ amountMinor, feeMinor }) => [amountMinor, feeMinor]),
    [
      [1_000n, 30n],
      [-1_000n, -30n],
      [-1_500n, 0n],
    ],
  )
  assert.throws(() => checkMapping({ ...columns, feeSign: 'reversed' }), /Enter the fee column/)
})

test('a fee without a payment is a line of its own, so that its batch adds up', () => {
  const text =
    'Tag;Betrag;Ref;Gebühr\n16.11.2026;100,00;a;1,00\n16.11.2026;0,00;dispute;15,00\n16.11.2026;0,00;b;0,00\n16.11.2026;0,00;c;\n'
  for (const sign of ['as_written', 'reversed'] as const) {
    const items = read(text, { ...columns, sign, fee: 'Gebühr' }, text.length, true)
    const gross = sign === 'reversed' ? -10_000n : 10_000n
    assert.deepEqual(
      items.map((item) =>
        item.kind === 'line' ? [item.line.amountMinor, item.line.feeMinor, item.line.batch] : item.kind,
      ),
      ['account', [gross, 100n, '2026-11-16'], [-1500n, 0n, '2026-11-16'], 'skipped', 'skipped'],
    )
  }
})

test('cells beyond the headings are rejected unless empty', () => {
  const mapping: CsvMapping = { ...columns, separator: ',', decimalSign: '.' }
  const of = (head: string, row: string) => linesOf(`${head}\n${row}`, mapping)[0]?.amountMinor
  assert.equal(of('Tag,Ref,Betrag', '16.11.2026,a,"1,234.50", ,'), 123_450n)
  for (const head of ['Tag,Ref,Betrag,Text', 'Tag,Ref,Betrag,Text,'])
    assert.throws(() => of(head, '16.11.2026,a,1,234.50,x'), {
      message: /^Line 2: "x" is after the last of 4 headings\. Quote cells .*\(,\)/,
    })
})

test('money out may have its own column, with positive or negative amounts', () => {
  const of = (rows: string, sign: CsvMapping['sign']) =>
    linesOf(`Tag;Ref;Haben;Soll\n${rows}`, { ...columns, amount: 'Haben', amountOut: 'Soll', sign }).map(
      ({ amountMinor }) => amountMinor,
    )
  const day = '16.11.2026'
  assert.deepEqual(of(`${day};a;12,50;\n${day};b;;3,00\n${day};c;0,00;4,00\n${day};d;;-1,00`, 'as_written'), [
    1250n,
    -300n,
    -400n,
    100n,
  ])
  assert.deepEqual(of(`${day};a;12,50;0,00\n${day};b;;-3,00`, 'reversed'), [1250n, -300n])
  assert.throws(() => of(`${day};a;12,50;x`, 'as_written'), /^Failure: Line 2: "x" is not an amount/)
  assert.throws(
    () => checkMapping({ ...columns, sign: 'column', direction: 'a', outWord: 'b', amountOut: 'Soll' }),
    /or the one for money out/,
  )
})

test('lines above the headings are skipped, and a file without headings is rejected', () => {
  const above = 'Konto: 4711;Von 1.11. bis 16.11.\n;;\nSaldo;;"1.000,00"\n'
  const [line] = linesOf(`${above}Tag;Betrag;Ref\n16.11.2026;1,00;a\n`)
  assert.deepEqual([line?.amountMinor, line?.lineNumber], [100n, 5])
  assert.throws(() => read(`${above}Tag;Betrag\n16.11.2026;1,00\n`), {
    message: /^Line 4: there is no column "Ref"\. There are: Tag, Betrag\./,
  })
  assert.throws(() => read('16.11.2026;1,00;a\n'.repeat(100)), { message: /^Line 1: there is no column/ })
})

test('a two-digit year is accepted, but not half of a four-digit year', () => {
  const dayOf = (day: string, dayForm: CsvMapping['dayForm']) =>
    linesOf(`Tag;Betrag;Ref\n${day};1,00;a`, { ...columns, dayForm })[0]?.day
  assert.equal(dayOf('16.11.26', 'DD.MM.YY'), '2026-11-16')
  assert.equal(dayOf('16/11/26 09:30', 'DD/MM/YY'), '2026-11-16')
  assert.equal(dayOf('11/16/26', 'MM/DD/YY'), '2026-11-16')
  assert.throws(() => dayOf('16.11.2026', 'DD.MM.YY'), {
    message: /^Line 2: "16\.11\.2026" is not a calendar date/,
  })
})

test('a repeated heading is rejected if the mapping names it', () => {
  const row = '16.11.2026;1,00;a;900,00'
  assert.throws(() => read(`Tag;Betrag;Ref; Betrag\n${row}`), {
    message: /^Line 1: the column "Betrag" exists twice/,
  })
  assert.equal(linesOf(`Tag;Betrag;Ref;Text;Text\n${row};x`)[0]?.amountMinor, 100n)
})

test('hostile and broken files are rejected with the line number', () => {
  const cases: [string, RegExp][] = [
    ['', /the file is empty/],
    ['Datum,Betrag', /^Line 1: there is no column "Tag", "Betrag", "Ref"\. There are: Datum,Betrag/],
    [`${'a;'.repeat(1_000_000)}\n`, /more than 200 columns|longer than/],
    ['Tag;Betrag;Ref\n16.11.2026;1,00;"never closed', /^Line 2: a quote is opened/],
    [`Tag;Betrag;Ref\n"${'x'.repeat(70_000)}`, /^Line 2: longer than 65536/],
    ['Tag;Betrag;Ref\n16.11.2026;one;a', /^Line 2: "one" is not an amount such as 1\.234,50/],
    ['Tag;Betrag;Ref\n2026-11-16;1,00;a', /^Line 2: .* is not a calendar date/],
    ['Tag;Betrag;Ref\n31.11.2026;1,00;a', /^Line 2: "2026-11-31" is not a calendar date/],
  ]
  for (const [text, message] of cases) assert.throws(() => read(text), { message }, text.slice(0, 40))
})

test('an incomplete mapping is rejected', () => {
  assert.throws(() => checkMapping({ ...columns, sign: 'column' }), /column for the direction and its word/)
  assert.throws(() => checkMapping({ ...columns, skipColumn: 'Typ' }), /both the column and its words/)
  assert.throws(() => checkMapping({ ...columns, references: [] }), /columns with references/)
})
