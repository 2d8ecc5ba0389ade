// The operator's own accounts at banks, and how a movement to or from one of them is known there.
import { Failure, isCalendarDay } from '@tillgate/protocol'
import { isValidIBAN } from 'ibantools'
import { parseLine } from '../../../platform/runtime/visible-text.ts'
import { withoutSpaces } from './mod-97.ts'

export interface BankDetails {
  readonly holder: string
  readonly iban: string | undefined
  /** What a transfer needs where there is no IBAN: account number, routing number and the like. */
  readonly lines: readonly string[] | undefined
  readonly bic: string | undefined
}

export interface BankAccount extends BankDetails {
  /** Never changes: on the ledger it is the account `bank:<bankName>`. */
  readonly bankName: string
  /** Undefined: every currency. */
  readonly currency: string | undefined
  readonly createdAtMs: number
  /** From then on nothing new goes through it. */
  readonly closedAtMs: number | undefined
}

export const bankNamePattern = /^[a-z][a-z0-9-]{0,31}$/

/** There from the beginning; what names no other goes through it. */
export const mainBank = 'main'

/** Which bank account a movement goes through, and by what the bank knows it. */
export interface Outside {
  readonly bankName: string
  /** The bank's, or whoever paid; undefined: the transfer's own number. */
  readonly reference?: string | undefined
  /** Such as 2026-11-16; undefined: the day of the transfer, in UTC. */
  readonly valueDate?: string | undefined
}

export const throughMainBank: Outside = { bankName: mainBank }

/** As people say it; nothing where it is as usual. */
export function describeOutside({ bankName, reference, valueDate }: Outside): string {
  return [
    bankName === mainBank ? '' : ` through bank account ${bankName}`,
    reference === undefined ? '' : `, reference ${reference}`,
    valueDate === undefined ? '' : `, value date ${valueDate}`,
  ].join('')
}

/** Without spaces, in capitals; throws at the field. */
export function parseIban(written: string, field: string): string {
  const iban = withoutSpaces(written)
  if (isValidIBAN(iban)) return iban
  throw invalid(
    field,
    `${field} is not an IBAN: its check digits or its length do not fit. Copy it from a statement of the account.`,
  )
}

const bicPattern = /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/
const maxLines = 6

/** As they are kept; throws at the field. */
export function parseBankDetails(given: BankDetails): BankDetails {
  const { iban, lines, bic } = given
  if (iban !== undefined && lines !== undefined)
    throw invalid('lines', 'Give the IBAN or the lines, not both.')
  if (lines !== undefined && (lines.length === 0 || lines.length > maxLines))
    throw invalid('lines', `lines must be 1 to ${maxLines}.`)
  return {
    holder: parseLine(given.holder, 'holder'),
    iban: iban === undefined ? undefined : parseIban(iban, 'iban'),
    lines: lines?.map((line) => parseLine(line, 'lines')),
    bic: bic === undefined ? undefined : parseBic(bic),
  }
}

/** The same of a BIC. */
export function parseBic(written: string): string {
  const bic = withoutSpaces(written)
  if (bicPattern.test(bic)) return bic
  throw invalid('bic', 'bic must be 8 or 11 letters and digits, such as COBADEFFXXX.')
}

/** Throws unless new movements in this currency may go through it. */
export function checkUsable(bank: BankAccount | undefined, name: string, currency: string): void {
  if (!bank) throw invalid('bank', `There is no bank account ${name}. Add it first, or name another.`)
  const why = whyNotUsable(bank, currency)
  if (why !== undefined) throw invalid('bank', `The bank account ${name} ${why}. Name another.`)
}

/** Why new movements in this currency may not go through it; undefined: they may. */
export function whyNotUsable(bank: BankAccount, currency: string): string | undefined {
  if (bank.closedAtMs !== undefined) return 'is closed'
  const isAnother = bank.currency !== undefined && bank.currency !== currency
  return isAnother ? `holds ${bank.currency}, not ${currency}` : undefined
}

/** Throws unless it is a day of the calendar. */
export function checkValueDate(written: string): void {
  if (!isCalendarDay(written))
    throw invalid('valueDate', `valueDate must be a day such as 2026-11-16, and ${written} is none.`)
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
