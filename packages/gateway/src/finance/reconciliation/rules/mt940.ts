// Reads MT940 (SWIFT customer statement messages), with or without SWIFT envelopes. Field `:86:` is parsed in
// mt940-info.ts.
import { isValidIBAN } from 'ibantools'
import { bindAll } from '../../../platform/runtime/bind-all.ts'
import { dayAfter, daysBetween } from '../../../platform/runtime/utc.ts'
import { readInfo } from './mt940-info.ts'
import {
  amountOf,
  dayOf,
  referencesOf,
  type StatementItem,
  type StatementReader,
  shortened,
  soleIban,
  unreadable,
} from './statement.ts'

const limits = { line: 4 * 1024, field: 8 * 1024 } as const

interface Field {
  readonly tag: string
  readonly lineNumber: number
  readonly lines: string[]
}

/** The parser's position and the parts read so far. */
interface State {
  /** The end of the last piece, possibly a partial line. */
  rest: string
  lineNumber: number
  field: Field | undefined
  entry: Field | undefined
  currency: string | undefined
  account: string | undefined
  /** Where the account is named. */
  accountLine: number | undefined
  isAccountReported: boolean
  /** The statement's reference, and its number with the page. */
  reference: string
  number: string
  isOpen: boolean
  isRead: boolean
  found: StatementItem[]
}

export function makeMt940Reader(): StatementReader {
  const state: State = {
    rest: '',
    lineNumber: 0,
    field: undefined,
    entry: undefined,
    currency: undefined,
    account: undefined,
    accountLine: undefined,
    isAccountReported: false,
    reference: '',
    number: '',
    isOpen: false,
    isRead: false,
    found: [],
  }
  return bindAll(state, { write, end })
}

function write(state: State, text: string): StatementItem[] {
  const lines = (state.rest + text).split('\n')
  state.rest = lines.pop() ?? ''
  for (const line of lines) readLine(state, line)
  if (state.rest.length > limits.line + 1) throw tooLong(state.lineNumber + 1)
  return taken(state)
}

function end(state: State): StatementItem[] {
  readLine(state, state.rest)
  endField(state)
  if (state.isOpen)
    throw unreadable(state.lineNumber, 'a statement has no closing balance (:62F:): the file is cut off.')
  if (!state.isRead)
    throw unreadable(1, 'there is no statement in it: a closing balance (:62F:) is expected.')
  return taken(state)
}

function taken(state: State): StatementItem[] {
  const items = state.found
  state.found = []
  return items
}

function readLine(state: State, written: string): void {
  state.lineNumber++
  const line = written.replace(frameBytes, '').replace(/\r$/, '')
  if (line.length > limits.line) throw tooLong(state.lineNumber)
  const isEnd = /^-(?:\}|\s*$)|^\{[15]:/.test(line)
  if (isEnd) endField(state)
  const [, tag, value = ''] = /^(?:(?:-\})?\{[15]:.*\{4:)?:(\d\d[A-Z]?):(.*)$/.exec(line) ?? []
  if (tag !== undefined) {
    endField(state)
    state.field = { tag, lineNumber: state.lineNumber, lines: [value] }
  } else if (state.field && !isEnd) {
    state.field.lines.push(line)
    if (state.field.lines.reduce((sum, { length }) => sum + length, 0) > limits.field)
      throw tooLong(state.lineNumber)
  }
}

function endField(state: State): void {
  const of = state.field
  state.field = undefined
  if (of?.tag !== '86') endEntry(state)
  if (of === undefined) return
  const [value = ''] = of.lines
  if (of.tag === '20') {
    if (state.isOpen)
      throw unreadable(of.lineNumber, 'a statement starts before the previous one ends (:62F:).')
    state.isOpen = true
    state.currency = undefined
    state.account = undefined
    state.accountLine = undefined
    state.isAccountReported = false
    state.reference = value
    state.number = ''
  } else if (of.tag === '25' || of.tag === '25P') {
    if (state.account !== undefined && state.isOpen && state.currency !== undefined)
      throw unreadable(of.lineNumber, 'a second account (:25:) is within one statement.')
    state.account = accountOf(value)
    state.accountLine = of.lineNumber
    state.isAccountReported = false
  } else if (of.tag === '28' || of.tag === '28C') state.number = value
  else if (of.tag === '34F')
    throw unreadable(
      of.lineNumber,
      'this is an MT942, which has unbooked entries. Import the MT940 of the day.',
    )
  else if (of.tag === '60F' || of.tag === '60M') {
    state.isOpen = true
    state.currency = balanceOf(value, of.lineNumber).currency
    reportAccount(state, state.currency, of.lineNumber)
    // With its opening balance, for many banks give all their statements the same number.
    state.found.push({ kind: 'statement', id: JSON.stringify([state.reference, state.number, value]) })
  } else if (of.tag === '61') {
    if (!state.isOpen) throw unreadable(of.lineNumber, 'an entry (:61:) is outside of a statement.')
    state.entry = of
  } else if (of.tag === '86') endEntry(state, of)
  else if (of.tag === '62F' || of.tag === '62M') {
    // One within is of a page, and the statement goes on in the next message.
    if (of.tag === '62F') {
      const { lineNumber } = of
      const balance = balanceOf(value, lineNumber)
      reportAccount(state, balance.currency, lineNumber)
      state.found.push({ kind: 'balance', balance, lineNumber })
    }
    state.isOpen = false
    state.isRead = true
  }
}

/** Once for each statement, also for one that names no account: what it holds must not go to the account before it. */
function reportAccount(state: State, currency: string, lineNumber: number): void {
  if (state.isAccountReported) return
  const { account: number, accountLine = lineNumber } = state
  state.isAccountReported = true
  state.found.push({ kind: 'account', number, currency, lineNumber: accountLine })
}

function endEntry(state: State, info?: Field): void {
  const of = state.entry
  state.entry = undefined
  if (of === undefined) return
  if (state.currency === undefined)
    throw unreadable(of.lineNumber, 'an entry (:61:) is before the opening balance (:60F:).')
  const line = lineOf(of, info?.lines ?? [], { currency: state.currency, account: state.account })
  state.found.push(line.amountMinor === 0n ? { kind: 'skipped' } : { kind: 'line', line })
}

function tooLong(lineNumber: number) {
  return unreadable(lineNumber, 'this is not an MT940 file.')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these very bytes are meant.
const frameBytes = /[\u0001-\u0004]/g

/** An IBAN may be followed by the currency. */
function accountOf(written: string): string {
  const number = written.replace(/\s/g, '')
  const shorter = number.slice(0, -3)
  return !isValidIBAN(number) && isValidIBAN(shorter) ? shorter : number
}

function balanceOf(written: string, lineNumber: number) {
  const [, sign, day = '', currency = '', amount = ''] =
    /^([CD])(\d{6})([A-Z]{3})(\d[\d,]*|\d+\.\d*)$/.exec(written.trim()) ?? []
  if (sign === undefined)
    throw unreadable(
      lineNumber,
      `${JSON.stringify(written.slice(0, 40))} is no balance such as C261130EUR12,50.`,
    )
  const minor = amountOf(amount.replace(',', '.'), currency, lineNumber)
  return { day: shortDay(day, lineNumber), currency, amountMinor: sign === 'D' ? -minor : minor }
}

/** Some banks leave out the type where a reference of their own follows. */
const entryPattern =
  /^(?<value>\d{6})(?:(?<booked>\d{4})| {4})?(?<mark>R?[CD])[A-Z]?(?<amount>\d[\d,]*|\d+\.\d*) ?(?:(?<type>[A-Z][A-Z0-9 ]{3})(?<reference>.*?)|(?=\/\/))(?:\/\/(?<own>.*))?$/

function lineOf(
  { lineNumber, lines }: Field,
  info: readonly string[],
  { currency, account }: { readonly currency: string; readonly account: string | undefined },
) {
  const [first = '', ...more] = lines
  const parts = entryPattern.exec(first.trim())?.groups
  if (!parts)
    throw unreadable(
      lineNumber,
      `${JSON.stringify(first.slice(0, 60))} is no entry such as 2611161116C12,50NTRFNONREF.`,
    )
  const { value = '', booked, mark = '', amount = '', type = '', reference, own } = parts
  const valueDay = shortDay(value, lineNumber)
  const minor = amountOf(amount.replace(',', '.'), currency, lineNumber)
  // RC reverses a credit, RD a debit.
  const isOut = mark === 'D' || mark === 'RC'
  const { named, texts, party, isReturn, accounts } = readInfo(info)
  return {
    lineNumber,
    day: booked === undefined ? valueDay : nearest(booked, valueDay, lineNumber),
    valueDay,
    currency,
    amountMinor: isOut ? -minor : minor,
    feeMinor: 0n,
    entryReference: referencesOf([own], [])[0],
    references: referencesOf([...named, reference, own], [...texts, ...more]),
    batch: undefined,
    isReturn: isReturn || type.endsWith('RTI'),
    party: shortened(party),
    description: shortened([...texts.slice(0, 1), ...more].join(' ')),
    // Some banks write it into the reference or the details.
    partyIban: soleIban([...accounts, reference, ...more], account),
  }
}

function shortDay(written: string, lineNumber: number): string {
  return dayOf(dayIn(`20${written.slice(0, 2)}`, written.slice(2)), lineNumber)
}

/** The booking day has no year; it is the one nearest to the value day. */
function nearest(monthDay: string, valueDay: string, lineNumber: number): string {
  const year = Number(valueDay.slice(0, 4))
  const days = [year, year - 1, year + 1].map((each) => dayIn(each.toString(), monthDay))
  const near = days.find((day) => Math.abs(daysBetween(day, valueDay)) < 180)
  return dayOf(near ?? days[0] ?? '', lineNumber)
}

/** Banks with 30-day months write February 30 for its last day. */
function dayIn(year: string, monthDay: string): string {
  if (monthDay === '0229' || monthDay === '0230') return dayAfter(`${year}-03-01`, -1)
  return `${year}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`
}
