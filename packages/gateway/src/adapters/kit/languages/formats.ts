// Numbers, money and times in the reader's locale, formatted by Intl. ISO defines the digits of a currency. Amounts are
// passed as text, so that even the largest is not rounded.
import { digitsOf, goodsQuantityDecimals, toDecimalText } from '@tillgate/protocol'
import { remember } from '../../../platform/runtime/remember.ts'
import { type Html, html, inReferences } from '../html.ts'
import { pluralForms } from './plural.ts'
import { fillText } from './words.ts'

type DurationUnit = 'minute' | 'second'

export interface Formats {
  /** With the currency sign of the locale, isolated from right-to-left text. */
  money(minor: bigint, currency: string): Html
  moneyText(minor: bigint, currency: string): string
  number(value: number): string
  /** For a message with one form per plural category. */
  plural(message: string, count: number): string
  /** "29 minutes", "45 seconds". */
  duration(value: number, unit: DurationUnit): string
  /** "in 30 seconds", "in 5 minutes", "in 4 hours"; at least a second, and rounded up. */
  inTime(durationMs: number): string
  /** "3 minutes ago", in the largest unit that fits; never in the future. */
  ago(passedMs: number): string
  /** The UTC day alone. */
  day(timeMs: number): string
  /** "Nov 19": the UTC day without its year. */
  dayOfMonth(timeMs: number): string
  /** Date and time in UTC, until a script knows the reader's time zone. */
  time(timeMs: number): string
}

/** Per language and form; about 200 bytes each. */
const amountsRemembered = 500
/** Only a few values of minutes, seconds and quantities occur. */
const numbersRemembered = 500

export function makeFormats(language: string): Formats {
  const currencies = new Map<string, Intl.NumberFormat>()
  const currencyFormat = (currency: string): Intl.NumberFormat => {
    const known = currencies.get(currency)
    if (known) return known
    const digits = digitsOf(currency)
    const made = new Intl.NumberFormat(language, {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    // Bounded by the number of currencies.
    currencies.set(currency, made)
    return made
  }
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: goodsQuantityDecimals })
  const rules = new Intl.PluralRules(language)
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' })
  const times = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
  const daysOfMonth = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const durations = {
    minute: new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' }),
    second: new Intl.NumberFormat(language, { style: 'unit', unit: 'second', unitDisplay: 'long' }),
  }

  // Intl is slow, prices repeat, and one page shows an amount several times.
  const remembered = {
    keyOf: (minor: bigint, currency: string) => `${minor} ${currency}`,
    most: amountsRemembered,
  }
  const moneyText = remember(
    (minor: bigint, currency: string) => currencyFormat(currency).format(exact(minor, currency)),
    remembered,
  )
  const money = remember(
    (minor: bigint, currency: string) =>
      html`<bdi class="money">${inReferences(moneyText(minor, currency).replace('-', '−'))}</bdi>`,
    remembered,
  )
  const number = remember((value: number) => numbers.format(value), {
    keyOf: String,
    most: numbersRemembered,
  })
  const plural = remember(
    (message: string, count: number) => {
      const forms = pluralForms(message)
      return fillText(forms[rules.select(count)] ?? forms.other, { count: number(count) })
    },
    { keyOf: (message, count) => `${count} ${message}`, most: numbersRemembered },
  )
  const duration = remember((value: number, unit: DurationUnit) => durations[unit].format(value), {
    keyOf: (value, unit) => `${value} ${unit}`,
    most: numbersRemembered,
  })

  return {
    moneyText,
    money,
    number,
    plural,
    duration,
    inTime(durationMs) {
      const seconds = Math.max(1, Math.ceil(durationMs / 1000))
      if (seconds < 100) return relative.format(seconds, 'second')
      const minutes = Math.ceil(seconds / 60)
      return minutes < 100
        ? relative.format(minutes, 'minute')
        : relative.format(Math.ceil(minutes / 60), 'hour')
    },
    ago(passedMs) {
      const seconds = Math.max(0, Math.floor(passedMs / 1000))
      const [unit, size] = spans.find(([, each]) => seconds >= each) ?? (['second', 1] as const)
      return relative.format(-Math.floor(seconds / size), unit)
    },
    day: (timeMs) => days.format(timeMs),
    dayOfMonth: (timeMs) => daysOfMonth.format(timeMs),
    time: (timeMs) => `${times.format(timeMs)} UTC`,
  }
}

const spans = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Intl keeps every digit of a decimal text, although its type accepts only literals. */
function exact(minor: bigint, currency: string): Intl.StringNumericLiteral {
  return toDecimalText(minor, currency) as Intl.StringNumericLiteral
}
