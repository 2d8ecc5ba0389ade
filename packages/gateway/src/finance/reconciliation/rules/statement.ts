// The content of a statement in any format: lines, balances, and the references of each line.
import { Failure, isCalendarDay, toMinorUnits } from '@tillgate/protocol'
import { isValidIBAN } from 'ibantools'
import { withoutHidden } from '../../../platform/runtime/visible-text.ts'
import { isCreditorReference } from '../../rails/rules/transfer-account.ts'
import { grouped, withoutSpaces } from '../../treasury/rules/mod-97.ts'

export interface StatementLine {
  readonly lineNumber: number
  /** The booking day. */
  readonly day: string
  readonly valueDay: string
  readonly currency: string
  /** Positive for incoming money, negative for outgoing. */
  readonly amountMinor: bigint
  /** What a rail keeps. */
  readonly feeMinor: bigint
  /** The bank's own. */
  readonly entryReference: string | undefined
  /** Possible references of ours. */
  readonly references: readonly string[]
  /** For a rail: the sum in which it is settled. */
  readonly batch: string | undefined
  /** The bank marks it as a return. */
  readonly isReturn: boolean
  readonly party: string | undefined
  readonly description: string | undefined
  /** For prefilled forms; not part of the line's identity. */
  readonly partyIban: string | undefined
}

/** `lineId` is unique within the account, across files. */
export interface KnownLine extends StatementLine {
  readonly lineId: string
  /** The booking's reference: derived from the bank's, and unique. */
  readonly mark: string
}

export interface StatementBalance {
  /** The balance is that at the end of this day. */
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
  | { readonly kind: 'skipped' }

/** Reads text in pieces and holds at most one entry. Throws a Failure with the line number. */
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
/** Placeholders for a missing reference. */
const noReferences = new Set(['NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NONE', 'NULL', 'N/A'])

/** References from elements that hold one each come before those found in free text. */
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

/** RF, two check digits and 15 characters. */
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
 * Assigns each line of a file an id: a hash of 32 characters. Equal lines are counted separately, unless their
 * statement is a copy of an earlier one.
 */
export function makeIdentify(hash: (text: string) => string) {
  const ordinals = makeOrdinals()
  return {
    beginStatement: (account: string, id: string | undefined) =>
      ordinals.begin(id === undefined ? undefined : `${account} ${id}`),
    identify(account: string, line: StatementLine): KnownLine {
      // Excludes the other party's IBAN, so that lines imported by older versions keep their ids.
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

/** Numbers equal lines within a file; a copy repeats the numbers of its original. */
function makeOrdinals() {
  const statements = new Map<string, number>()
  let begun = 0
  let statement = 0
  let inCopy: Map<number, number> | undefined
  // Stores only numbers, because a file may have millions of lines.
  const firstIn = new Map<number, number>()
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

/** Digits with one point; extra trailing zeros are allowed. Throws if it is not an amount. */
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

/** The calendar day of an ISO 8601 date or time. */
export function dayOf(written: string, lineNumber: number): string {
  const day = written.trim().slice(0, 10)
  if (isCalendarDay(day)) return day
  throw unreadable(lineNumber, `${JSON.stringify(written.slice(0, 40))} is not a calendar date.`)
}

export const monthPattern = /^[12][0-9]{3}-(0[1-9]|1[0-2])$/

export function partyOf({
  party,
  partyIban,
}: Pick<StatementLine, 'party' | 'partyIban'>): string | undefined {
  const known = [party, partyIban && grouped(partyIban)].filter((part) => part !== undefined)
  return known.length === 0 ? undefined : known.join(', ')
}

/** The only IBAN among these texts other than the account's own; undefined if there are several. */
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
