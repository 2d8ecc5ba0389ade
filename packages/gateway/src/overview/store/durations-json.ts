// Durations as they rest in the database: how many by the number of the bucket.
import type { Durations } from '../rules/durations.ts'

export function jsonOf(durations: Durations): Record<string, number> {
  return Object.fromEntries(durations)
}

export function durationsOf(stored: Readonly<Record<string, number>>): Durations {
  return new Map(Object.entries(stored).map(([bucket, count]) => [Number(bucket), count]))
}
