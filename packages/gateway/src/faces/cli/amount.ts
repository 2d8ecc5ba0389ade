// Amounts and times of a statement.
import { Failure, toDecimalText } from '@tillgate/protocol'

export function amountText(minor: bigint, currency: string): string {
  return `${toDecimalText(minor, currency)} ${currency}`
}

/** A day, or a moment, in UTC unless it says otherwise. */
export function parseTime(text: string, option: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const hasZone = /(Z|[+-]\d{2}:\d{2})$/.test(text)
  const timeMs = Date.parse(isDay || hasZone ? text : `${text}Z`)
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(timeMs)) return timeMs
  throw new Failure('invalid_field', {
    message: `${option} must be a day such as 2026-01-31, or a moment such as 2026-01-31T12:00:00.`,
  })
}
