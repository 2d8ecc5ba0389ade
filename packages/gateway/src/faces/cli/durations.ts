// Spans of time on the command line: 90m, 12h, 7d.
import { InvalidArgumentError } from 'commander'

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Undefined: it is not written as a span. */
export function spanMs(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  // Safe: the pattern names the units.
  return amount === undefined ? undefined : Number(amount) * unitsMs[unit as keyof typeof unitsMs]
}

export function parseSpan(text: string): number {
  const span = spanMs(text)
  if (span === undefined) throw new InvalidArgumentError('It must be like 90m, 12h or 7d.')
  return span
}
