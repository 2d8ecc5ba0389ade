// The operator's bank accounts, and the bank's reference of a movement.
import { Failure, isCalendarDay } from '@tillgate/protocol'
import { isValidIBAN } from 'ibantools'
import { parseLine } from '../../../platform/runtime/visible-text.ts'
import { withoutSpaces } from './mod-97.ts'

export interface BankDetails {
  readonly holder: string
  readonly iban: string | undefined
  /** Account number, routing number and the like, for accounts without an IBAN. */
  readonly lines: readonly string[] | undefined
  readonly bic: string | undefined
}

export interface BankAccount extends BankDetails {
  /** Permanent: the ledger account is `bank:<bankName>`. */
  readonly bankName: string
  /** Undefined: every currency. */
  readonly currency: string | undefined
  readonly createdAtMs: number
  /** No new movements afterwards. */
  readonly closedAtMs: number | undefined
}

export const bankNamePattern = /^[a-z][a-z0-9-]{0,31}$/

/** Exists from the start and is the default. */
export const mainBank = 'main'

/** The bank account of a movement, and the bank's reference. */
export interface Outside {
  readonly bankName: string
  /** The bank's or the payer's; undefined: the transfer's own id. */
  readonly reference?: string | undefined
  /** Undefined: the transfer's UTC day. */
  readonly valueDate?: string | undefined
}

export const throughMainBank: Outside = { bankName: mainBank }

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

export function parseBankDetails(given: BankDetails): BankDetails {
  const { iban, lines, bic } = given
  if (iban !== undefined && lines !== undefined)
    throw invalid('lines', 'Enter the IBAN or the lines, not both.')
  if (lines !== undefined && (lines.length === 0 || lines.length > maxLines))
    throw invalid('lines', `lines must be 1 to ${maxLines}.`)
  return {
    holder: parseLine(given.holder, 'holder'),
    iban: iban === undefined ? undefined : parseIban(iban, 'iban'),
    lines: lines?.map((line) => parseLine(line, 'lines')),
    bic: bic === undefined ? undefined : parseBic(bic),
  }
}

export function parseBic(written: string): string {
  const bic = withoutSpaces(written)
  if (bicPattern.test(bic)) return bic
  throw invalid('bic', 'bic must be 8 or 11 letters and digits, such as COBADEFFXXX.')
}

export function checkUsable(bank: BankAccount | undefined, name: string, currency: string): void {
  if (!bank) throw invalid('bank', `Bank account ${name} does not exist. Add it first, or use another.`)
  const why = whyNotUsable(bank, currency)
  if (why !== undefined) throw invalid('bank', `The bank account ${name} ${why}. Name another.`)
}

/** Returns why new movements in this currency are not allowed; undefined if they are. */
export function whyNotUsable(bank: BankAccount, currency: string): string | undefined {
  if (bank.closedAtMs !== undefined) return 'is closed'
  const isAnother = bank.currency !== undefined && bank.currency !== currency
  return isAnother ? `holds ${bank.currency}, not ${currency}` : undefined
}

export function checkValueDate(written: string): void {
  if (!isCalendarDay(written))
    throw invalid('valueDate', `valueDate must be a day such as 2026-11-16, but was ${written}.`)
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
