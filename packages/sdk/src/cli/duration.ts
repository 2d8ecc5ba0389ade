// Durations as people type them: 90s, 5m, 2h, 2d, 1d12h.
import { UsageError } from './command.ts'

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d{1,9})(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new UsageError(`"${text}" is not a duration. Write 90s, 5m, 2h, 2d or 1d12h.`)
  }
  const totalMs = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs[unit ?? ''] ?? 0), 0)
  if (totalMs === 0) throw new UsageError('The duration must be greater than zero.')
  return totalMs
}
