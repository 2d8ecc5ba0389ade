// Money on the wire is decimal text or a JSON number; inside it is a whole number of minor units (bigint). Both
// ways are exact: digits are moved as text, no float arithmetic is done, nothing is ever rounded.
import { Failure } from './codes.ts'
import { codesWithoutMinorUnit, currencies, isCurrencyCode } from './currencies.ts'
import { maxMajorUnits, maxNumberDigits } from './limits.ts'

/** A JSON number, or decimal text where a number would not be exact. */
export type WireAmount = number | string

const plainDecimal = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const digitsInMaxMajorUnits = maxMajorUnits.toString().length

/** Exact, or a Failure that names the field and says what to change. */
export function toMinorUnits(amount: WireAmount, currency: string, field: string): bigint {
  const digits = digitsOf(currency)
  const text = readDecimal(amount, field)
  const point = text.indexOf('.')
  const whole = point === -1 ? text : text.slice(0, point)
  const fraction = point === -1 ? '' : text.slice(point + 1)
  if (fraction.length > digits) throw tooPrecise({ text, currency, digits, field })
  // Its length first: turning a million digits into a bigint is work that nobody should be able to ask for.
  if (whole.length > digitsInMaxMajorUnits) throw tooMuch(field)
  const minor = BigInt(whole + fraction.padEnd(digits, '0'))
  if (minor > maxMajorUnits * 10n ** BigInt(digits)) throw tooMuch(field)
  return minor
}

/** As toMinorUnits, for the amounts that must be more than nothing. */
export function toPositiveMinorUnits(amount: WireAmount, currency: string, field: string): bigint {
  const minor = toMinorUnits(amount, currency, field)
  if (minor === 0n)
    throw new Failure('invalid_field', { field, message: `${field} must be greater than zero.` })
  return minor
}

/** Checks that this is a plain decimal of no more precision than its form can carry; the currency comes later. */
export function readDecimal(amount: WireAmount, field: string): string {
  return typeof amount === 'string' ? readDecimalText(amount, field) : readDecimalNumber(amount, field)
}

/** The exact decimal with all of the currency's digits: 1050n USD is "10.50", 3n JPY is "3". */
export function toDecimalText(minor: bigint, currency: string): string {
  const digits = digitsOf(currency)
  const sign = minor < 0n ? '-' : ''
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  if (digits === 0) return sign + text
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** A JSON number where a double holds the amount exactly, the decimal text where it does not. */
export function toWireAmount(minor: bigint, currency: string): WireAmount {
  const text = toDecimalText(minor, currency)
  return significantDigits(text) <= maxNumberDigits ? Number(text) : text
}

/** The number of decimal places, or a Failure about the field `currency`. */
export function digitsOf(currency: string): number {
  if (isCurrencyCode(currency)) return currencies[currency].digits
  const message = codesWithoutMinorUnit.has(currency)
    ? `currency ${currency} has no minor unit in ISO 4217, so nothing can be paid in it.`
    : 'currency must be a current ISO 4217 code in capital letters, such as USD.'
  throw new Failure('invalid_field', { field: 'currency', message })
}

function readDecimalText(text: string, field: string): string {
  if (plainDecimal.test(text)) return text
  const message = text.startsWith('-')
    ? `${field} must not be negative.`
    : /^[0-9.]+e[+-]?[0-9]+$/i.test(text)
      ? `${field} must be written without an exponent, such as 1200 instead of 1.2e3.`
      : `${field} must be a plain decimal such as 12.50: digits and one point, no sign, no spaces, no leading zeros.`
  throw new Failure('invalid_field', { field, message })
}

/** The shortest text of a double is the decimal that was written, as long as that had at most 15 digits. */
function readDecimalNumber(value: number, field: string): string {
  const text = String(value)
  if (Number.isFinite(value) && !Object.is(value, -0) && plainDecimal.test(text)) {
    if (significantDigits(text) <= maxNumberDigits) return text
    throw tooManyDigits(field)
  }
  if (Number.isNaN(value))
    throw new Failure('invalid_field', { field, message: `${field} must be a number.` })
  if (value < 0 || Object.is(value, -0)) {
    throw new Failure('invalid_field', { field, message: `${field} must not be negative.` })
  }
  // What is left: infinity, 1e21 and more, or so small that no currency has the digits.
  if (value >= 1) throw tooMuch(field)
  throw new Failure('amount_does_not_fit_currency', {
    field,
    message: `${field} is smaller than any minor unit.`,
  })
}

export function tooManyDigits(field: string): Failure {
  const message = `${field} has more than ${maxNumberDigits} digits, which a JSON number does not keep exactly: send it as a string.`
  return new Failure('invalid_field', { field, message })
}

function tooMuch(field: string): Failure {
  return new Failure('amount_does_not_fit_currency', { field, message: `${field} is larger than 10^15.` })
}

interface Imprecision {
  readonly text: string
  readonly currency: string
  readonly digits: number
  readonly field: string
}

function tooPrecise({ text, currency, digits, field }: Imprecision): Failure {
  const places = digits === 0 ? 'no decimal places' : `${digits} decimal places`
  const shown = text.length <= 40 ? ` but was ${text}` : ''
  const message = `${field} must fit ${currency}, which has ${places},${shown || ' but has more'}.`
  return new Failure('amount_does_not_fit_currency', { field, message })
}

function significantDigits(text: string): number {
  return text.replace('.', '').replace('-', '').replace(/^0+/, '').replace(/0+$/, '').length
}
