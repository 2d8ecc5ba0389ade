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

test('a statement has its account, entries and closing balance, wherever the file is split', () => {
  const text = statement(':61:2611161117C12,50NTRFT01//B7\r\n:86:Order 47110\r\n:61:261116D7,NCHGNONREF')
  const items = read(text)
  assert.deepEqual(items[0], {
    kind: 'account',
    number: 'DE89370400440532013000',
    currency: 'EUR',
    lineNumber: 2,
  })
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

test('the SWIFT envelope and a bank’s preamble are skipped, and several messages may follow each other', () => {
  const enveloped = `{1:F01BANKXXXX}{2:I940X}{4:\r\n${statement(':61:261116C1,NTRFA').replace('\r\n-\r\n', '\r\n-}\r\n')}`
  const headed = `BANKNL2A\n940\nBANKNL2A\n${statement(':61:261116C1,NTRFA')}`
  for (const text of [enveloped, headed]) {
    assert.equal(formatOf(Buffer.from(text)), 'mt940')
    assert.equal(read(text + text).filter(({ kind }) => kind === 'line').length, 2)
  }
  assert.equal(formatOf(Buffer.from('Date;Amount\n2026-11-16;1')), 'csv')
})

test('reversed entries change sign, and a booking day is in the year closest to the value date', () => {
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

test('an impossible 30 or 29 February is the last day of the month', () => {
  const days = { '2702280230': '2027-02-28', '2702300230': '2027-02-28', '2703010229': '2027-02-28' }
  for (const [written, day] of Object.entries({ ...days, '2803010229': '2028-02-29' }))
    assert.equal(lineOf(`:61:${written}C5,NTRFA`)?.day, day, written)
  assert.throws(() => lineOf(':61:2702280231C5,NTRFA'), /"2027-02-31" is not a calendar date/)
})

test('a text line may start with a dash; a dash alone, or with a brace, ends the message', () => {
  const entries = ':61:261116C5,NTRFNONREF\r\n:86:THANKS\r\n- ORDER\r\n-T0123456'
  assert.equal(lineOf(entries)?.description, 'THANKS - ORDER -T0123456')
  assert(lineOf(entries)?.references.includes('T0123456'))
  for (const end of ['-', '- ', '-}', '-}{5:{CHK:1}}', '{5:{CHK:1}}'])
    assert.equal(lineOf(`${entries}\r\n${end}\r\nBANKNL2A`)?.description, 'THANKS - ORDER -T0123456', end)
})

test('references, text and names are read in the formats of different banks', () => {
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

test('text that is not a statement, or is cut off, is rejected with the line number', () => {
  const cases: [string, RegExp][] = [
    [':20:S1\n:25:1', /Line 2: a statement has no closing balance/],
    [':20:S1\n:60F:X', /Line 2: "X" is no balance/],
    [':20:S1\n:61:261116C5,NTRFA\n:62F:C261116EUR1,', /Line 2: an entry .* before the opening balance/],
    [statement(':61:nothing'), /Line 5: "nothing" is no entry/],
    [statement(':61:261399C5,NTRFA'), /Line 5: .* is not a calendar date/],
    [statement(':61:261116C5,123NTRFA'), /Line 5: .*5\.123/],
    [`:20:${'x'.repeat(10_000)}`, /Line 1: this is not an MT940/],
    [`:20:S1\n${'x\n'.repeat(10_000)}`, /this is not an MT940/],
    ['-\n', /there is no statement/],
  ]
  for (const [text, message] of cases) assert.throws(() => read(text), { message }, text.slice(0, 40))
})

test('blanks after the amount and instead of the booking day are accepted, as is a decimal point', () => {
  assert.deepEqual(
    linesOf(
      ':61:2611161117D12,35 NRTIKREF+//B7\n:61:261116    C5,NTRFA\n:61:261116    DD2,39NMSCNONREF//\n:61:2611161117CR7.5NTRFA',
    ).map(({ day, amountMinor, entryReference, isReturn }) => [day, amountMinor, entryReference, isReturn]),
    [
      ['2026-11-17', -1235n, 'B7', true],
      ['2026-11-16', 500n, undefined, false],
      ['2026-11-16', -239n, undefined, false],
      ['2026-11-17', 750n, undefined, false],
    ],
  )
  const pointed = statement(':61:261116C1,NTRFA')
    .replace('EUR100,', 'EUR100.5')
    .replace('EUR12,5', 'EUR12.50')
  const balance = read(pointed).at(-1)
  assert(balance?.kind === 'balance')
  assert.equal(balance.balance.amountMinor, -1250n)
  assert.throws(() => lineOf(':61:261116C1.234,50NTRFA'), /no entry/)
})

test('control bytes that frame messages are skipped, even between messages on one line', () => {
  const body = statement(':61:261116C1,NTRFA').replace('\r\n-\r\n', '\r\n')
  const head = '\u0001{1:F01BANKXXXX0000000000}{2:I940XXXXN}{3:{108:1}}{4:\r\n'
  const framed = `${head}${body}-}\u0003${head}${body}-}{5:{MAC:0}{CHK:0}}\u0003\r\n`
  assert.equal(formatOf(Buffer.from(framed)), 'mt940')
  for (const piece of [framed.length, 1, 3, 50])
    assert.deepEqual(
      read(framed, piece).map(({ kind }) => kind),
      ['account', 'statement', 'line', 'balance', 'account', 'statement', 'line', 'balance'],
    )
  const alone = `\u0001\n${body}-\u0003`
  assert.equal(formatOf(Buffer.from(alone)), 'mt940')
  assert.deepEqual(read(alone), read(`\n${body}-`))
  const inOneLine = `{1:F01X}{2:I940X}{4::20:S1\r\n${body.split('\r\n').slice(1).join('\r\n')}-}`
  assert.equal(read(inOneLine).filter(({ kind }) => kind === 'line').length, 1)
})

test('the counterparty’s IBAN is read in every usual format, and never the account’s own', () => {
  const iban = 'NL91ABNA0417164300'
  const own = 'DE89370400440532013000'
  const ibanOf = (entries: string) => lineOf(entries)?.partyIban
  const ways = [
    `:61:261116C5,NTRFNONREF\n:86:166?00CREDIT?20SVWZ+HELLO?30ABNANL2A?31${iban}?32ADA`,
    `:61:261116C5,NTRFNONREF\n:86:166?00CREDIT?20SVWZ+HELLO?31NL91ABNA04\n17164300?32ADA`,
    `:61:261116C5,NTRFNONREF\n:86:166?00CREDIT?20SVWZ+HELLO IBAN+${iban}?21 BIC+ABNANL2A`,
    `:61:261116C5,NTRFNONREF\n:86:020?00CREDIT?20HELLO?38${iban}?32ADA`,
    `:61:261116C5,NTRFEREF\n:86:/EREF/T01//CNTP/${iban}/ABNANL2A/Ada///REMI/USTD//Order/`,
    `:61:261116C5,N426NONREF\n:86:/TRTP/SEPA OVERBOEKING/IBAN/${iban}/BIC/ABNANL2A/NAME/Ada/REMI/Order`,
    `:61:261116C5,NTRFEREF//B7\n${iban}\n:86:/EREF/T01//ORDP//NAME/Ada/REMI/Order`,
    `:61:261116C5,NIOB${iban}\nada\n:86:${iban} ada\n\nOrder`,
    `:61:261116C5,NTRFNONREF\n:86:${iban} ADA EXAMPLE ORDER`,
  ]
  for (const way of ways) assert.equal(ibanOf(way), iban, way)
  const none = [
    `:61:261116C5,NTRFNONREF\n:86:166?20SVWZ+PLEASE PAY TO ${iban}?32ADA`,
    `:61:261116C5,NTRFNONREF\n:86:166?31${own}?32ADA`,
    ':61:261116C5,NTRFNONREF\n:86:166?31NL91ABNA0417164301?32WRONG DIGITS',
    ':61:261116C5,NTRFNONREF\n:86:166?310123456789?32NATIONAL',
    ':61:261116C5,NTRFNONREF',
  ]
  for (const way of none) assert.equal(ibanOf(way), undefined, way)
})

test('content before the account is booked, and content outside a statement is rejected', () => {
  const interim =
    ':20:S1\n:25:DE89370400440532013000\n:28C:1/1\n:34F:EURD0,\n:13D:2611161015+0100\n:61:261116C5,NTRFA\n:90D:0EUR0,\n:90C:1EUR5,\n-\n'
  assert.throws(() => read(interim), /Line 4: this is an MT942/)
  const whole = statement(':61:261116C1,NTRFA')
  assert.throws(() => read(`${whole}:61:261116C1,NTRFA\r\n`), /Line 8: .* outside of a statement/)
  assert.throws(
    () => read(whole.replace(':62F:', ':25:166?00TEXT?20MORE\r\n:62F:')),
    /Line 6: a second account/,
  )
})

test('pages of a statement may follow each other without a new reference', () => {
  const pages =
    ':20:S1\n:25:DE89370400440532013000\n:28C:1/1\n:60F:C261115EUR1,\n:61:261116C1,NTRFA\n:62M:C261116EUR2,\n:28C:1/2\n:60M:C261116EUR2,\n:61:261116C1,NTRFB\n:62F:C261116EUR3,\n-\n'
  assert.deepEqual(
    read(pages).map(({ kind }) => kind),
    ['account', 'statement', 'line', 'statement', 'line', 'balance'],
  )
})
