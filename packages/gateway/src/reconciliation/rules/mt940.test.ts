import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf } from './decode.ts'
import { makeMt940Reader } from './mt940.ts'
import type { StatementItem, StatementLine } from './statement.ts'

function read(text: string, piece = text.length): StatementItem[] {
  const reader = makeMt940Reader()
  const items: StatementItem[] = []
  for (let at = 0; at < text.length; at += piece) items.push(...reader.write(text.slice(at, at + piece)))
  return [...items, ...reader.end()]
}

const statement = (entries: string) =>
  `:20:S1\r\n:25:DE89370400440532013000EUR\r\n:28C:12/1\r\n:60F:C261115EUR100,\r\n${entries}\r\n:62F:D261116EUR12,5\r\n-\r\n`
const linesOf = (entries: string): StatementLine[] =>
  read(statement(entries)).flatMap((item) => (item.kind === 'line' ? [item.line] : []))
const lineOf = (entries: string) => linesOf(entries)[0]

test('a statement has its account, its entries and the balance at its end, wherever it is cut', () => {
  const text = statement(':61:2611161117C12,50NTRFT01//B7\r\n:86:Order 47110\r\n:61:261116D7,NCHGNONREF')
  const items = read(text)
  assert.deepEqual(items[0], { kind: 'account', number: 'DE89370400440532013000', lineNumber: 2 })
  assert.deepEqual(items.at(-1), {
    kind: 'balance',
    balance: { day: '2026-11-16', currency: 'EUR', amountMinor: -1250n },
    lineNumber: 8,
  })
  const [first, second] = linesOf(text.split('\r\n').slice(4, 7).join('\r\n'))
  assert.deepEqual(
    [first?.day, first?.valueDay, first?.amountMinor, first?.entryReference, first?.references],
    ['2026-11-17', '2026-11-16', 1250n, 'B7', ['T01', 'B7', '47110']],
  )
  assert.deepEqual([second?.amountMinor, second?.entryReference, second?.references], [-700n, undefined, []])
  for (const piece of [1, 2, 7, 64]) assert.deepEqual(read(text, piece), items)
})

test('the envelope of SWIFT and what some banks write above are no part of it, and several may follow each other', () => {
  const enveloped = `{1:F01BANKXXXX}{2:I940X}{4:\r\n${statement(':61:261116C1,NTRFA').replace('\r\n-\r\n', '\r\n-}\r\n')}`
  const headed = `BANKNL2A\n940\nBANKNL2A\n${statement(':61:261116C1,NTRFA')}`
  for (const text of [enveloped, headed]) {
    assert.equal(formatOf(Buffer.from(text)), 'mt940')
    assert.equal(read(text + text).filter(({ kind }) => kind === 'line').length, 2)
  }
  assert.equal(formatOf(Buffer.from('Date;Amount\n2026-11-16;1')), 'csv')
})

test('what was reversed goes the other way, and a day of booking is in the year nearest to that of value', () => {
  assert.equal(lineOf(':61:270230C5,NTRFA')?.valueDay, '2027-02-28')
  assert.deepEqual(
    linesOf(':61:261231RC5,NTRFA\n:61:261231RD5,NTRFA\n:61:2612310102CR5,NTRFA\n:61:2701021231D5,NTRFA').map(
      ({ amountMinor, day }) => [amountMinor, day],
    ),
    [
      [-500n, '2026-12-31'],
      [500n, '2026-12-31'],
      [500n, '2027-01-02'],
      [-500n, '2026-12-31'],
    ],
  )
})

test('the 30th of February, and the 29th where there is none, is its last day, of value and of booking', () => {
  const days = { '2702280230': '2027-02-28', '2702300230': '2027-02-28', '2703010229': '2027-02-28' }
  for (const [written, day] of Object.entries({ ...days, '2803010229': '2028-02-29' }))
    assert.equal(lineOf(`:61:${written}C5,NTRFA`)?.day, day, written)
  assert.throws(() => lineOf(':61:2702280231C5,NTRFA'), /"2027-02-31" is no day/)
})

test('a line of text may begin with a dash; one that is alone, or with a bracket, ends the message', () => {
  const entries = ':61:261116C5,NTRFNONREF\r\n:86:THANKS\r\n- ORDER\r\n-T0123456'
  assert.equal(lineOf(entries)?.description, 'THANKS - ORDER -T0123456')
  assert(lineOf(entries)?.references.includes('T0123456'))
  for (const end of ['-', '- ', '-}', '-}{5:{CHK:1}}', '{5:{CHK:1}}'])
    assert.equal(lineOf(`${entries}\r\n${end}\r\nBANKNL2A`)?.description, 'THANKS - ORDER -T0123456', end)
})

test('references, text and names are found in the ways that banks write them', () => {
  const german = lineOf(
    ':61:261116C5,NTRFNONREF\n:86:166?00CREDIT?20EREF+T01K73ZQ80?210ABC?22SVWZ+ORDER RF71 0ZZ1 2345 ?236789 ABCD E?32ADA EX?33AMPLE',
  )
  assert.deepEqual(
    [german?.references.includes('T01K73ZQ800ABC'), german?.party, german?.description],
    [true, 'ADA EXAMPLE', 'ORDER RF71 0ZZ1 2345 6789 ABCD E'],
  )
  const dutch = lineOf(
    ':61:261116C5,NTRFEREF\n:86:/EREF/T01K73ZQ800ABC//CNTP/NL47INGB9999999999/INGBNL2A/Ada///REMI/USTD//Order\n 4711/',
  )
  assert.deepEqual(
    [dutch?.references.includes('T01K73ZQ800ABC'), dutch?.party, dutch?.description],
    [true, 'Ada', 'Order 4711'],
  )
  const plain = lineOf(':61:261116C5,NTRFNONREF\n:86:PAYMENT FOR ORD-47\n11 THANK YOU')
  assert(plain?.references.includes('ORD-4711'))
  assert.equal(lineOf(':61:261116C5,NTRFNONREF\n:86:159?00RETURN?20SVWZ+AC04')?.isReturn, true)
})

test('what is no statement, or cut off, is refused by its line', () => {
  const cases: [string, RegExp][] = [
    [':20:S1\n:25:1', /Line 2: a statement has no closing balance/],
    [':20:S1\n:60F:X', /Line 2: "X" is no balance/],
    [':20:S1\n:61:261116C5,NTRFA\n:62F:C261116EUR1,', /Line 2: an entry .* before the opening balance/],
    [statement(':61:nothing'), /Line 5: "nothing" is no entry/],
    [statement(':61:261399C5,NTRFA'), /Line 5: .* is no day/],
    [statement(':61:261116C5,123NTRFA'), /Line 5: .*5\.123/],
    [`:20:${'x'.repeat(10_000)}`, /Line 1: this is no MT940/],
    [`:20:S1\n${'x\n'.repeat(10_000)}`, /this is no MT940/],
    ['-\n', /there is no statement/],
  ]
  for (const [text, message] of cases) assert.throws(() => read(text), { message }, text.slice(0, 40))
})
