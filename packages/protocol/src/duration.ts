// Durations and times in messages for people.

const units = [
  ['day', 24 * 60 * 60_000],
  ['hour', 60 * 60_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['ms', 1],
] as const
/** Up to two days, hours are easier to read than days. */
const hoursUpToMs = 48 * 60 * 60_000

/** The two largest units that are not zero, such as `4 minutes 59 seconds`. */
export function describeDuration(durationMs: number): string {
  let rest = Math.abs(durationMs)
  const parts: string[] = []
  for (const [name, unitMs] of units) {
    if (name === 'day' && rest <= hoursUpToMs) continue
    const count = Math.floor(rest / unitMs)
    rest -= count * unitMs
    if (count > 0) parts.push(`${count} ${name === 'ms' || count === 1 ? name : `${name}s`}`)
  }
  return parts.slice(0, 2).join(' ') || '0 seconds'
}

/** The time of day in UTC, to the second. */
export function describeClock(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(11, 19)} UTC`
}
