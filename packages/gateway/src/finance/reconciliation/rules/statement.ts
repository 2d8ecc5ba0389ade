// What a statement says, whatever its format: lines, balances, and by what each line may be known to the books.
import { Failure, isCalendarDay, toMinorUnits } from '@tillgate/protocol'
import { isValidIBAN } from 'ibantools'
import { withoutHidden } from '../../../platform/runtime/visible-text.ts'
import { isCreditorReference } from '../../rails/rules/bank-account.ts'
import { grouped, withoutSpaces } from '../../treasury/rules/mod-97.ts'

export interface StatementLine {
  /** In the file, for whoever looks for it there. */
  readonly lineNumber: number
  /** When the outside booked it: 2026-11-16. */
  readonly day: string
  readonly valueDay: string
  readonly currency: string
  /** Above zero came in, below zero went out. */
  readonly amountMinor: bigint
  /** What a rail keeps of it. */
  readonly feeMinor: bigint
  /** The bank's own. */
  readonly entryReference: string | undefined
  /** Whatever in it may name something of ours. */
  readonly references: readonly string[]
  /** Of a rail: what is paid over in one sum. */
  readonly batch: string | undefined
  /** The bank says that it is money that came back. */
  readonly isReturn: boolean
  readonly party: string | undefined
  readonly description: string | undefined
  /** Where the money came from, or went: for prefilled forms, and no part of what the line is known by. */
  readonly partyIban: string | undefined
}

/** A line with what tells it from every other one of its account, in whatever file it is. */
export interface KnownLine extends StatementLine {
  readonly lineId: string
  /** By what the books name it: the bank's reference as far as there is one, and never that of another line. */
  readonly mark: string
}

export interface StatementBalance {
  /** At the end of that day. */
  readonly day: string
  readonly currency: string
  readonly amountMinor: bigint
}

export type StatementItem =
  /** What follows is of this account: its IBAN, or its number where it has none; undefined: the file does not say. */
  | {
      readonly kind: 'account'
      readonly number: string | undefined
      /** Some banks give the accounts of several currencies one number. */
      readonly currency: string | undefined
      readonly lineNumber: number
    }
  /** What follows is of this statement, or of this page of it: the same id again in one file says that it is a copy. */
  | { readonly kind: 'statement'; readonly id: string | undefined }
  | { readonly kind: 'line'; readonly line: StatementLine }
  | { readonly kind: 'balance'; readonly balance: StatementBalance; readonly lineNumber: number }
  /** Not booked yet, or left out by the mapping. */
  | { readonly kind: 'skipped' }

/** Reads text piece by piece, and holds no more of it than one entry. Throws a Failure that names the line. */
export interface StatementReader {
  readonly write: (text: string) => StatementItem[]
  readonly end: () => StatementItem[]
}

export function unreadable(lineNumber: number, message: string): Failure {
  return new Failure('invalid_field', { field: 'file', message: `Line ${lineNumber}: ${message}` })
}

export const maxTextLength = 500
const maxReferences = 16
const maxReferenceLength = 140
/** Said instead of a reference. */
const noReferences = new Set(['NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NONE', 'NULL', 'N/A'])

/** Of elements that hold one reference each, then of free text. */
export function referencesOf(named: readonly (string | undefined)[], texts: readonly string[]): string[] {
  const found = new Set<string>()
  for (const each of named) {
    const reference = withoutHidden(each ?? '').replace(/\s+/g, '')
    const isOne = reference !== '' && reference.length <= maxReferenceLength
    if (isOne && !noReferences.has(reference.toUpperCase())) found.add(reference)
  }
  for (const text of texts) for (const reference of referencesIn(text)) found.add(reference)
  return [...found].slice(0, maxReferences)
}

/** Ours: RF, two check digits and 15 characters. */
const ourLength = 19

function referencesIn(text: string): string[] {
  const creditor = [...text.toUpperCase().matchAll(/RF ?\d ?\d[A-Z0-9 ]{15,40}/g)]
    .map(([written]) => written.replaceAll(' ', '').slice(0, ourLength))
    .filter(isCreditorReference)
  const tokens = text.match(/[A-Za-z0-9][A-Za-z0-9._-]{4,63}/g) ?? []
  return [
    ...creditor,
    ...tokens.filter((token) => /\d/.test(token)).map((token) => token.replace(/[._-]+$/, '')),
  ]
}

/**
 * Gives each line of one file its id, by a hash of 32 characters. Of lines that are the same in all that they say, the second
 * is another one, unless its statement is a copy of one before it: then it is the line that it is there.
 */
export function makeIdentify(hash: (text: string) => string) {
  const ordinals = makeOrdinals()
  return {
    /** Of what follows. */
    beginStatement: (account: string, id: string | undefined) =>
      ordinals.begin(id === undefined ? undefined : `${account} ${id}`),
    identify(account: string, line: StatementLine): KnownLine {
      // Without the other side's IBAN: lines that were imported before it was read keep their ids.
      const { lineNumber: _, amountMinor, feeMinor, partyIban: __, ...said } = line
      const content = JSON.stringify([
        account,
        amountMinor.toString(),
        feeMinor.toString(),
        Object.values(said),
      ])
      const first = hash(content)
      const ordinal = ordinals.next(Number.parseInt(first.slice(0, 13), 16))
      const lineId = ordinal === 1 ? first : hash(`${content}\n${ordinal}`)
      return {
        ...line,
        lineId,
        mark: `${line.entryReference?.slice(0, 100) ?? 'line'} ${lineId.slice(0, 12)}`,
      }
    },
  }
}

/** Of lines that are the same, each by a number: the first, the second … in a file, and those of a copy as in the original. */
function makeOrdinals() {
  const statements = new Map<string, number>()
  let begun = 0
  let statement = 0
  /** Of a copy: how many of these lines it had so far. */
  let inCopy: Map<number, number> | undefined
  // Numbers alone, for a file may have millions of lines: the statement that the first of these lines is in.
  const firstIn = new Map<number, number>()
  /** Of lines that there are several of: how many, and which of them each statement has. */
  const several = new Map<number, { count: number; readonly in: Map<number, number[]> }>()

  return {
    begin(id: string | undefined): void {
      const known = id === undefined ? undefined : statements.get(id)
      inCopy = known === undefined ? undefined : new Map()
      statement = known ?? ++begun
      if (id !== undefined) statements.set(id, statement)
    },
    next(line: number): number {
      const nth = inCopy?.get(line) ?? 0
      inCopy?.set(line, nth + 1)
      const first = firstIn.get(line)
      if (first === undefined) {
        firstIn.set(line, statement)
        return 1
      }
      const all = several.get(line) ?? { count: 1, in: new Map([[first, [1]]]) }
      const known = inCopy && all.in.get(statement)?.[nth]
      if (known !== undefined) return known
      several.set(line, all)
      all.in.set(statement, all.in.get(statement) ?? [])
      all.in.get(statement)?.push(++all.count)
      return all.count
    },
  }
}

/** Digits and one point, as banks write it; zeros behind what the currency has are nothing. Throws where it is no amount. */
export function amountOf(written: string, currency: string, lineNumber: number): bigint {
  const decimal = written
    .trim()
    .replace(/^(?=\.)/, '0')
    .replace(/^0+(?=\d)/, '')
  try {
    return toMinorUnits(decimal.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''), currency, 'the amount')
  } catch (error) {
    const why = error instanceof Failure ? error.message : String(error)
    throw unreadable(
      lineNumber,
      `${JSON.stringify(written.slice(0, 40))} ${JSON.stringify(currency.slice(0, 8))}: ${why}`,
    )
  }
}

/** A day of the calendar, of a date or a time as ISO 8601 has it. */
export function dayOf(written: string, lineNumber: number): string {
  const day = written.trim().slice(0, 10)
  if (isCalendarDay(day)) return day
  throw unreadable(lineNumber, `${JSON.stringify(written.slice(0, 40))} is no day of the calendar.`)
}

/** Of the years that days have. */
export const monthPattern = /^[12][0-9]{3}-(0[1-9]|1[0-2])$/

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000)
}

/** Who paid or got it, with their account, as people read it. */
export function partyOf({
  party,
  partyIban,
}: Pick<StatementLine, 'party' | 'partyIban'>): string | undefined {
  const known = [party, partyIban && grouped(partyIban)].filter((part) => part !== undefined)
  return known.length === 0 ? undefined : known.join(', ')
}

/** The one IBAN among these texts that is not the account's own; undefined where there is none, or several. */
export function soleIban(
  texts: readonly (string | undefined)[],
  own: string | undefined,
): string | undefined {
  const ibans = new Set(texts.map((text) => withoutSpaces(text ?? '')).filter((text) => isValidIBAN(text)))
  ibans.delete(own ?? '')
  const [iban] = ibans
  return ibans.size === 1 ? iban : undefined
}

export function shortened(text: string | undefined): string | undefined {
  const line = text && withoutHidden(text.replace(/\s+/g, ' ')).trim()
  return line ? line.slice(0, maxTextLength) : undefined
}
