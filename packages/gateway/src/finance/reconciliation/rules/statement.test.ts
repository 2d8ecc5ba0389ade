import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { makeCamtReader } from './camt053.ts'
import { makeMt940Reader } from './mt940.ts'
import { makeIdentify, type StatementReader } from './statement.ts'

const account = '<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>'
const entry = (amount: string) =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-16</Dt></BookgDt></Ntry>`
const opening = (amount: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-16</Dt></Dt></Bal>`
/** A statement with its identification, its opening, and the amounts of its entries. */
const statement = (names: string, first: string, ...amounts: string[]) =>
  `<Stmt>${names}${account}${first && opening(first)}${amounts.map(entry).join('')}</Stmt>`
const file = (...statements: string[]) =>
  `<Document><BkToCstmrStmt>${statements.join('')}</BkToCstmrStmt></Document>`
const message = (number: string, first: string, entries: number) =>
  `:20:STARTUMSE\n:25:DE89370400440532013000\n:28C:${number}\n:60F:C261115EUR${first}\n${':61:2611161116C5,NTRFNONREF\n'.repeat(entries)}:62F:C261116EUR9,\n-\n`

/** The lines of a file, each as the number of its first identical line. */
function linesOf(text: string, reader: StatementReader): number[] {
  const { beginStatement, identify } = makeIdentify((said) =>
    createHash('sha256').update(said).digest('hex').slice(0, 32),
  )
  const ids = [...reader.write(text), ...reader.end()].flatMap((item) => {
    if (item.kind === 'statement') beginStatement('bank:main', item.id)
    return item.kind === 'line' ? [identify('bank:main', item.line).lineId] : []
  })
  const numbers = new Map<string, number>()
  for (const id of ids) if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
  return ids.map((id) => numbers.get(id) ?? 0)
}
const camt = (...statements: string[]) => linesOf(file(...statements), makeCamtReader())
const mt940 = (...messages: string[]) => linesOf(messages.join(''), makeMt940Reader())

test('identical lines are two lines, in one statement and in two', () => {
  assert.deepEqual(camt(statement('<Id>1</Id>', '9', '5', '5')), [1, 2])
  assert.deepEqual(camt(statement('<Id>1</Id>', '9', '5'), statement('<Id>2</Id>', '9', '5')), [1, 2])
  assert.deepEqual(camt(statement('', '9', '5'), statement('', '9', '5')), [1, 2])
  assert.deepEqual(mt940(message('12/1', '9,', 2), message('13/1', '9,', 1)), [1, 2, 3])
})

test('a repeated statement in a file has the same lines both times', () => {
  const copied = statement('<Id>1</Id><CpyDplctInd>DUPL</CpyDplctInd>', '9', '5', '7', '5')
  const original = copied.replace(/<CpyDplctInd>.*<\/CpyDplctInd>/, '')
  assert.deepEqual(camt(original, copied), [1, 2, 3, 1, 2, 3])
  assert.deepEqual(
    camt(statement('<Id>0</Id>', '9', '5'), original, statement('<Id>2</Id>', '9', '5'), copied, copied),
    [1, 2, 3, 4, 5, 2, 3, 4, 2, 3, 4],
  )
  assert.deepEqual(mt940(message('12/1', '9,', 2), message('12/1', '9,', 2)), [1, 2, 1, 2])
})

test('additional lines of a copy are new, and what follows it is not part of it', () => {
  const original = statement('<Id>1</Id>', '9', '5')
  const longer = statement('<Id>1</Id>', '9', '5', '5')
  assert.deepEqual(camt(original, longer, longer), [1, 1, 2, 1, 2])
  assert.deepEqual(camt(original, original, statement('', '9', '5')), [1, 1, 2])
  assert.deepEqual(camt(original, statement('<Id>2</Id>', '9', '5'), longer), [1, 2, 1, 3])
})

test('pages of one statement are not copies of each other', () => {
  const page = (number: number, first: string) =>
    statement(`<Id>1</Id><StmtPgntn><PgNb>${number}</PgNb></StmtPgntn>`, first, '5')
  assert.deepEqual(camt(page(1, ''), page(2, ''), page(1, '')), [1, 2, 1])
  assert.deepEqual(camt(statement('<Id>1</Id>', '9', '5'), statement('<Id>1</Id>', '14', '5')), [1, 2])
  assert.deepEqual(mt940(message('12/1', '9,', 1), message('12/2', '9,', 1)), [1, 2])
  assert.deepEqual(mt940(message('0', '9,', 1), message('0', '14,', 1)), [1, 2])
})

test('many identical lines take no more time to distinguish than others', () => {
  const many = 20_000
  const lines = mt940(message('1', '9,', many), message('1', '9,', many))
  assert.equal(new Set(lines.slice(0, many)).size, many)
  assert.deepEqual(lines.slice(many), lines.slice(0, many))
})

test('a line that was stored without the counterparty’s account is the same line when read with one', () => {
  const { identify } = makeIdentify((said) => createHash('sha256').update(said).digest('hex').slice(0, 32))
  const line = {
    lineNumber: 1,
    day: '2026-11-16',
    valueDay: '2026-11-16',
    currency: 'EUR',
    amountMinor: 500n,
    feeMinor: 0n,
    entryReference: 'B7',
    references: ['B7'],
    batch: undefined,
    isReturn: false,
    party: 'Ada',
    description: 'Order',
    partyIban: 'NL91ABNA0417164300',
  }
  const before =
    '["bank:main","500","0",["2026-11-16","2026-11-16","EUR","B7",["B7"],null,false,"Ada","Order"]]'
  const id = createHash('sha256').update(before).digest('hex').slice(0, 32)
  assert.equal(identify('bank:main', line).lineId, id)
})
