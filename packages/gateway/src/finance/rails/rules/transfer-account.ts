// The account for bank transfers, and the order's reference: an ISO 11649 creditor reference derived from the
// paymentId, so that an order's reference never changes.
import { Failure, type NextAction, toDecimalText } from '@tillgate/protocol'
import { parseLine } from '../../../platform/runtime/visible-text.ts'
import { checkDigits, grouped, isRight } from '../../treasury/rules/mod-97.ts'
import { parseBic, parseIban } from '../../treasury/rules/operator-bank-account.ts'
import type { Attempt } from './attempt.ts'

export interface AccountLine {
  readonly label: string
  readonly value: string
}

export interface BankAccount {
  readonly holder: string
  readonly iban?: string | undefined
  readonly bic?: string | undefined
  /** For accounts without an IBAN, or for further details. */
  readonly lines: readonly AccountLine[]
}

/** The last characters of a paymentId are 75 random bits: unique, and short enough to type. */
const referenceLength = 15

export function creditorReference(paymentId: string): string {
  const rest = paymentId.slice(-referenceLength)
  return `RF${checkDigits('RF', rest)}${rest}`
}

/** Verifies the check digits too. */
export function isCreditorReference(text: string): boolean {
  return text.startsWith('RF') && text.length <= 25 && isRight(text)
}

const mostCharacters = { holder: 140, label: 64, value: 256 } as const

/** Normalizes the account; throws if no bank could identify it, or if it reads as another one. */
export function checkBankAccount({ holder, iban, bic, lines }: BankAccount): BankAccount {
  if (iban === undefined && lines.length === 0)
    throw new Failure('invalid_field', {
      field: 'iban',
      message: 'Enter the IBAN, or the lines that identify the account.',
    })
  return {
    holder: parseLine(holder, 'holder', { max: mostCharacters.holder }),
    iban: iban === undefined ? undefined : parseIban(iban, 'iban'),
    bic: bic === undefined ? undefined : parseBic(bic),
    lines: lines.map(({ label, value }) => ({
      label: parseLine(label, 'lines', { max: mostCharacters.label }),
      value: parseLine(value, 'lines', { max: mostCharacters.value }),
    })),
  }
}

/** Labels of lines, which pages translate. */
export const lineLabels = {
  holder: 'Account holder',
  bic: 'BIC',
  amount: 'Amount',
  received: 'Received so far',
  reference: 'Reference',
} as const

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
