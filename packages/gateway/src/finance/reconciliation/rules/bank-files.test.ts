// Formats of bank files from public sample collections, each as a small file of our own. The test names list what is
// accepted and what is rejected.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { toDecimalText } from '@tillgate/protocol'
import type { CsvMapping } from './csv.ts'
import { type KnownAccount, makeFileReader } from './statement-file.ts'

const iban = 'DE89370400440532013000'
const main: KnownAccount = { account: 'bank:main', iban, number: undefined, currency: undefined }
const numbered = (name: string, number: string, currency?: string): KnownAccount => ({
  account: `bank:${name}`,
  iban: undefined,
  number,
  currency,
})

interface Given {
  readonly accounts?: readonly KnownAccount[]
  readonly csv?: CsvMapping
}

/** Each line as `main 2026-11-16 12.50 EUR`, with its first reference, counterparty and IBAN, if any. */
function read(file: string | Buffer, { accounts = [main], csv }: Given = {}): string[] {
  const mapping = csv && { mappingName: 'csv', account: 'bank:main', settlesTo: undefined, columns: csv }
  const given = { accounts, mapping, account: undefined, lastDay: '2026-12-31' }
  const reader = makeFileReader(given, () => createHash('sha256'))
  const batches = [...reader.write(Buffer.from(file as string)), ...reader.end().batches]
  return batches.flatMap(({ lines }) =>
    lines.map((line) =>
      [
        line.account.replace('bank:', ''),
        line.day,
        toDecimalText(line.amountMinor, line.currency),
        line.currency,
        line.references[0],
        line.party,
        line.partyIban,
        line.isReturn ? 'returned' : undefined,
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    ),
  )
}

type Row = readonly [form: string, file: string | Buffer, expected: readonly string[] | RegExp, given?: Given]

function table(name: string, rows: readonly Row[]): void {
  describe(name, () => {
    for (const [form, file, expected, given] of rows)
      test(form, () => {
        if (expected instanceof RegExp) assert.throws(() => read(file, given), { message: expected })
        else assert.deepEqual(read(file, given), expected)
      })
  })
}

const other = 'NL91ABNA0417164300'
const plain = ':61:2611161117C12,50NTRFT01'
const booked = 'main 2026-11-17 12.50 EUR T01'
const mt940 = (entries = plain, account = iban, more = '') =>
  `:20:S1\n:25:${account}\n:28C:1/1\n:60F:C261115EUR0,\n${entries}\n:62F:C261117EUR12,5\n${more}-\n`
const swift = (text: string) =>
  `{1:F01BANKDEFFXXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\n${text.replace(/-\n$/, '-}')}`
const entryOf = (rest: string, info?: string) =>
  mt940(`:61:2611161117${rest}${info === undefined ? '' : `\n:86:${info}`}`)

table('MT940, the file', [
  ['without an envelope', mt940(), [booked]],
  ['with CR and LF', mt940().replaceAll('\n', '\r\n'), [booked]],
  ['without an end of line at its end', mt940().replace(/\n-\n$/, ''), [booked]],
  ['in a SWIFT envelope', swift(mt940()), [booked]],
  [
    'several messages',
    swift(mt940()) + swift(mt940(':61:2611161117D1,NTRFT02')),
    [booked, 'main 2026-11-17 -1.00 EUR T02'],
  ],
  ['between the bytes that frame messages on the wire', `\u0001${swift(mt940())}\u0003`, [booked]],
  ['below lines with the bank and the type of message', `ABNANL2A\n940\nABNANL2A\n${mt940()}`, [booked]],
  ['below :940:', `:940:\n${mt940()}`, [booked]],
  [
    'with available and future balances and a text behind the closing balance',
    mt940(plain, iban, ':64:C261117EUR1,\n:65:C261118EUR1,\n:86:BANK\n'),
    [booked],
  ],
  ['without entries', mt940(':86:NO ENTRIES'), []],
  [
    'in pages',
    mt940(plain).replace(':62F:', ':62M:') + mt940(':61:261117C1,NTRFT02').replace(':60F:', ':60M:'),
    [booked, 'main 2026-11-17 1.00 EUR T02'],
  ],
  ['with bytes that are no UTF-8', Buffer.from(mt940(`${plain}\n:86:M\u00dcLLER`), 'latin1'), [booked]],
])

table('MT940, the account', [
  ['an IBAN', mt940(plain, iban), [booked]],
  ['an IBAN and the currency', mt940(plain, `${iban}EUR`), [booked]],
  ['an IBAN in :25P:', mt940().replace(':25:', ':25P:'), [booked]],
  [
    'bank code and account number, with zeros or without, and the currency',
    mt940(plain, '37040044/532013000EUR'),
    [booked],
  ],
  ['the account number of an IBAN', mt940(plain, '0532013000'), [booked]],
  [
    'a number in groups and the currency',
    mt940(plain, '1291.99.348EUR'),
    ['dutch 2026-11-17 12.50 EUR T01'],
    { accounts: [numbered('dutch', '129199348')] },
  ],
  [
    'the bank’s name before the number',
    mt940(plain, 'TRIODOSBANK/0390123456'),
    ['t 2026-11-17 12.50 EUR T01'],
    { accounts: [numbered('t', '390123456')] },
  ],
  [
    'BIC, number and currency',
    mt940(plain, 'UBRTHUHB/1234567891/EUR'),
    ['h 2026-11-17 12.50 EUR T01'],
    { accounts: [numbered('h', '1234567891')] },
  ],
  [
    'several numbers in one file',
    mt940(plain, '1526.89.184EUR') + mt940(plain, '1291.99.348EUR'),
    ['two 2026-11-17 12.50 EUR T01', 'one 2026-11-17 12.50 EUR T01'],
    { accounts: [numbered('one', '129199348'), numbered('two', '152689184')] },
  ],
  [
    'one number in two currencies',
    mt940(plain, '1700.59.286EUR') + mt940(plain, '1700.59.286USD').replaceAll('EUR', 'USD'),
    ['euros 2026-11-17 12.50 EUR T01', 'dollars 2026-11-17 12.50 USD T01'],
    { accounts: [numbered('dollars', '170059286', 'USD'), numbered('euros', '170059286', 'EUR')] },
  ],
  [
    'a message without an account does not go to the account before it',
    mt940() + mt940().replace(/:25:.*\n/, ''),
    /Line 10: no bank account or rail has the number \(none\)/,
  ],
  [
    'a number that is unknown here is rejected',
    mt940(plain, '55555555'),
    /Line 2: no bank account or rail has the number 55555555/,
  ],
  [
    'one number of two accounts in the same currency is rejected',
    mt940(plain, '1700.59.286EUR'),
    /both have the number 1700\.59\.286EUR\. Choose the account/,
    { accounts: [numbered('a', '170059286', 'EUR'), numbered('b', '170059286', 'EUR')] },
  ],
])

table('MT940, the entry', [
  ['without a day of booking', mt940(':61:261116C12,50NTRFT01'), ['main 2026-11-16 12.50 EUR T01']],
  [
    'with blanks in place of the day of booking',
    mt940(':61:261116    C12,50NTRFT01'),
    ['main 2026-11-16 12.50 EUR T01'],
  ],
  [
    'booked in another year than valued',
    mt940(':61:2601021231C12,50NTRFT01'),
    ['main 2025-12-31 12.50 EUR T01'],
  ],
  ['on the 30th of February', mt940(':61:2602300228C12,50NTRFT01'), ['main 2026-02-28 12.50 EUR T01']],
  [
    'amounts with leading zeros, without cents, and with a point',
    mt940(':61:261116C000000012,50NTRFT01\n:61:261116C12,NTRFT02\n:61:261116C12.5NTRFT03'),
    ['main 2026-11-16 12.50 EUR T01', 'main 2026-11-16 12.00 EUR T02', 'main 2026-11-16 12.50 EUR T03'],
  ],
  ['a blank behind the amount', entryOf('D12,35 NRTIKREF+'), ['main 2026-11-17 -12.35 EUR KREF+ returned']],
  ['a letter of the currency behind C or D', entryOf('CR12,50NTRFT01'), [booked]],
  [
    'reversals',
    mt940(':61:261116RC1,NTRFT01\n:61:261116RD1,NTRFT02'),
    ['main 2026-11-16 -1.00 EUR T01', 'main 2026-11-16 1.00 EUR T02'],
  ],
  ['without a type', entryOf('CN12,50//19239782213'), ['main 2026-11-17 12.50 EUR 19239782213']],
  ['a number as its type', entryOf('C12,50N062NONREF//B7'), ['main 2026-11-17 12.50 EUR B7']],
  ['a reference of the bank and details in a second line', mt940(`${plain}//B7\n/OCMT/USD14,10/`), [booked]],
  ['an amount of zero is left out', entryOf('C0,00NMSCNONREF'), []],
  ['a type of three letters is rejected', entryOf('C12,50NTR'), /Line 5: .* is no entry/],
  ['thousands in groups are rejected', entryOf('C1.234,50NTRFT01'), /Line 5: .* is no entry/],
])

table('MT940, the details', [
  [
    'left out, empty, or a code alone',
    mt940(`${plain}\n${plain}\n:86:\n${plain}\n:86:091`),
    [booked, booked, booked],
  ],
  [
    '?20 to ?33 with SEPA keywords',
    entryOf('C12,50NTRFNONREF', `166?00CREDIT?20EREF+T01?21SVWZ+ORDER?31${other}?32ADA?33 EXAMPLE`),
    [`main 2026-11-17 12.50 EUR T01 ADA EXAMPLE ${other}`],
  ],
  [
    '?60 to ?63',
    entryOf('C12,50NTRFNONREF', '166?00CREDIT?20SVWZ+ORDER 47?60110'),
    ['main 2026-11-17 12.50 EUR 47110'],
  ],
  [
    'subfields by another sign',
    entryOf('C12,50NTRFNONREF', '020~00CREDIT~20EREF+T01~32ADA'),
    ['main 2026-11-17 12.50 EUR T01 ADA'],
  ],
  [
    'subfields without keywords',
    entryOf('C12,50NTRFNONREF', '051?00GUTSCHRIFT?20ORDER 47110?32ADA'),
    ['main 2026-11-17 12.50 EUR 47110 ADA'],
  ],
  [
    'a business case that is a return',
    entryOf('D12,50NRTINONREF', '109?00RETURN?20SVWZ+AC04'),
    ['main 2026-11-17 -12.50 EUR returned'],
  ],
  [
    '/EREF/ to /REMI/',
    entryOf('C12,50NTRFEREF', `/EREF/T01//CNTP/${other}/ABNANL2A/Ada///REMI/USTD//Order/`),
    [`main 2026-11-17 12.50 EUR Order Ada ${other}`],
  ],
  [
    '/TRTP/ to /REMI/',
    entryOf('C12,50N196NONREF', `/TRTP/SEPA IDEAL/IBAN/${other}/BIC/ABNANL2A/NAME/Ada/REMI/4711/EREF/T01`),
    [`main 2026-11-17 12.50 EUR 4711 Ada ${other}`],
  ],
  [
    'free text',
    entryOf('C12,50NTRFNONREF', 'PAYMENT FOR ORD-47\n11 THANK YOU'),
    ['main 2026-11-17 12.50 EUR ORD-47'],
  ],
  [
    'free text that begins with the account of the other side',
    entryOf('C12,50NTRFNONREF', `${other} ADA ORDER 47110`),
    [`main 2026-11-17 12.50 EUR ${other} ${other}`],
  ],
  [
    'lines that begin with a dash or a colon',
    entryOf('C12,50NTRFNONREF', 'THANKS\n- ORDER\n: 47110'),
    ['main 2026-11-17 12.50 EUR 47110'],
  ],
])

table('MT940 that is rejected', [
  ['an MT942', mt940(':34F:EURD0,'), /Line 5: this is an MT942/],
  [
    'a file that is cut off',
    mt940().replace(/:62F:.*\n-\n/, ''),
    /no closing balance \(:62F:\): the file is cut off/,
  ],
  [
    'a message that is cut off before another',
    mt940().replace(/:62F:.*\n-\n/, '') + mt940(),
    /Line 6: a statement starts before the previous one ends/,
  ],
  [
    'a statement that only has a page’s balance',
    mt940()
      .replace(/:20:.*\n/, ':20:S1\n:21:X\n')
      .replace(/:62F:.*\n/, ''),
    /no closing balance/,
  ],
  ['a second account within a statement', mt940(`${plain}\n:25:1`), /Line 6: a second account/],
  ['a currency that is no more', mt940().replaceAll('EUR', 'DEM'), /Line 4: .*DEM/],
  [
    'a day that is not in the calendar',
    mt940(':61:2611311131C12,50NTRFT01'),
    /Line 5: .* is not a calendar date/,
  ],
  ['a single field', ':61:2611161117C12,50NTRFT01\n', /neither XML nor MT940/],
])

const camtEntry = ({
  amount = '12.50',
  status = '<Sts>BOOK</Sts>',
  day = '<BookgDt><Dt>2026-11-17</Dt></BookgDt>',
  details = '<TxDtls><Refs><EndToEndId>T01</EndToEndId></Refs></TxDtls>',
  more = '',
} = {}) =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>${status}${day}${more}<NtryDtls>${details}</NtryDtls></Ntry>`
const camtStatement = (entries = camtEntry(), account = `<IBAN>${iban}</IBAN>`, currency = '') =>
  `<Stmt><Id>1</Id><Acct><Id>${account}</Id>${currency}</Acct><Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">12.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-17</Dt></Dt></Bal>${entries}</Stmt>`
const camt = (statements = camtStatement(), version = '053.001.08', root = 'BkToCstmrStmt') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${version}"><${root}><GrpHdr><MsgId>1</MsgId></GrpHdr>${statements}</${root}></Document>`
const rounds = camtEntry({ amount: '12.50000' })
const versions = ['02', '03', '04', '06', '08', '13'].map(
  (version): Row => [`camt.053.001.${version}`, camt(camtStatement(), `053.001.${version}`), [booked]],
)

table('camt.053', [
  ...versions,
  ['without a namespace', camt().replace(/ xmlns="[^"]*"/, ''), [booked]],
  [
    'with prefixes',
    camt()
      .replaceAll(/<(\/?)([A-Z])/g, '<$1n:$2')
      .replace('xmlns=', 'xmlns:n='),
    [booked],
  ],
  [
    'with a byte order mark, and with ISO 8859-1',
    Buffer.concat([
      Buffer.from(
        camt()
          .replace('UTF-8', 'ISO-8859-1')
          .replace('</NtryDtls>', '</NtryDtls><AddtlNtryInf>MÜLLER</AddtlNtryInf>'),
        'latin1',
      ),
    ]),
    [booked],
  ],
  [
    'several statements',
    camt(camtStatement() + camtStatement(camtEntry({ amount: '1' }), '<Othr><Id>US-0099</Id></Othr>')),
    [booked, 'us 2026-11-17 1.00 EUR T01'],
    { accounts: [main, numbered('us', 'US-0099')] },
  ],
  [
    'one IBAN in two currencies',
    camt(
      camtStatement(camtEntry(), `<IBAN>${iban}</IBAN>`, '<Ccy>EUR</Ccy>') +
        camtStatement(camtEntry(), `<IBAN>${iban}</IBAN>`, '<Ccy>USD</Ccy>').replaceAll(
          'Ccy="EUR"',
          'Ccy="USD"',
        ),
    ),
    ['euros 2026-11-17 12.50 EUR T01', 'dollars 2026-11-17 12.50 USD T01'],
    {
      accounts: [
        { ...main, account: 'bank:dollars', currency: 'USD' },
        { ...main, account: 'bank:euros', currency: 'EUR' },
      ],
    },
  ],
  [
    'a number in place of the IBAN',
    camt(camtStatement(camtEntry(), '<Othr><Id>50000000054910000003</Id></Othr>')),
    ['n 2026-11-17 12.50 EUR T01'],
    { accounts: [numbered('n', '50000000054910000003')] },
  ],
  ['no entries', camt(camtStatement('')), []],
  ['five decimals', camt(camtStatement(rounds)), [booked]],
  [
    'a status with a code, and entries that are not booked',
    camt(
      camtStatement(
        camtEntry({ status: '<Sts><Cd>BOOK</Cd></Sts>' }) +
          camtEntry({ status: '<Sts><Cd>PDNG</Cd></Sts>' }) +
          camtEntry({ status: '<Sts>INFO</Sts>' }),
      ),
    ),
    [booked],
  ],
  [
    'times in place of days, and the statement’s day in place of none',
    camt(
      camtStatement(
        camtEntry({ day: '<BookgDt><DtTm>2026-11-17T08:00:00+01:00</DtTm></BookgDt>' }) +
          camtEntry({ day: '' }),
      ),
    ),
    [booked, booked],
  ],
  [
    'a batch with its transactions',
    camt(
      camtStatement(
        camtEntry({
          details:
            '<TxDtls><Refs><EndToEndId>T01</EndToEndId></Refs><Amt Ccy="EUR">2.50</Amt></TxDtls><TxDtls><Refs><EndToEndId>T02</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy="EUR">10</Amt></TxAmt></AmtDtls></TxDtls>',
        }),
      ),
    ),
    ['main 2026-11-17 2.50 EUR T01', 'main 2026-11-17 10.00 EUR T02'],
  ],
  [
    'a batch as one sum',
    camt(camtStatement(camtEntry({ details: '<Btch><PmtInfId>RUN1</PmtInfId><NbOfTxs>9</NbOfTxs></Btch>' }))),
    ['main 2026-11-17 12.50 EUR RUN1'],
  ],
  [
    'an instructed amount in another currency',
    camt(
      camtStatement(
        camtEntry({
          details:
            '<TxDtls><Refs><EndToEndId>T01</EndToEndId></Refs><AmtDtls><InstdAmt><Amt Ccy="USD">14.10</Amt></InstdAmt></AmtDtls></TxDtls>',
        }),
      ),
    ),
    [booked],
  ],
  ['an amount of zero is left out', camt(camtStatement(camtEntry({ amount: '0' }))), []],
  [
    'a return',
    camt(
      camtStatement(
        camtEntry({
          details:
            '<TxDtls><Refs><EndToEndId>T01</EndToEndId></Refs><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls>',
        }),
      ),
    ),
    [`${booked} returned`],
  ],
  [
    'the other side’s name and account',
    camt(
      camtStatement(
        camtEntry({
          details: `<TxDtls><Refs><EndToEndId>T01</EndToEndId></Refs><RltdPties><Dbtr><Pty><Nm>Ada</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>${other}</IBAN></Id></DbtrAcct></RltdPties></TxDtls>`,
        }),
      ),
    ),
    [`${booked} Ada ${other}`],
  ],
])

table('XML that is rejected', [
  [
    'a camt.052',
    camt('', '052.001.08', 'BkToCstmrAcctRpt'),
    /Line 2: this is a camt\.052, which has unbooked entries\. Import the camt\.053/,
  ],
  ['a camt.052 of version 1', camt('', '052.001.01', 'BkToCstmrAcctRptV01'), /Line 2: this is a camt\.052/],
  [
    'a camt.054',
    camt('', '054.001.08', 'BkToCstmrDbtCdtNtfctn'),
    /Line 2: this is a camt\.054, whose entries are also in the statement/,
  ],
  [
    'a pain.001',
    camt('', '001.001.09', 'CstmrCdtTrfInitn'),
    /Line 2: this is not a camt\.053 statement: BkToCstmrStmt is expected, but found CstmrCdtTrfInitn/,
  ],
  ['a camt.053 without a statement', camt(''), /there is no statement \(Stmt\) in the file/],
  [
    'an amount that is none',
    camt(camtStatement(camtEntry({ amount: '12..34' }))),
    /"12\.\.34" "EUR": the amount must be/,
  ],
  ['XML that is cut off', camt().slice(0, -40), /not well-formed XML/],
  ['UTF-16', Buffer.from(camt(), 'utf16le'), /UTF-16/],
])

const comma: CsvMapping = {
  separator: ',',
  decimalSign: '.',
  dayForm: 'MM/DD/YYYY',
  sign: 'as_written',
  day: 'Date',
  amount: 'Amount',
  currency: 'EUR',
  references: ['Ref'],
}
const semicolon: CsvMapping = { ...comma, separator: ';', decimalSign: ',', dayForm: 'DD.MM.YYYY' }

table('CSV', [
  [
    'quoted cells, thousands in groups',
    '"Date","Ref","Amount"\n"11/17/2026","T01","1,533.50"\n',
    ['main 2026-11-17 1533.50 EUR T01'],
    { csv: comma },
  ],
  [
    'semicolons and decimal commas',
    'Date;Ref;Amount\n17.11.2026;T01;-1.234,56\n',
    ['main 2026-11-17 -1234.56 EUR T01'],
    { csv: semicolon },
  ],
  [
    'amounts without a sign and a column for debit or credit',
    'Date;Ref;Amount;D/C\n17.11.2026;T01;12,50;D\n17.11.2026;T02;12,50;C\n',
    ['main 2026-11-17 -12.50 EUR T01', 'main 2026-11-17 12.50 EUR T02'],
    { csv: { ...semicolon, sign: 'column', direction: 'D/C', outWord: 'D' } },
  ],
  [
    'columns for debit and for credit',
    'Date;Ref;Debit;Credit\n17.11.2026;T01;12,50;\n17.11.2026;T02;;12,50\n',
    ['main 2026-11-17 -12.50 EUR T01', 'main 2026-11-17 12.50 EUR T02'],
    { csv: { ...semicolon, amount: 'Credit', amountOut: 'Debit' } },
  ],
  [
    'columns for debit, below zero, and for credit',
    'Date;Ref;Debit;Credit\n17.11.2026;T01;-12,50;0,00\n',
    ['main 2026-11-17 -12.50 EUR T01'],
    { csv: { ...semicolon, amount: 'Credit', amountOut: 'Debit', sign: 'reversed' } },
  ],
  [
    'charges above zero, as of a credit card',
    'Date;Ref;Amount\n17.11.2026;T01;12,50\n',
    ['main 2026-11-17 -12.50 EUR T01'],
    { csv: { ...semicolon, sign: 'reversed' } },
  ],
  [
    'lines above the headings',
    'Account : 0808;;\n;;\nDate;Ref;Amount\n17.11.2026;T01;12,50\n',
    [booked],
    { csv: semicolon },
  ],
  [
    'years of two digits',
    'Date;Ref;Amount\n17/11/26;T01;12,50\n',
    [booked],
    { csv: { ...semicolon, dayForm: 'DD/MM/YY' } },
  ],
  [
    'a column with the currency',
    'Date;Ref;Amount;CCY\n17.11.2026;T01;12,50;EUR\n',
    [booked],
    { csv: { ...semicolon, currency: 'CCY' } },
  ],
  ['headings alone', 'Date;Ref;Amount\n', [], { csv: semicolon }],
  [
    'without headings is rejected',
    '17.11.2026;T01;12,50\n',
    /Line 1: there is no column "Date", "Amount", "Ref"/,
    { csv: semicolon },
  ],
  [
    'an amount that is none is rejected',
    'Date,Ref,Amount\n11/17/2026,T01,12..34\n',
    /Line 2: "12\.\.34" is not an amount/,
    { csv: comma },
  ],
  [
    'a line without a currency is rejected',
    'Date;Ref;Amount;CCY\n17.11.2026;T01;12,50;\n',
    /Line 2: .*currency/,
    { csv: { ...semicolon, currency: 'CCY' } },
  ],
  [
    'ISO 8859-1 and windows-1252, as many banks write it',
    Buffer.from('Date;Ref;Amount (\x80)\n17.11.2026;M\xdcLLER;1,00\n', 'latin1'),
    ['main 2026-11-17 1.00 EUR MÜLLER'],
    { csv: { ...semicolon, amount: 'Amount (€)' } },
  ],
  [
    'UTF-8 with a byte order mark',
    '\ufeffDate;Ref;Amount\n17.11.2026;MÜLLER;1,00\n',
    ['main 2026-11-17 1.00 EUR MÜLLER'],
    { csv: semicolon },
  ],
  [
    'UTF-8 with bytes that are none is rejected',
    Buffer.concat([
      Buffer.from('Date;Ref;Amount\n17.11.2026;MÜLLER;1,00\n'),
      Buffer.from('17.11.2026;M\xdcLLER;1,00\n', 'latin1'),
    ]),
    /Save it as UTF-8\./,
    { csv: semicolon },
  ],
])

test('a CSV file reads the same however it arrives in pieces', () => {
  // In windows-1252, the last letter could begin a letter of UTF-8.
  const text = `Date;Amount;Ref\n17.11.2026;2,00;${'x'.repeat(200)}\n17.11.2026;1,00;BÄR À`
  const mapping = { mappingName: 'csv', account: 'bank:main', settlesTo: undefined, columns: semicolon }
  const given = { accounts: [main], mapping, account: undefined, lastDay: '2026-12-31' }
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(text, 'latin1'),
    Buffer.from(text.replace('BÄR', 'BR'), 'latin1'),
  ])
    for (let at = 0; at < bytes.length; at++) {
      const reader = makeFileReader(given, () => createHash('sha256'))
      const parts = [bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at + 1)]
      const batches = [...parts.flatMap((part) => reader.write(part)), ...reader.end().batches]
      const references = batches.flatMap(({ lines }) => lines.map((line) => line.references[0]))
      assert.match(references.at(-1) ?? '', /^BÄ?RÀ$/, `in pieces at ${at}`)
    }
})
