import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { painHead, painPayout, painTail, type SentRun } from './pain001.ts'
import type { Payout } from './payout.ts'
import { payoutCsvHead, payoutCsvRow } from './payout-csv.ts'

const debtor = {
  holder: 'Tillgate Ltd',
  iban: 'DE89370400440532013000',
  lines: undefined,
  bic: 'COBADEFFXXX',
}
const run: SentRun = {
  runId: '019a8b0c-7d3e-7000-8000-0123456789ab',
  bankName: 'main',
  currency: 'EUR',
  day: '2026-11-16',
  part: 1,
  createdAtMs: 0,
  closedAtMs: 1,
  sentAtMs: Date.parse('2026-11-17T08:00:05.123Z'),
  debtor,
  ending: undefined,
  reference: undefined,
  valueDate: undefined,
  message: undefined,
  endedAtMs: undefined,
}
const payout: Payout = {
  merchantId: '100000000000000001',
  payoutId: 'T01K73ZQ800JZ7V3N4Q5R6S7T8W',
  runId: run.runId,
  planDay: run.day,
  status: 'sent',
  currency: 'EUR',
  amountMinor: 123_456n,
  account: { holder: 'Müller & <Söhne>', iban: 'NL91ABNA0417164300', lines: undefined, bic: undefined },
  requestedAtMs: 1,
  sentAtMs: 2,
  endedAtMs: undefined,
  reference: undefined,
  valueDate: undefined,
  message: undefined,
}

test('a run always exports the same bytes', () => {
  const head = painHead(run, { payouts: 1, sumMinor: 123_456n })
  assert.equal(
    head + painPayout(payout) + painTail,
    `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>019a8b0c7d3e700080000123456789ab</MsgId><CreDtTm>2026-11-17T08:00:05Z</CreDtTm><NbOfTxs>1</NbOfTxs><CtrlSum>1234.56</CtrlSum><InitgPty><Nm>Tillgate Ltd</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>019a8b0c7d3e700080000123456789ab</PmtInfId><PmtMtd>TRF</PmtMtd><NbOfTxs>1</NbOfTxs><CtrlSum>1234.56</CtrlSum><ReqdExctnDt><Dt>2026-11-17</Dt></ReqdExctnDt>
<Dbtr><Nm>Tillgate Ltd</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></DbtrAcct><DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt>
<CdtTrfTxInf><PmtId><EndToEndId>T01K73ZQ800JZ7V3N4Q5R6S7T8W</EndToEndId></PmtId><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><Amt><InstdAmt Ccy="EUR">1234.56</InstdAmt></Amt><ChrgBr>SLEV</ChrgBr><Cdtr><Nm>Muller + .Sohne.</Nm></Cdtr><CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Payout T01K73ZQ800JZ7V3N4Q5R6S7T8W</Ustrd></RmtInf></CdtTrfTxInf>
</PmtInf></CstmrCdtTrfInitn></Document>
`,
  )
})

test('amounts have their currency’s decimal places, and only euros to a SEPA IBAN use SEPA', () => {
  const amountOf = (currency: string, amountMinor: bigint) =>
    /<InstdAmt Ccy="...">.*<\/ChrgBr>/.exec(painPayout({ ...payout, currency, amountMinor }))?.[0]
  assert.equal(amountOf('JPY', 5_000n), '<InstdAmt Ccy="JPY">5000</InstdAmt></Amt><ChrgBr>SHAR</ChrgBr>')
  assert.equal(amountOf('TND', 1n), '<InstdAmt Ccy="TND">0.001</InstdAmt></Amt><ChrgBr>SHAR</ChrgBr>')
  const account = { ...payout.account, iban: undefined, lines: ['1234567'] }
  const written = painPayout({ ...payout, account })
  assert.match(written, /<ChrgBr>SHAR<\/ChrgBr><Cdtr>/)
  assert.doesNotMatch(written, /SEPA/)
  const sentTo = (iban: string) => painPayout({ ...payout, account: { ...payout.account, iban } })
  assert.match(sentTo('TR330006100519786457841326'), /<ChrgBr>SHAR<\/ChrgBr><Cdtr>/)
  assert.doesNotMatch(sentTo('TR330006100519786457841326'), /SEPA/)
  for (const iban of ['RS35260005601001611379', 'GB29NWBK60161331926819', 'CH9300762011623852957'])
    assert.match(sentTo(iban), /<SvcLvl><Cd>SEPA<\/Cd><\/SvcLvl>.*<ChrgBr>SLEV<\/ChrgBr>/)
})

test('an account without an IBAN is exported with its number and bank', () => {
  const account = {
    holder: 'Shop',
    iban: undefined,
    lines: ['12-34567', "O'Neill & Co", 'Main Street 1'],
    bic: 'CHASUS33',
  }
  assert.match(
    painPayout({ ...payout, currency: 'USD', account }),
    /<CdtrAgt><FinInstnId><BICFI>CHASUS33<\/BICFI><Nm>O&#39;Neill \+ Co, Main Street 1<\/Nm><\/FinInstnId><\/CdtrAgt><Cdtr><Nm>Shop<\/Nm><\/Cdtr><CdtrAcct><Id><Othr><Id>12-34567<\/Id><\/Othr><\/Id><\/CdtrAcct>/,
  )
  const named = painPayout({ ...payout, account: { ...account, bic: undefined } })
  assert.match(
    named,
    /<CdtrAgt><FinInstnId><Nm>O&#39;Neill \+ Co, Main Street 1<\/Nm><\/FinInstnId><\/CdtrAgt>/,
  )
  const bare = { ...run, debtor: { ...debtor, bic: undefined } }
  const unknown = '<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>'
  assert.ok(painHead(bare, { payouts: 0, sumMinor: 0n }).includes(unknown))
})

test('a control sum that is too long is omitted', () => {
  const sumOf = (sumMinor: bigint) =>
    /<CtrlSum>(.*?)<\/CtrlSum>/.exec(painHead(run, { payouts: 2, sumMinor }))?.[1]
  assert.equal(sumOf(10n ** 18n - 1n), '9999999999999999.99')
  assert.equal(sumOf(10n ** 18n), undefined)
})

const schema = process.env['PAIN_SCHEMA']

test('files are valid by the schema of ISO 20022, where PAIN_SCHEMA names it and xmllint is there', {
  skip: schema === undefined,
}, () => {
  const lined = { holder: '東京 <b>', iban: undefined, lines: ['12-3', 'Bank & Co'], bic: undefined }
  for (const currency of ['JPY', 'EUR', 'TND']) {
    const head = painHead({ ...run, currency }, { payouts: 2, sumMinor: 123_457n })
    const rows = [payout, { ...payout, account: lined, amountMinor: 1n }]
    const input = head + rows.map((each) => painPayout({ ...each, currency })).join('') + painTail
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--schema', schema ?? '', '-'], { input })
    assert.equal(status, 0, String(stderr))
  }
})

test('CSV cells are escaped for spreadsheets', () => {
  assert.equal(payoutCsvHead, 'payoutId,merchantId,currency,amount,holder,iban,bic,lines\r\n')
  assert.equal(
    payoutCsvRow({ ...payout, account: { ...payout.account, holder: '=cmd()', bic: 'COBADEFF' } }),
    "T01K73ZQ800JZ7V3N4Q5R6S7T8W,100000000000000001,EUR,1234.56,'=cmd(),NL91ABNA0417164300,COBADEFF,\r\n",
  )
  const lines = ['1', 'Bank']
  assert.match(
    payoutCsvRow({ ...payout, account: { ...payout.account, iban: undefined, lines } }),
    /,,,"1, Bank"\r\n$/,
  )
})
