// A merchant's bank account for payouts in one currency. A new one has a waiting period, so that the merchant, who is
// notified, can object.
import { Failure } from '@tillgate/protocol'
import { grouped } from '../../treasury/rules/mod-97.ts'
import { type BankDetails, parseBankDetails } from '../../treasury/rules/operator-bank-account.ts'
import { toBankText, unwritableLetters } from './bank-text.ts'

export interface MerchantBankAccount extends BankDetails {
  readonly merchantId: string
  readonly bankAccountId: string
  readonly currency: string
  readonly setAtMs: number
  /** No payouts before this time. */
  readonly validFromMs: number
  /** The account was stopped during its waiting period, or replaced before its first payout. */
  readonly endedAtMs: number | undefined
}

const maxHolderLength = 70
const maxNumberLength = 34

/** Returns the stored form; throws for an invalid field. Valid details can be written into a payment file. */
export function parsePayoutDetails(given: BankDetails): BankDetails {
  const details = parseBankDetails(given)
  if (details.iban === undefined && details.lines === undefined)
    throw invalid('iban', 'Enter the IBAN, or the account’s lines if it has none.')
  if ([...details.holder].length > maxHolderLength)
    throw invalid(
      'holder',
      `holder must have at most ${maxHolderLength} characters, the limit of payment files.`,
    )
  const [number = ''] = details.lines ?? []
  if (number.length > maxNumberLength)
    throw invalid(
      'lines',
      `The first line is the account number and has at most ${maxNumberLength} characters; the bank’s name and address follow.`,
    )
  return details
}

/** For names entered by a merchant: banks replace non-Latin letters with full stops. */
export function parseMerchantBankDetails(given: BankDetails): BankDetails {
  const details = parsePayoutDetails(given)
  const unwritable = unwritableLetters(details.holder)
  if (unwritable.length > 0)
    throw invalid(
      'holder',
      `Payment files allow only Latin letters, so ${unwritable.slice(0, 5).join(' ')} cannot be written. Enter the holder in Latin letters, as the bank writes it.`,
    )
  return details
}

export function holderOf(name: string): string {
  return [...name].slice(0, maxHolderLength).join('').trim()
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}

/** The account that receives payouts at this time; undefined if none yet. */
export function accountAt(
  accounts: readonly MerchantBankAccount[],
  nowMs: number,
): MerchantBankAccount | undefined {
  return accounts
    .filter(({ validFromMs, endedAtMs }) => endedAtMs === undefined && validFromMs <= nowMs)
    .reduce<MerchantBankAccount | undefined>(
      (newest, each) => (newest && newest.validFromMs > each.validFromMs ? newest : each),
      undefined,
    )
}

export type BankAccountState = 'in_use' | 'waiting' | 'replaced' | 'stopped'

export function stateOf(
  account: MerchantBankAccount,
  all: readonly MerchantBankAccount[],
  nowMs: number,
): BankAccountState {
  if (account.endedAtMs !== undefined) return 'stopped'
  if (account.validFromMs > nowMs) return 'waiting'
  return accountAt(all, nowMs) === account ? 'in_use' : 'replaced'
}

/** Its owner recognizes the account, but others cannot use it. */
export function shortenBankDetails({ holder, iban, lines: [number = ''] = [] }: BankDetails): string {
  return `${holder}, …${(iban ?? number).slice(-4)}`
}

/** Adds the name as the payment file contains it, if that differs. */
export function describeHolder(holder: string): string {
  const written = toBankText(holder, maxHolderLength)
  return written === holder ? holder : `${holder} (${written})`
}

/** Never shortened, because a second operator compares it. */
export function describeBankDetails({ holder, iban, lines, bic }: BankDetails): string {
  const number = iban === undefined ? (lines ?? []) : [grouped(iban)]
  return [describeHolder(holder), ...number, ...(bic === undefined ? [] : [bic])].join(', ')
}
