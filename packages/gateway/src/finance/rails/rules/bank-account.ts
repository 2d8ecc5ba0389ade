// The account that consumers pay to by bank transfer, and the reference by which their money is found again: a creditor
// reference as ISO 11649 has it, made of the order's number alone, so that an order has one for ever.
import { Failure, type NextAction, toDecimalText } from '@tillgate/protocol'
import { parseBic, parseIban } from '../../treasury/rules/bank-account.ts'
import { checkDigits, grouped, isRight } from '../../treasury/rules/mod-97.ts'
import type { Attempt } from './attempt.ts'

export interface AccountLine {
  readonly label: string
  readonly value: string
}

export interface BankAccount {
  readonly holder: string
  readonly iban?: string | undefined
  readonly bic?: string | undefined
  /** Where there is no IBAN, or more is to be said. */
  readonly lines: readonly AccountLine[]
}

/** The last characters of a paymentId are random: 75 bits, so that no two orders meet, and a person can still type it. */
const referenceLength = 15

export function creditorReference(paymentId: string): string {
  const rest = paymentId.slice(-referenceLength)
  return `RF${checkDigits('RF', rest)}${rest}`
}

/** Whether the text is one, its check digits included. */
export function isCreditorReference(text: string): boolean {
  return text.startsWith('RF') && text.length <= 25 && isRight(text)
}

/** As it is kept. Throws where no bank would know the account. */
export function checkBankAccount({ holder, iban, bic, lines }: BankAccount): BankAccount {
  if (iban === undefined && lines.length === 0)
    throw new Failure('invalid_field', {
      field: 'iban',
      message: 'Give the IBAN, or the lines that say which account it is.',
    })
  return {
    holder,
    iban: iban === undefined ? undefined : parseIban(iban, 'iban'),
    bic: bic === undefined ? undefined : parseBic(bic),
    lines,
  }
}

/** What lines are called; pages say it in the consumer's language. */
export const lineLabels = {
  holder: 'Account holder',
  bic: 'BIC',
  amount: 'Amount',
  received: 'Received so far',
  reference: 'Reference',
} as const

/** What the consumer copies into their bank's form. */
export function transferInstructions(
  account: BankAccount,
  { paymentId, amountMinor, currency }: Pick<Attempt, 'paymentId' | 'amountMinor' | 'currency'>,
  receivedMinor = 0n,
): NextAction {
  const money = (minor: bigint) => `${toDecimalText(minor, currency)} ${currency}`
  const { holder, iban, bic, lines } = account
  return {
    kind: 'instructions',
    lines: [
      { label: lineLabels.holder, value: holder },
      ...(iban === undefined ? [] : [{ label: 'IBAN', value: grouped(iban) }]),
      ...(bic === undefined ? [] : [{ label: lineLabels.bic, value: bic }]),
      ...lines,
      ...(receivedMinor > 0n ? [{ label: lineLabels.received, value: money(receivedMinor) }] : []),
      { label: lineLabels.amount, value: money(amountMinor - receivedMinor) },
      { label: lineLabels.reference, value: grouped(creditorReference(paymentId)) },
    ],
  }
}
