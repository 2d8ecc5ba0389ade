// Reads camt.053 (ISO 20022), versions 2, 4 and 8, as a stream that holds only the current entry. Document types are
// rejected, and with them all entity declarations.
import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { bindAll } from '../../../platform/runtime/bind-all.ts'
import { dayAfter } from '../../../platform/runtime/utc.ts'
import {
  amountOf,
  dayOf,
  referencesOf,
  type StatementItem,
  type StatementLine,
  type StatementReader,
  shortened,
  soleIban,
  unreadable,
} from './statement.ts'

const limits = {
  depth: 40,
  /** Characters without a start or end of an element. */
  quiet: 128 * 1024,
  piece: 32 * 1024,
  details: 50_000,
  text: 2_000,
} as const

type Fields = Map<string, string>

interface Entry {
  readonly lineNumber: number
  readonly fields: Fields
  readonly details: Fields[]
}

/** The parser's position and the parts read so far. */
interface State {
  readonly parser: SaxesParser
  readonly path: string[]
  found: StatementItem[]
  text: string
  /** Characters since the last start or end of an element. */
  quiet: number
  isStatement: boolean
  hasStatement: boolean
  isAccountReported: boolean
  account: Fields
  balance: Fields
  entry: Entry | undefined
  detail: Fields | undefined
}

export function makeCamtReader(): StatementReader {
  const state: State = {
    parser: new SaxesParser(),
    path: [],
    found: [],
    text: '',
    quiet: 0,
    isStatement: false,
    hasStatement: false,
    isAccountReported: false,
    account: new Map(),
    balance: new Map(),
    entry: undefined,
    detail: undefined,
  }
  listen(state)
  return bindAll(state, { write, end })
}

function here({ parser }: State): number {
  return parser.line
}

function listen(state: State): void {
  state.parser.on('doctype', () => {
    throw unreadable(here(state), 'the file contains a document type declaration, which is not allowed.')
  })
  state.parser.on('error', (error) => {
    throw unreadable(here(state), `this is not well-formed XML: ${error.message.replace(/^\d+:\d+: /, '')}`)
  })
  state.parser.on('opentag', (tag) => open(state, tag))
  state.parser.on('text', (piece) => {
    state.quiet = 0
    if (state.text.length < limits.text) state.text += piece
  })
  state.parser.on('cdata', (piece) => {
    if (state.text.length < limits.text) state.text += piece
  })
  state.parser.on('closetag', () => close(state))
}

function write(state: State, given: string): StatementItem[] {
  for (let from = 0; from < given.length; from += limits.piece) {
    const piece = given.slice(from, from + limits.piece)
    state.quiet += piece.length
    state.parser.write(piece)
    if (state.quiet > limits.quiet)
      throw unreadable(here(state), `more than ${limits.quiet} characters without markup.`)
  }
  return taken(state)
}

function end(state: State): StatementItem[] {
  state.parser.close()
  if (!state.isStatement) throw notCamt(here(state), 'nothing')
  if (!state.hasStatement)
    throw unreadable(here(state), 'there is no statement (Stmt) in the file. Download it again.')
  return taken(state)
}

function taken(state: State): StatementItem[] {
  const items = state.found
  state.found = []
  return items
}

function open(state: State, { name, attributes }: SaxesTagPlain): void {
  state.quiet = 0
  state.text = ''
  const local = name.slice(name.indexOf(':') + 1)
  state.path.push(local)
  if (state.path.length > limits.depth)
    throw unreadable(here(state), `elements lie more than ${limits.depth} deep.`)
  if (local === 'BkToCstmrStmt') state.isStatement = true
  if (state.path.length === 2 && state.path[0] === 'Document' && !state.isStatement)
    throw notCamt(here(state), local)
  const where = within(state, 'Stmt')
  if (where === '') {
    state.hasStatement = true
    state.account = new Map()
    state.balance = new Map()
    state.isAccountReported = false
  } else if (where === 'Bal') state.balance = new Map()
  else if (where === 'Ntry') state.entry = { lineNumber: here(state), fields: new Map(), details: [] }
  else if (where === 'Ntry/NtryDtls/TxDtls') state.detail = new Map()
  if (attributes['Ccy'] !== undefined) put(state, `${where}@Ccy`, attributes['Ccy'])
}

function close(state: State): void {
  state.quiet = 0
  const where = within(state, 'Stmt')
  if (where !== undefined) {
    if (state.text.trim() !== '') put(state, where, state.text.trim())
    if (where === 'Bal') readBalance(state)
    if (where === 'Ntry') readEntry(state)
    if (where === 'Ntry/NtryDtls/TxDtls') endDetail(state)
  }
  state.text = ''
  state.path.pop()
}

/** The path below the statement; undefined outside. */
function within(state: State, root: string): string | undefined {
  const at = state.path.indexOf(root)
  return at === -1 ? undefined : state.path.slice(at + 1).join('/')
}

function put(state: State, where: string, value: string): void {
  if (state.detail && where.startsWith('Ntry/NtryDtls/TxDtls/')) add(state.detail, where.slice(21), value)
  else if (state.entry && where.startsWith('Ntry/')) add(state.entry.fields, where.slice(5), value)
  else if (where.startsWith('Bal/')) add(state.balance, where.slice(4), value)
  else if (where.startsWith('Acct/') || where === 'FrToDt/ToDtTm' || where === 'CreDtTm' || isName(where))
    add(state.account, where, value)
}

function reportAccount(state: State): void {
  if (state.isAccountReported) return
  state.isAccountReported = true
  const { account, balance, entry } = state
  const currency = [account.get('Acct/Ccy'), balance.get('Amt@Ccy'), entry?.fields.get('Amt@Ccy')].find(
    Boolean,
  )
  state.found.push({ kind: 'account', number: ownNumber(state), currency, lineNumber: here(state) })
  // With its first balance, for pages may share the rest.
  const id = JSON.stringify([
    ...names.map((name) => state.account.get(name) ?? ''),
    ...state.balance.values(),
  ])
  state.found.push({ kind: 'statement', id: state.account.has('Id') ? id : undefined })
}

function ownNumber(state: State): string | undefined {
  return (state.account.get('Acct/Id/IBAN') ?? state.account.get('Acct/Id/Othr/Id'))?.replace(/\s/g, '')
}

/** Only booked balances: available ones are forecasts, interim ones belong to a page. */
function readBalance(state: State): void {
  reportAccount(state)
  const kind = state.balance.get('Tp/CdOrPrtry/Cd') ?? ''
  const isOpening = kind === 'OPBD' || kind === 'PRCD'
  const when = state.balance.get('Dt/Dt') ?? state.balance.get('Dt/DtTm')
  if ((!isOpening && kind !== 'CLBD') || when === undefined) return
  const day = dayOf(when, here(state))
  if (kind === 'CLBD') state.account.set('closed', day)
  if (state.balance.get('Tp/SubTp/Cd') === 'INTM') return
  const currency = state.balance.get('Amt@Ccy') ?? ''
  const amountMinor = signed(state.balance, amountOf(state.balance.get('Amt') ?? '', currency, here(state)))
  // The opening balance of a day is the closing balance of the previous day.
  const at = kind === 'OPBD' ? dayAfter(day, -1) : day
  state.found.push({ kind: 'balance', balance: { day: at, currency, amountMinor }, lineNumber: here(state) })
}

function endDetail(state: State): void {
  if (!state.entry || !state.detail) return
  state.entry.details.push(state.detail)
  state.detail = undefined
  if (state.entry.details.length > limits.details)
    throw unreadable(here(state), `an entry has more than ${limits.details} transactions.`)
}

function readEntry(state: State): void {
  if (!state.entry) return
  reportAccount(state)
  const of = state.entry
  state.entry = undefined
  const status = of.fields.get('Sts/Cd') ?? of.fields.get('Sts') ?? 'BOOK'
  if (status !== 'BOOK') state.found.push({ kind: 'skipped' })
  // Some banks omit entries' days, which are then the statement's.
  const day =
    state.account.get('closed') ?? state.account.get('FrToDt/ToDtTm') ?? state.account.get('CreDtTm')
  if (status === 'BOOK')
    for (const line of linesOf(of, { day, own: ownNumber(state) })) state.found.push({ kind: 'line', line })
}

/** The fields that distinguish statements of one account. */
const names = ['Id', 'StmtPgntn/PgNb', 'ElctrncSeqNb', 'LglSeqNb']

function isName(where: string): boolean {
  return names.includes(where)
}

/** What banks send along with statements, or instead of them. */
const otherMessages: Readonly<Record<string, string>> = {
  BkToCstmrAcctRpt: 'a camt.052, which has unbooked entries',
  BkToCstmrDbtCdtNtfctn: 'a camt.054, whose entries are also in the statement',
}

function notCamt(lineNumber: number, found: string) {
  const other = otherMessages[found.replace(/V\d+$/, '')]
  if (other !== undefined) return unreadable(lineNumber, `this is ${other}. Import the camt.053 of the day.`)
  return unreadable(
    lineNumber,
    `this is not a camt.053 statement: BkToCstmrStmt is expected, but found ${found}.`,
  )
}

/** Repeated elements, such as remittance lines, are joined. */
function add(fields: Fields, name: string, value: string): void {
  const before = fields.get(name)
  if (before === undefined) fields.set(name, value.slice(0, limits.text))
  else if (before.length < limits.text) fields.set(name, `${before} ${value}`.slice(0, limits.text))
}

function signed(fields: Fields, amountMinor: bigint): bigint {
  return fields.get('CdtDbtInd') === 'DBIT' ? -amountMinor : amountMinor
}

/** One line per transaction if their amounts are given and add up to the entry; otherwise one line. */
function linesOf(
  { lineNumber, fields, details }: Entry,
  { day: statementDay = '', own }: { readonly day: string | undefined; readonly own: string | undefined },
): StatementLine[] {
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
  const partyIban = (of: readonly Fields[]) =>
    soleIban(
      of.map((detail) => accountOf(detail, fields)),
      own,
    )
  if (!areApart)
    return [
      { ...base, amountMinor, entryReference, ...namesOf(fields, details), partyIban: partyIban(details) },
    ]
  return details.map((detail, index) => ({
    ...base,
    amountMinor: amounts[index] ?? 0n,
    entryReference: shortened(detail.get('Refs/AcctSvcrRef')) ?? entryReference,
    ...namesOf(fields, [detail]),
    partyIban: partyIban([detail]),
  }))
}

/** The other party's account. */
function accountOf(detail: Fields, fields: Fields): string | undefined {
  return detail.get(`RltdPties/${sideOf(detail.has('CdtDbtInd') ? detail : fields)}Acct/Id/IBAN`)
}

function sideOf(fields: Fields): 'Cdtr' | 'Dbtr' {
  return fields.get('CdtDbtInd') === 'DBIT' ? 'Cdtr' : 'Dbtr'
}

/** Undefined if the amount is not in the entry's currency. */
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
/** For a batch booked as one sum, this many transactions are searched for references. */
const maxNamedDetails = 8

function namesOf(fields: Fields, details: readonly Fields[]) {
  const some = details.slice(0, maxNamedDetails)
  const all = (name: string) => some.flatMap((detail) => detail.get(name) ?? [])
  const texts = [
    ...all('RmtInf/Ustrd'),
    ...all('AddtlTxInf'),
    ...(fields.get('AddtlNtryInf') === undefined ? [] : [fields.get('AddtlNtryInf') ?? '']),
  ]
  const side = sideOf(fields)
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
