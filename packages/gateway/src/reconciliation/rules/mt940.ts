// MT940 (SWIFT customer statement message), which many banks still give: one message after another, in a SWIFT envelope or
// without, its fields `:61:`, `:86:` … a line or more each. What free text holds is told by the two ways that banks in Europe
// have: `?20` … `?63` with SEPA keywords, and `/EREF/` … `/REMI/`.
import { isValidIBAN } from 'ibantools'
import {
  amountOf,
  dayAfter,
  dayOf,
  daysBetween,
  referencesOf,
  type StatementItem,
  type StatementReader,
  shortened,
  unreadable,
} from './statement.ts'

const limits = { line: 4 * 1024, field: 8 * 1024 } as const

interface Field {
  readonly tag: string
  readonly lineNumber: number
  readonly lines: string[]
}

export function makeMt940Reader(): StatementReader {
  let rest = ''
  let lineNumber = 0
  let field: Field | undefined
  let entry: Field | undefined
  let currency: string | undefined
  /** Of the statement: its reference, and its number with the page. */
  let reference = ''
  let number = ''
  let isOpen = false
  let isRead = false
  let found: StatementItem[] = []

  return {
    write(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) readLine(line)
      if (rest.length > limits.line + 1) throw tooLong(lineNumber + 1)
      return taken()
    },
    end() {
      readLine(rest)
      endField()
      if (isOpen)
        throw unreadable(lineNumber, 'a statement has no closing balance (:62F:): the file is cut off.')
      if (!isRead) throw unreadable(1, 'there is no statement in it: a closing balance (:62F:) is expected.')
      return taken()
    },
  }

  function taken(): StatementItem[] {
    const items = found
    found = []
    return items
  }

  function readLine(written: string): void {
    lineNumber++
    const line = written.replace(/\r$/, '')
    if (line.length > limits.line) throw tooLong(lineNumber)
    const [, tag, value = ''] = /^(?:\{1:.*\{4:)?:(\d\d[A-Z]?):(.*)$/.exec(line) ?? []
    if (tag !== undefined) {
      endField()
      field = { tag, lineNumber, lines: [value] }
    } else if (/^-(?:\}|\s*$)|^\{[15]:/.test(line)) endField()
    else if (field) {
      field.lines.push(line)
      if (field.lines.reduce((sum, { length }) => sum + length, 0) > limits.field) throw tooLong(lineNumber)
    }
  }

  function endField(): void {
    const of = field
    field = undefined
    if (of?.tag !== '86') endEntry()
    if (of === undefined) return
    const [value = ''] = of.lines
    if (of.tag === '20') {
      if (isOpen)
        throw unreadable(of.lineNumber, 'a statement begins before the one before it ended (:62F:).')
      isOpen = true
      currency = undefined
      reference = value
      number = ''
    } else if (of.tag === '25')
      found.push({ kind: 'account', number: accountOf(value), lineNumber: of.lineNumber })
    else if (of.tag === '28' || of.tag === '28C') number = value
    else if (of.tag === '60F' || of.tag === '60M') {
      currency = balanceOf(value, of.lineNumber).currency
      // With its opening balance, for many banks give all their statements the same number.
      found.push({ kind: 'statement', id: JSON.stringify([reference, number, value]) })
    } else if (of.tag === '61') entry = of
    else if (of.tag === '86') endEntry(of)
    else if (of.tag === '62F' || of.tag === '62M') {
      // One within is of a page, and the statement goes on in the next message.
      if (of.tag === '62F')
        found.push({ kind: 'balance', balance: balanceOf(value, of.lineNumber), lineNumber: of.lineNumber })
      isOpen = false
      isRead = true
    }
  }

  function endEntry(info?: Field): void {
    const of = entry
    entry = undefined
    if (of === undefined) return
    if (currency === undefined)
      throw unreadable(of.lineNumber, 'an entry (:61:) stands before the opening balance (:60F:).')
    const line = lineOf(of, info?.lines ?? [], currency)
    found.push(line.amountMinor === 0n ? { kind: 'skipped' } : { kind: 'line', line })
  }
}

function tooLong(lineNumber: number) {
  return unreadable(lineNumber, 'this is no MT940: its lines are short, and begin with a field such as :61:.')
}

/** An IBAN may have the currency behind it. */
function accountOf(written: string): string {
  const number = written.replace(/\s/g, '')
  const shorter = number.slice(0, -3)
  return !isValidIBAN(number) && isValidIBAN(shorter) ? shorter : number
}

/** The IBAN itself, or of a German one what it is made of, as `:25:` may have it: bank code and account number. */
export function isNumberOf(iban: string, number: string): boolean {
  const [, bankCode, account = ''] = /^(\d{8})\/(\d{1,10})(?:[A-Z]{3})?$/.exec(number) ?? []
  if (bankCode === undefined) return iban === number
  return iban.startsWith('DE') && iban.slice(4) === bankCode + account.padStart(10, '0')
}

function balanceOf(written: string, lineNumber: number) {
  const [, sign, day = '', currency = '', amount = ''] =
    /^([CD])(\d{6})([A-Z]{3})([\d,]+)$/.exec(written.trim()) ?? []
  if (sign === undefined)
    throw unreadable(
      lineNumber,
      `${JSON.stringify(written.slice(0, 40))} is no balance such as C261130EUR12,50.`,
    )
  const minor = amountOf(amount.replace(',', '.'), currency, lineNumber)
  return { day: shortDay(day, lineNumber), currency, amountMinor: sign === 'D' ? -minor : minor }
}

const entryPattern =
  /^(?<value>\d{6})(?<booked>\d{4})?(?<mark>R?[CD])[A-Z]?(?<amount>\d[\d,]*)(?<type>[A-Z][A-Z0-9 ]{3})(?<reference>.*?)(?:\/\/(?<own>.*))?$/

function lineOf({ lineNumber, lines }: Field, info: readonly string[], currency: string) {
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
  // RC takes a credit back, RD a debit.
  const isOut = mark === 'D' || mark === 'RC'
  const { named, texts, party, isReturn } = readInfo(info)
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
  }
}

function shortDay(written: string, lineNumber: number): string {
  return dayOf(dayIn(`20${written.slice(0, 2)}`, written.slice(2)), lineNumber)
}

/** The day of booking has no year: it is the one nearest to the day of value. */
function nearest(monthDay: string, valueDay: string, lineNumber: number): string {
  const year = Number(valueDay.slice(0, 4))
  const days = [year, year - 1, year + 1].map((each) => dayIn(each.toString(), monthDay))
  const near = days.find((day) => Math.abs(daysBetween(day, valueDay)) < 180)
  return dayOf(near ?? days[0] ?? '', lineNumber)
}

/** Banks that count months of 30 days write the 30th of February, and mean its last. */
function dayIn(year: string, monthDay: string): string {
  if (monthDay === '0229' || monthDay === '0230') return dayAfter(`${year}-03-01`, -1)
  return `${year}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`
}

interface Info {
  /** What surely is a reference. */
  readonly named: readonly (string | undefined)[]
  /** The first is for people. */
  readonly texts: readonly string[]
  readonly party: string | undefined
  readonly isReturn: boolean
}

/** Of German banks: codes of business cases that give money back. */
const returnCodes = new Set(['108', '109', '159', '183', '184'])

function readInfo(lines: readonly string[]): Info {
  const whole = lines.join('')
  if (/^\d{3}[^\w\s]\d\d/.test(whole)) return readSubfields(whole)
  if (/^\/[A-Z]{2,4}\//.test(whole)) return readSlashes(whole)
  // Lines are cut at 65 characters, within words as well.
  return { named: [], texts: [lines.join(' '), whole], party: undefined, isReturn: false }
}

/** `166?00CREDIT?20EREF+T01?21SVWZ+INVOICE 7?32ADA`, by whatever sign. */
function readSubfields(whole: string): Info {
  const [code = '', ...subfields] = whole.split(whole.charAt(3))
  const of = (isWanted: (number: number) => boolean) =>
    subfields.flatMap((each) => (isWanted(Number(each.slice(0, 2))) ? [each.slice(2)] : []))
  const purpose = of((number) => (number >= 20 && number <= 29) || (number >= 60 && number <= 63)).join('')
  const words = new Map(
    purpose
      .split(/(?=(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|RREF|BREF|PURP|IBAN|BIC)\+)/)
      .map((each) => [each.slice(0, each.indexOf('+')), each.slice(each.indexOf('+') + 1)] as const),
  )
  const text = words.get('SVWZ') ?? purpose
  return {
    named: [words.get('EREF'), words.get('KREF'), words.get('RREF'), words.get('MREF')],
    texts: [text, ...(text === purpose ? [] : [purpose])],
    party: of((number) => number === 32 || number === 33).join('') || undefined,
    isReturn: returnCodes.has(code) || words.has('RREF'),
  }
}

/** `/EREF/T01//CNTP/IBAN/BIC/Ada///REMI/USTD//Invoice 7/`. */
function readSlashes(whole: string): Info {
  const words = new Map<string, string>()
  const pieces = whole.split(
    /\/(EREF|PREF|IREF|MARF|CSID|CNTP|REMI|RTRN|ORDP|BENM|TRTP|NAME|IBAN|BIC|PURP|ULTC|ULTD)\//,
  )
  for (let at = 1; at < pieces.length; at += 2) words.set(pieces[at] ?? '', pieces[at + 1] ?? '')
  const value = (word: string) => words.get(word)?.replace(/\/+$/, '')
  const remittance = value('REMI')?.replace(/^(?:USTD|STRD\/CUR)\/+/, '')
  return {
    named: [
      ...(remittance === undefined ? [] : [remittance.length <= 35 ? remittance : undefined]),
      value('EREF'),
      value('PREF'),
      value('MARF'),
    ],
    texts: [remittance ?? whole, ...(remittance === undefined ? [] : [whole.replaceAll('/', ' ')])],
    party: value('NAME') ?? value('CNTP')?.split('/')[2],
    isReturn: words.has('RTRN'),
  }
}
