// camt.053 (ISO 20022 bank to customer statement), versions 2, 4 and 8, read as it comes: nothing is held but the entry that
// is being read. A document type is refused, and with it every entity that a file could declare.
import { SaxesParser, type SaxesTagPlain } from 'saxes'
import {
  amountOf,
  dayAfter,
  dayOf,
  referencesOf,
  type StatementItem,
  type StatementLine,
  type StatementReader,
  shortened,
  unreadable,
} from './statement.ts'

const limits = {
  depth: 40,
  /** Characters in which no element begins or ends. */
  quiet: 128 * 1024,
  piece: 32 * 1024,
  /** Transactions of one entry. */
  details: 50_000,
  text: 2_000,
} as const

type Fields = Map<string, string>

interface Entry {
  readonly lineNumber: number
  readonly fields: Fields
  readonly details: Fields[]
}

export function makeCamtReader(): StatementReader {
  const parser = new SaxesParser()
  const path: string[] = []
  let found: StatementItem[] = []
  let text = ''
  let quiet = 0
  let isStatement = false
  let isTold = false
  let account: Fields = new Map()
  let balance: Fields = new Map()
  let entry: Entry | undefined
  let detail: Fields | undefined

  const here = () => parser.line
  parser.on('doctype', () => {
    throw unreadable(here(), 'the file declares a document type, which no bank does. It is refused.')
  })
  parser.on('error', (error) => {
    throw unreadable(here(), `this is not well-formed XML: ${error.message.replace(/^\d+:\d+: /, '')}`)
  })
  parser.on('opentag', open)
  parser.on('text', (piece) => {
    quiet = 0
    if (text.length < limits.text) text += piece
  })
  parser.on('cdata', (piece) => {
    if (text.length < limits.text) text += piece
  })
  parser.on('closetag', close)

  return {
    write(given) {
      for (let from = 0; from < given.length; from += limits.piece) {
        const piece = given.slice(from, from + limits.piece)
        quiet += piece.length
        parser.write(piece)
        if (quiet > limits.quiet)
          throw unreadable(here(), `more than ${limits.quiet} characters in which no element begins or ends.`)
      }
      return taken()
    },
    end() {
      parser.close()
      if (!isStatement) throw notCamt(here(), 'nothing')
      return taken()
    },
  }

  function taken(): StatementItem[] {
    const items = found
    found = []
    return items
  }

  function open({ name, attributes }: SaxesTagPlain): void {
    quiet = 0
    text = ''
    const local = name.slice(name.indexOf(':') + 1)
    path.push(local)
    if (path.length > limits.depth) throw unreadable(here(), `elements lie more than ${limits.depth} deep.`)
    if (local === 'BkToCstmrStmt') isStatement = true
    if (path.length === 2 && path[0] === 'Document' && !isStatement) throw notCamt(here(), local)
    const where = within('Stmt')
    if (where === '') {
      account = new Map()
      balance = new Map()
      isTold = false
    } else if (where === 'Bal') balance = new Map()
    else if (where === 'Ntry') entry = { lineNumber: here(), fields: new Map(), details: [] }
    else if (where === 'Ntry/NtryDtls/TxDtls') detail = new Map()
    if (attributes['Ccy'] !== undefined) put(`${where}@Ccy`, attributes['Ccy'])
  }

  function close(): void {
    quiet = 0
    const where = within('Stmt')
    if (where !== undefined) {
      if (text.trim() !== '') put(where, text.trim())
      if (where === 'Bal') readBalance()
      if (where === 'Ntry') readEntry()
      if (where === 'Ntry/NtryDtls/TxDtls') endDetail()
    }
    text = ''
    path.pop()
  }

  /** The path below the statement; undefined: outside of one. */
  function within(root: string): string | undefined {
    const at = path.indexOf(root)
    return at === -1 ? undefined : path.slice(at + 1).join('/')
  }

  function put(where: string, value: string): void {
    if (detail && where.startsWith('Ntry/NtryDtls/TxDtls/')) add(detail, where.slice(21), value)
    else if (entry && where.startsWith('Ntry/')) add(entry.fields, where.slice(5), value)
    else if (where.startsWith('Bal/')) add(balance, where.slice(4), value)
    else if (where.startsWith('Acct/') || where === 'FrToDt/ToDtTm' || where === 'CreDtTm' || isName(where))
      add(account, where, value)
  }

  function tellAccount(): void {
    if (isTold) return
    isTold = true
    const number = account.get('Acct/Id/IBAN') ?? account.get('Acct/Id/Othr/Id')
    found.push({ kind: 'account', number: number?.replace(/\s/g, ''), lineNumber: here() })
    // With its first balance, for pages may share the rest.
    const id = JSON.stringify([...names.map((name) => account.get(name) ?? ''), ...balance.values()])
    found.push({ kind: 'statement', id: account.has('Id') ? id : undefined })
  }

  /** Booked balances alone: available ones are the bank's promise, interim ones of a page. */
  function readBalance(): void {
    tellAccount()
    const kind = balance.get('Tp/CdOrPrtry/Cd') ?? ''
    const isOpening = kind === 'OPBD' || kind === 'PRCD'
    const when = balance.get('Dt/Dt') ?? balance.get('Dt/DtTm')
    if ((!isOpening && kind !== 'CLBD') || when === undefined) return
    const day = dayOf(when, here())
    if (kind === 'CLBD') account.set('closed', day)
    if (balance.get('Tp/SubTp/Cd') === 'INTM') return
    const currency = balance.get('Amt@Ccy') ?? ''
    const amountMinor = signed(balance, amountOf(balance.get('Amt') ?? '', currency, here()))
    // What is there when a day opens is what was there when the one before ended.
    const at = kind === 'OPBD' ? dayAfter(day, -1) : day
    found.push({ kind: 'balance', balance: { day: at, currency, amountMinor }, lineNumber: here() })
  }

  function endDetail(): void {
    if (!entry || !detail) return
    entry.details.push(detail)
    detail = undefined
    if (entry.details.length > limits.details)
      throw unreadable(here(), `an entry has more than ${limits.details} transactions.`)
  }

  function readEntry(): void {
    if (!entry) return
    tellAccount()
    const of = entry
    entry = undefined
    const status = of.fields.get('Sts/Cd') ?? of.fields.get('Sts') ?? 'BOOK'
    if (status !== 'BOOK') found.push({ kind: 'skipped' })
    // Some banks leave out the days of entries: they are the statement's.
    const day = account.get('closed') ?? account.get('FrToDt/ToDtTm') ?? account.get('CreDtTm')
    if (status === 'BOOK') for (const line of linesOf(of, day)) found.push({ kind: 'line', line })
  }
}

/** By what a statement is told from others of its account. */
const names = ['Id', 'StmtPgntn/PgNb', 'ElctrncSeqNb', 'LglSeqNb']

function isName(where: string): boolean {
  return names.includes(where)
}

function notCamt(lineNumber: number, found: string) {
  return unreadable(
    lineNumber,
    `this is no camt.053 statement: BkToCstmrStmt is expected and ${found} is there.`,
  )
}

/** What comes more than once, such as lines of a remittance, is joined. */
function add(fields: Fields, name: string, value: string): void {
  const before = fields.get(name)
  if (before === undefined) fields.set(name, value.slice(0, limits.text))
  else if (before.length < limits.text) fields.set(name, `${before} ${value}`.slice(0, limits.text))
}

function signed(fields: Fields, amountMinor: bigint): bigint {
  return fields.get('CdtDbtInd') === 'DBIT' ? -amountMinor : amountMinor
}

/** A line for each transaction where their amounts are said and make up the entry; one for the entry otherwise. */
function linesOf({ lineNumber, fields, details }: Entry, statementDay = ''): StatementLine[] {
  const currency = fields.get('Amt@Ccy') ?? ''
  const amountMinor = signed(fields, amountOf(fields.get('Amt') ?? '', currency, lineNumber))
  const when = fields.get('BookgDt/Dt') ?? fields.get('BookgDt/DtTm')
  const valued = fields.get('ValDt/Dt') ?? fields.get('ValDt/DtTm')
  const day = dayOf(when ?? valued ?? statementDay, lineNumber)
  const valueDay = dayOf(valued ?? when ?? statementDay, lineNumber)
  const entryReference = shortened(fields.get('AcctSvcrRef') ?? fields.get('NtryRef'))
  const base = { lineNumber, day, valueDay, currency, feeMinor: 0n, batch: undefined }
  const amounts = details.map((detail) => detailAmount(detail, { fields, lineNumber, currency }))
  const sum = amounts.reduce<bigint>((total, each) => total + (each ?? 0n), 0n)
  const areApart =
    details.length > 1 && sum === amountMinor && amounts.every((each) => each !== undefined && each !== 0n)
  if (!areApart && amountMinor === 0n) return []
  if (!areApart) return [{ ...base, amountMinor, entryReference, ...namesOf(fields, details) }]
  return details.map((detail, index) => ({
    ...base,
    amountMinor: amounts[index] ?? 0n,
    entryReference: shortened(detail.get('Refs/AcctSvcrRef')) ?? entryReference,
    ...namesOf(fields, [detail]),
  }))
}

/** Undefined: it is not said in the currency of the entry. */
function detailAmount(
  detail: Fields,
  { fields, lineNumber, currency }: { fields: Fields; lineNumber: number; currency: string },
): bigint | undefined {
  for (const name of ['Amt', 'AmtDtls/TxAmt/Amt'])
    if (detail.get(`${name}@Ccy`) === currency && detail.has(name)) {
      const minor = amountOf(detail.get(name) ?? '', currency, lineNumber)
      return signed(detail.has('CdtDbtInd') ? detail : fields, minor)
    }
  return undefined
}

const referenceElements = ['EndToEndId', 'TxId', 'InstrId', 'PmtInfId', 'MsgId', 'MndtId'].map(
  (name) => `Refs/${name}`,
)
/** Of a batch entry that is booked as one sum, so many transactions are looked at for references. */
const maxNamedDetails = 8

function namesOf(fields: Fields, details: readonly Fields[]) {
  const some = details.slice(0, maxNamedDetails)
  const all = (name: string) => some.flatMap((detail) => detail.get(name) ?? [])
  const texts = [
    ...all('RmtInf/Ustrd'),
    ...all('AddtlTxInf'),
    ...(fields.get('AddtlNtryInf') === undefined ? [] : [fields.get('AddtlNtryInf') ?? '']),
  ]
  const side = fields.get('CdtDbtInd') === 'DBIT' ? 'Cdtr' : 'Dbtr'
  const party = [`${side}/Nm`, `${side}/Pty/Nm`].flatMap((name) => all(`RltdPties/${name}`))[0]
  const code = fields.get('BkTxCd/Domn/Fmly/SubFmlyCd')
  return {
    references: referencesOf(
      [
        ...all('RmtInf/Strd/CdtrRefInf/Ref'),
        ...referenceElements.flatMap(all),
        fields.get('NtryDtls/Btch/PmtInfId'),
        fields.get('NtryDtls/Btch/MsgId'),
      ],
      texts,
    ),
    isReturn:
      code === 'RRTN' || some.some((detail) => [...detail.keys()].some((name) => name.startsWith('RtrInf/'))),
    party: shortened(party),
    description: shortened(texts.join(' ')),
  }
}
