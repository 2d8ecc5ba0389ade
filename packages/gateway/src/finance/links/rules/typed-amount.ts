// An amount as people type it, wherever they come from: with a comma or a point, with the digits of their own script,
// with spaces or marks between the thousands. What could mean two things is not guessed at.
import { digitsOf, Failure, toPositiveMinorUnits } from '@tillgate/protocol'

/** Zero of each script whose digits keyboards write: Arabic, Persian, Devanagari, Bengali, full width. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10] as const
/** Superscripts, circled numbers and the like: NFKC makes digits of them, and 5² is not 52. */
const unusualNumber = /\p{No}/u
const ungrouped = /^(?<whole>[0-9]*)(?:[.,٫](?<fraction>[0-9]*))?$/
/** 1 to 3 digits and then threes, with the same mark between them, as in 1,234,567; the decimal mark is another. */
const grouped =
  /^(?<whole>[1-9][0-9]{0,2}(?<mark>[ '٬.,])[0-9]{3}(?:\k<mark>[0-9]{3})*)(?:(?!\k<mark>)[.,٫](?<fraction>[0-9]*))?$/

/** Undefined: it is no amount of this currency. */
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

/** With ASCII digits, and one kind of space and of apostrophe. */
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
 * One comma or point before three digits is that of thousands, unless the currency itself has three decimals: then the
 * smaller amount is meant.
 */
function toDecimal(plain: string, currencyDigits: number): string | undefined {
  const [first, second] = currencyDigits === 3 ? [ungrouped, grouped] : [grouped, ungrouped]
  const read = (first.exec(plain) ?? second.exec(plain))?.groups
  if (!read) return undefined
  const { whole = '', fraction = '' } = read
  const units = whole.replace(/[^0-9]/g, '').replace(/^0+(?=[0-9])/, '') || '0'
  return fraction === '' ? units : `${units}.${fraction}`
}
