import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeCamtReader } from './camt053.ts'
import type { StatementItem, StatementLine } from './statement.ts'

function read(text: string, piece = text.length): StatementItem[] {
  const reader = makeCamtReader()
  const items: StatementItem[] = []
  for (let at = 0; at < text.length; at += piece) items.push(...reader.write(text.slice(at, at + piece)))
  return [...items, ...reader.end()]
}

const linesOf = (text: string): StatementLine[] =>
  read(text).flatMap((item) => (item.kind === 'line' ? [item.line] : []))

const entry = (inner: string, more = '') =>
  `<Ntry><Amt Ccy="EUR">12.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-16</Dt></BookgDt><ValDt><DtTm>2026-11-17T00:00:00+01:00</DtTm></ValDt><AcctSvcrRef>A1</AcctSvcrRef>${more}<NtryDtls>${inner}</NtryDtls></Ntry>`
const statement = (entries: string, version = '02', prefix = '') => {
  const text = `<?xml version="1.0"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt><Stmt><Id>1</Id><Acct><Id><IBAN>DE89 3704 0044 0532 0130 00</IBAN></Id></Acct><Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100.000</Amt><CdtDbtInd>DBIT</CdtDbtInd><Dt><Dt>2026-11-16</Dt></Dt></Bal>${entries}</Stmt></BkToCstmrStmt></Document>`
  return prefix === ''
    ? text
    : text.replace(/<(\/?)([A-Z])/g, `<$1${prefix}:$2`).replace('xmlns=', `xmlns:${prefix}=`)
}

test('an entry has its references, counterparty and days, in versions 2 and 8, with any prefix', () => {
  const details = (party: string) =>
    `<TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId><TxId>T 77</TxId></Refs><RltdPties>${party}</RltdPties><RmtInf><Ustrd>Order rf71 0zz1 2345 6789 abcd e</Ustrd><Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></TxDtls>`
  const old = linesOf(statement(entry(details('<Dbtr><Nm>Ada &amp; Co</Nm></Dbtr>'))))
  const now = linesOf(
    statement(
      entry(details('<Dbtr><Pty><Nm>Ada &amp; Co</Nm></Pty></Dbtr>')).replace(
        '<Sts>BOOK</Sts>',
        '<Sts><Cd>BOOK</Cd></Sts>',
      ),
      '08',
      'n',
    ),
  )
  assert.deepEqual(old, now)
  const [line] = old
  assert.deepEqual(
    [
      line?.day,
      line?.valueDay,
      line?.amountMinor,
      line?.entryReference,
      line?.party,
      line?.references.slice(0, 2),
    ],
    ['2026-11-16', '2026-11-17', 1250n, 'A1', 'Ada & Co', ['RF18539007547034', 'T77']],
  )
})

test('the file may be split at any byte', () => {
  const text = statement(entry('<TxDtls><RmtInf><Ustrd>a &lt; b</Ustrd></RmtInf></TxDtls>'))
  for (const piece of [1, 2, 7, 64]) assert.deepEqual(read(text, piece), read(text))
})

test('an opening balance counts for the previous day, and an overdrawn balance is negative', () => {
  assert.deepEqual(
    read(statement('')).find(({ kind }) => kind === 'balance'),
    {
      kind: 'balance',
      balance: { day: '2026-11-15', currency: 'EUR', amountMinor: -10_000n },
      lineNumber: 2,
    },
  )
})

test('balances of a page are ignored, and entries without a day have the page’s day', () => {
  const balance = (code: string, amount: string, sub = '') =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry>${sub}</Tp><Amt Ccy="EUR">${amount}</Amt><Dt><Dt>2026-11-16</Dt></Dt></Bal>`
  const interim = '<SubTp><Cd>INTM</Cd></SubTp>'
  const dayless = entry('').replace(/<BookgDt>.*<\/ValDt>/, '')
  const pages = [
    balance('CLBD', '112.50', interim) + dayless,
    balance('OPBD', '112.50', interim) + balance('CLBD', '125') + dayless,
  ]
  const items = read(statement(pages.join('</Stmt><Stmt>')))
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'balance' ? [[item.balance.day, item.balance.amountMinor]] : [])),
    [
      ['2026-11-15', -10_000n],
      ['2026-11-16', 12_500n],
    ],
  )
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'line' ? [item.line.day] : [])),
    ['2026-11-16', '2026-11-16'],
  )
})

test('an entry with several transactions becomes one line each if their amounts add up, otherwise one line', () => {
  const of = (...amounts: string[]) =>
    amounts
      .map(
        (amount, index) =>
          `<TxDtls><Refs><EndToEndId>E${index}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt></TxDtls>`,
      )
      .join('')
  assert.deepEqual(
    linesOf(statement(entry(of('2.50', '10')))).map(({ amountMinor, references }) => [
      amountMinor,
      references,
    ]),
    [
      [250n, ['E0']],
      [1000n, ['E1']],
    ],
  )
  assert.deepEqual(
    linesOf(statement(entry(of('2.50', '9')))).map(({ amountMinor }) => amountMinor),
    [1250n],
  )
})

test('unbooked entries are skipped, returns are recognized, and missing days are the statement’s', () => {
  assert.deepEqual(read(statement(entry('').replace('BOOK', 'PDNG'))).at(-1), { kind: 'skipped' })
  assert.equal(
    linesOf(statement(entry('<TxDtls><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls>')))[0]?.isReturn,
    true,
  )
  const closing =
    '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1</Amt><Dt><Dt>2026-11-30</Dt></Dt></Bal>'
  const dayless = entry('').replace(/<BookgDt>.*<\/ValDt>/, '')
  assert.equal(linesOf(statement(closing + dayless))[0]?.day, '2026-11-30')
})

test('hostile and broken files are rejected with the line number', () => {
  const bomb = `<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document>&b;</Document>`
  const cases = {
    [bomb]: /^Line 2: the file contains a document type declaration/,
    '<Document>&nope;</Document>': /undefined entity/,
    [statement('').slice(0, -30)]: /not well-formed/,
    '<Document><CstmrCdtTrfInitn/></Document>': /BkToCstmrStmt is expected, but found CstmrCdtTrfInitn/,
    '<html><body/></html>': /not a camt\.053/,
    [`${'<a>'.repeat(60)}`]: /more than 40 deep/,
    [`<a>${' '.repeat(200_000)}`]: /characters without markup/,
    [`<a b="${'x'.repeat(200_000)}`]: /characters without markup/,
    [`<a><!--${'<'.repeat(200_000)}`]: /characters without markup/,
    [statement(entry('').replace('12.50', '12.505'))]: /Line 2: "12\.505" "EUR": the amount must fit EUR/,
    [statement(entry('').replace('2026-11-16', '2026-02-30'))]: /"2026-02-30" is not a calendar date/,
    [statement(entry('').replace('"EUR"', '"ABC"'))]: /currency must be/,
  }
  for (const [text, expected] of Object.entries(cases))
    assert.throws(() => read(text), { message: expected }, text.slice(0, 60))
})

test('the counterparty’s IBAN is read for an entry with a single transaction', () => {
  const account = (side: string, iban: string) => `<${side}Acct><Id><IBAN>${iban}</IBAN></Id></${side}Acct>`
  const [own, other, third] = ['DE89370400440532013000', 'NL91ABNA0417164300', 'FR1420041010050500013M02606']
  const details = (parties: string) => `<TxDtls><RltdPties>${parties}</RltdPties></TxDtls>`
  const both = account('Dbtr', other) + account('Cdtr', own)
  const ibanOf = (text: string) => linesOf(statement(text))[0]?.partyIban
  assert.equal(ibanOf(entry(details(both))), other)
  assert.equal(ibanOf(entry(details(both)).replace('CRDT', 'DBIT')), undefined, 'its own')
  assert.equal(ibanOf(entry(details(account('Cdtr', third))).replace('CRDT', 'DBIT')), third)
  assert.equal(ibanOf(entry(details(account('Dbtr', 'NL91 abna 0417 1643 00')))), other)
  assert.equal(ibanOf(entry(details(account('Dbtr', 'NL91ABNA0417164301')))), undefined, 'wrong digits')
  assert.equal(ibanOf(entry(details(both) + details(account('Dbtr', third)))), undefined, 'of two who paid')
  assert.equal(ibanOf(entry(details(both) + details(both))), other, 'of one who paid twice')
  const each = linesOf(
    statement(
      entry(
        [other, third]
          .map(
            (iban) =>
              `<TxDtls><Amt Ccy="EUR">6.25</Amt><RltdPties>${account('Dbtr', iban)}</RltdPties></TxDtls>`,
          )
          .join(''),
      ),
    ),
  )
  assert.deepEqual(
    each.map(({ partyIban }) => partyIban),
    [other, third],
  )
})

test('a file without a statement is rejected, an empty statement is accepted', () => {
  const empty = '<Document><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr></BkToCstmrStmt></Document>'
  assert.throws(() => read(empty), { message: /there is no statement \(Stmt\) in the file/ })
  assert.deepEqual(read(empty.replace('</GrpHdr>', '</GrpHdr><Stmt><Id>1</Id></Stmt>')), [])
})
