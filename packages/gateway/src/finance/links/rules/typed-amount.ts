// Parses an amount as people type it: with a comma or a point, digits of any script, and spaces or marks between
// thousands. Ambiguous input is rejected.
import { digitsOf, Failure, toPositiveMinorUnits } from '@tillgate/protocol'

/** The zero of each script with keyboard digits: Arabic, Persian, Devanagari, Bengali, full width. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10] as const
/** NFKC turns superscripts, circled numbers and the like into digits, but 5² is not 52. */
const unusualNumber = /\p{No}/u
const ungrouped = /^(?<whole>[0-9]*)(?:[.,٫](?<fraction>[0-9]*))?$/
/** One to three digits, then groups of three with the same separator, as in 1,234,567; the decimal mark differs. */
const grouped =
  /^(?<whole>[1-9][0-9]{0,2}(?<mark>[ '٬.,])[0-9]{3}(?:\k<mark>[0-9]{3})*)(?:(?!\k<mark>)[.,٫](?<fraction>[0-9]*))?$/

/** Undefined if the text is not an amount of this currency. */
export function readTypedAmount(typed: string, currency: string): bigint | undefined {
  const decimal = unusualNumber.test(typed) ? undefined : toDecimal(toPlain(typed), digitsOf(currency))
  if (decimal === undefined) return undefined
  try {
    return toPositiveMinorUnits(decimal, currency, 'amount')
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** ASCII digits, and one kind of space and apostrophe. */
function toPlain(typed: string): string {
  return toAsciiDigits(typed.normalize('NFKC').trim()).replace(/\s+/g, ' ').replaceAll('’', "'")
}

function toAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0
    const zero = zeros.find((each) => code >= each && code <= each + 9)
    return zero === undefined ? digit : String(code - zero)
  })
}

/**
 * A single comma or point before three digits separates thousands, unless the currency has three decimals; then it is
 * the decimal mark.
 */
function toDecimal(plain: string, currencyDigits: number): string | undefined {
  const [first, second] = currencyDigits === 3 ? [ungrouped, grouped] : [grouped, ungrouped]
  const read = (first.exec(plain) ?? second.exec(plain))?.groups
  if (!read) return undefined
  const { whole = '', fraction = '' } = read
  const units = whole.replace(/[^0-9]/g, '').replace(/^0+(?=[0-9])/, '') || '0'
  return fraction === '' ? units : `${units}.${fraction}`
}
