// A merchant's account at a bank, where its payouts in one currency go. A new one waits before it is paid to, so that the
// merchant, who is told at the old one, can object.
import { Failure } from '@tillgate/protocol'
import { type BankDetails, parseBankDetails } from '../../treasury/rules/bank-account.ts'
import { grouped } from '../../treasury/rules/mod-97.ts'
import { unwritableLetters } from './bank-text.ts'

export interface MerchantBankAccount extends BankDetails {
  readonly merchantId: string
  readonly bankAccountId: string
  readonly currency: string
  readonly setAtMs: number
  /** Not paid to before. */
  readonly validFromMs: number
  /** It was stopped while it waited, or another took its place before it was ever paid to. */
  readonly endedAtMs: number | undefined
}

const maxHolderLength = 70
const maxNumberLength = 34

/** As it is kept; throws at the field. Whatever passes can be written into a payment file. */
export function parsePayoutDetails(given: BankDetails): BankDetails {
  const details = parseBankDetails(given)
  if (details.iban === undefined && details.lines === undefined)
    throw invalid('iban', 'Give the IBAN, or the account’s lines where there is none.')
  if ([...details.holder].length > maxHolderLength)
    throw invalid('holder', `holder must have at most ${maxHolderLength} characters: banks take no more.`)
  const [number = ''] = details.lines ?? []
  if (number.length > maxNumberLength)
    throw invalid(
      'lines',
      `The first line is the account number and has at most ${maxNumberLength} characters; the bank’s name and address follow.`,
    )
  return details
}

/** Of a merchant, which writes its own name: banks would get other letters than Latin ones as full stops. */
export function parseMerchantBankDetails(given: BankDetails): BankDetails {
  const details = parsePayoutDetails(given)
  const unwritable = unwritableLetters(details.holder)
  if (unwritable.length > 0)
    throw invalid(
      'holder',
      `Payment files take Latin letters alone, and ${unwritable.slice(0, 5).join(' ')} would become full stops. Write the holder as the bank does, in Latin letters.`,
    )
  return details
}

/** As much of a name as banks take. */
export function holderOf(name: string): string {
  return [...name].slice(0, maxHolderLength).join('').trim()
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}

/** The one that is paid to at this time; undefined: none yet. */
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

/** Of each of a merchant's accounts in one currency. */
export function stateOf(
  account: MerchantBankAccount,
  all: readonly MerchantBankAccount[],
  nowMs: number,
): BankAccountState {
  if (account.endedAtMs !== undefined) return 'stopped'
  if (account.validFromMs > nowMs) return 'waiting'
  return accountAt(all, nowMs) === account ? 'in_use' : 'replaced'
}

/** Enough for its owner to know it, and for nobody else to use it. */
export function shortenBankDetails({ holder, iban, lines: [number = ''] = [] }: BankDetails): string {
  return `${holder}, …${(iban ?? number).slice(-4)}`
}

/** As people read it: never shortened, because a second operator compares it. */
export function describeBankDetails({ holder, iban, lines, bic }: BankDetails): string {
  const number = iban === undefined ? (lines ?? []) : [grouped(iban)]
  return [holder, ...number, ...(bic === undefined ? [] : [bic])].join(', ')
}
