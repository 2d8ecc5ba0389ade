// Money in messages is decimal text or a JSON number; in the program it is a whole number of minor units (bigint). The
// conversion is exact: digits are moved as text, without float arithmetic and without rounding.
import { Failure } from './codes.ts'
import { codesWithoutMinorUnit, currencies, isCurrencyCode } from './currencies.ts'
import { maxMajorUnits, maxMinorUnits, maxNumberDigits } from './limits.ts'

/** A JSON number, or decimal text if a number would not be exact. */
export type WireAmount = number | string

/** Exact, or a Failure that names the field and what to change. */
export function toMinorUnits(amount: WireAmount, currency: string, field: string): bigint {
  const minor = readMinorUnits(amount, digitsOf(currency))
  return typeof minor === 'bigint' ? minor : refuseAmount(minor, { amount, currency, field })
}

/** Like toMinorUnits, for amounts greater than zero. */
export function toPositiveMinorUnits(amount: WireAmount, currency: string, field: string): bigint {
  const minor = toMinorUnits(amount, currency, field)
  if (minor === 0n)
    throw new Failure('invalid_field', { field, message: `${field} must be greater than zero.` })
  return minor
}

/** Checks that this is a positive decimal; the range check needs the currency. */
export function checkPositiveDecimal(amount: WireAmount, field: string): void {
  const text = String(amount)
  const refusal = refusalOf(amount, text)
  if (refusal) refuseAmount(refusal, { amount, field })
  if (!/[1-9]/.test(text)) {
    throw new Failure('invalid_field', { field, message: `${field} must be greater than zero.` })
  }
}

/** The exact decimal with all of the currency's digits: 1050n USD is "10.50", 3n JPY is "3". */
export function toDecimalText(minor: bigint, currency: string): string {
  const digits = digitsOf(currency)
  const sign = minor < 0n ? '-' : ''
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  if (digits === 0) return sign + text
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** A JSON number if a double holds the amount exactly, otherwise the decimal text. */
export function toWireAmount(minor: bigint, currency: string): WireAmount {
  const text = toDecimalText(minor, currency)
  return significantDigits(text) <= maxNumberDigits ? Number(text) : text
}

/** The number of decimal places, or a Failure about the field `currency`. */
export function digitsOf(currency: string): number {
  if (isCurrencyCode(currency)) return currencies[currency].digits
  const message = codesWithoutMinorUnit.has(currency)
    ? `currency ${currency} has no minor unit in ISO 4217, so it cannot be used for payments.`
    : `currency must be a current ISO 4217 code in capital letters, such as USD, but was ${currency.slice(0, 8)}.${currency === 'RMB' ? ' Did you mean CNY?' : ''}`
  throw new Failure('invalid_field', { field: 'currency', message })
}

const amountRefusals = {
  negative: 'must not be negative',
  exponent: 'must be written without an exponent, such as 1200 instead of 1.2e3',
  not_decimal:
    'must be a plain decimal such as 12.50: digits and one point, no sign, no spaces, no leading zeros',
  too_many_digits: `has more than ${maxNumberDigits} digits, which a JSON number cannot represent exactly: send it as a string`,
  too_large: `is larger than ${maxMajorUnits}`,
  too_precise: 'has more decimal places than the currency',
} as const

export type AmountRefusal = keyof typeof amountRefusals

const maxShownLength = 40
const maxWholeDigits = maxMajorUnits.toString().length

/** The same without a Failure, for callers that check many amounts and name the field only in an error. */
export function readMinorUnits(amount: WireAmount, digits: number): bigint | AmountRefusal {
  const text = String(amount)
  const refusal = refusalOf(amount, text)
  if (refusal) return refusal
  const point = text.indexOf('.')
  const wholeDigits = point === -1 ? text.length : point
  const fractionDigits = point === -1 ? 0 : text.length - point - 1
  if (fractionDigits > digits) return 'too_precise'
  // The length is checked first, because converting a million digits to a bigint is expensive.
  if (wholeDigits > maxWholeDigits) return 'too_large'
  const missing = zeros[digits - fractionDigits]
  const minor = BigInt(point === -1 ? text + missing : text.slice(0, point) + text.slice(point + 1) + missing)
  return minor > largestMinor(digits) ? 'too_large' : minor
}

function largestMinor(digits: number): bigint {
  return largestMinorByDigits[digits] ?? maxMinorUnits
}

const largestMinorByDigits = [0n, 1n, 2n, 3n].map((digits) => maxMajorUnits * 10n ** digits)

const zeros = ['', '0', '00', '000', '0000']
const plainDecimal = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** Why the text is not a plain decimal; undefined if it is. */
function refusalOf(amount: WireAmount, text: string): AmountRefusal | undefined {
  return typeof amount === 'string' ? refusalOfText(text) : refusalOfNumber(amount, text)
}

function refusalOfText(text: string): AmountRefusal | undefined {
  if (plainDecimal.test(text)) return undefined
  if (text.startsWith('-')) return 'negative'
  return /^[0-9.]+e[+-]?[0-9]+$/i.test(text) ? 'exponent' : 'not_decimal'
}

/** A double keeps a decimal of up to 15 digits exactly, so only such numbers are accepted. */
function refusalOfNumber(value: number, text: string): AmountRefusal | undefined {
  if (Number.isNaN(value)) return 'not_decimal'
  if (value < 0 || Object.is(value, -0)) return 'negative'
  if (plainDecimal.test(text))
    return significantDigits(text) <= maxNumberDigits ? undefined : 'too_many_digits'
  // What remains is infinity or has an exponent: at least 1e21, or less than any minor unit.
  return value > 1 ? 'too_large' : 'too_precise'
}

function significantDigits(text: string): number {
  // The common case: a text this short cannot have more digits.
  if (text.length <= maxNumberDigits) return text.length
  return text.replace('.', '').replace('-', '').replace(/^0+/, '').replace(/0+$/, '').length
}

export interface RefusedAmount {
  readonly amount: WireAmount
  readonly currency?: string
  readonly field: string
}

export function refuseAmount(refusal: AmountRefusal, { amount, currency, field }: RefusedAmount): never {
  const doesNotFit = refusal === 'too_large' || refusal === 'too_precise'
  const message =
    doesNotFit && currency !== undefined
      ? `${field} ${whyNotFit(refusal, { amount, currency })}.`
      : `${field} ${amountRefusals[refusal]}.${refusal === 'not_decimal' ? adviceForText(String(amount)) : ''}`
  throw new Failure(doesNotFit ? 'amount_does_not_fit_currency' : 'invalid_field', { field, message })
}

function adviceForText(text: string): string {
  if (/^\d+,\d{1,4}$/.test(text)) return ' Use a point, not a comma.'
  return text === '' ? '' : ` It was ${JSON.stringify(text.slice(0, maxShownLength).toWellFormed())}.`
}

function whyNotFit(
  refusal: 'too_large' | 'too_precise',
  { amount, currency }: { amount: WireAmount; currency: string },
): string {
  if (refusal === 'too_large') {
    return `is larger than ${toDecimalText(largestMinor(digitsOf(currency)), currency)} ${currency}`
  }
  return `must fit ${currency}, which has ${describeDigits(currency)}, but was ${String(amount).slice(0, maxShownLength)}`
}

function describeDigits(currency: string): string {
  const digits = digitsOf(currency)
  return digits === 0 ? 'no decimal places' : `${digits} decimal places`
}
