// Writes amounts and times of an email in the recipient's language. Causes store them in one form ("12.50 EUR",
// "2026-11-19 03:17 UTC"), because the recipient and their language may be looked up later.
import { digitsOf, Failure } from '@tillgate/protocol'
import type { EmailLanguage } from './email.ts'

const amountGaps = new Set(['amount', 'largest'])
const timeGaps = new Set(['time', 'until', 'since'])
const storedAmount = /^(-?\d+(?:\.\d+)?) ([A-Z]{3})$/
const storedTime = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC$/

/** A value in another form was written by its cause and stays as it is. */
export function localize(name: string, value: string, language: EmailLanguage): string {
  if (amountGaps.has(name)) return localAmount(value, language)
  return timeGaps.has(name) ? localTime(value, language) : value
}

function localAmount(value: string, language: EmailLanguage): string {
  const [, decimal, currency = ''] = storedAmount.exec(value) ?? []
  const digits = decimal === undefined ? undefined : digitsIn(currency)
  if (decimal === undefined || digits === undefined) return value
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  // Safe: the pattern matched a decimal number. As text, it is not rounded.
  return format.format(decimal as Intl.StringNumericLiteral)
}

function digitsIn(currency: string): number | undefined {
  try {
    return digitsOf(currency)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

function localTime(value: string, language: EmailLanguage): string {
  const [, day, time] = storedTime.exec(value) ?? []
  if (day === undefined) return value
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  return `${format.format(new Date(`${day}T${time}:00Z`))} UTC`
}
