// Calendar days in UTC, such as 2026-11-16.
export const dayMs = 86_400_000

export function utcDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

export function dayAfter(day: string, days: number): string {
  return utcDay(Date.parse(day) + days * dayMs)
}

export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs)
}
