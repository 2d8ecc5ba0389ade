// An amount as people type it, wherever they come from: with a comma or a point, with the digits of their own script,
// with spaces or marks between the thousands. What could mean two things is not guessed at.
import { digitsOf, Failure, toPositiveMinorUnits } from '@tillgate/protocol'

/** Zero of each script whose digits keyboards write: Arabic, Persian, Devanagari, Bengali, full width. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10] as const
const spaces = /[\s\u00a0\u202f'’٬]/gu

/** Undefined: it is no amount of this currency. */
export function readTypedAmount(typed: string, currency: string): bigint | undefined {
  const plain = toAsciiDigits(typed.normalize('NFKC').trim()).replaceAll('٫', ',').replace(spaces, '')
  const decimal = toDecimal(plain, digitsOf(currency))
  if (decimal === undefined) return undefined
  try {
    return toPositiveMinorUnits(decimal, currency, 'amount')
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

function toAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0
    const zero = zeros.find((each) => code >= each && code <= each + 9)
    return zero === undefined ? digit : String(code - zero)
  })
}

/**
 * One mark before three digits is that of thousands, unless the currency itself has three decimals: then the smaller
 * amount is meant, and the next page shows it before anything is paid.
 */
function toDecimal(plain: string, currencyDigits: number): string | undefined {
  if (!/^[0-9.,]*[0-9][0-9.,]*$/.test(plain)) return undefined
  const parts = plain.split(/[.,]/)
  const marks = plain.replace(/[0-9]/g, '')
  const [whole, fraction] = [parts.slice(0, -1), parts.at(-1) ?? '']
  if (isGroups(parts) && areSame(marks) && (marks.length > 1 || currencyDigits !== 3)) return parts.join('')
  const groupMarks = marks.slice(0, -1)
  const isDecimal =
    marks.length < 2 || (isGroups(whole) && areSame(groupMarks) && groupMarks[0] !== marks.at(-1))
  if (!isDecimal) return undefined
  const units = (marks === '' ? fraction : whole.join('')).replace(/^0+(?=[0-9])/, '') || '0'
  return marks === '' || fraction === '' ? units : `${units}.${fraction}`
}

function areSame(marks: string): boolean {
  return new Set(marks).size === 1
}

/** 1 to 3 digits and then threes, as in 1,234,567. */
function isGroups(parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts
  return rest.length > 0 && /^[1-9][0-9]{0,2}$/.test(first) && rest.every((part) => /^[0-9]{3}$/.test(part))
}
