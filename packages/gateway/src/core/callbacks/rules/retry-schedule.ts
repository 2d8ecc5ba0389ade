// When a callback is tried again: eight retries over seven days, counted from the first attempt. Pure: time and
// chance are passed in, so that a test walks the seven days in milliseconds.
import assert from 'node:assert/strict'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Counted from the first attempt. */
export const retryOffsetsMs = [
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  8 * hour,
  day,
  3 * day,
  7 * day,
] as const
export const maxRetries = retryOffsetsMs.length
/** Each retry comes up to this part of its offset early or late, so that a crowd does not come back at once. */
export const jitter = 0.1
/** After the first attempt nothing is tried any more. */
export const lastAttemptWithinMs = 7 * day

assert(maxRetries === 8)
assert(retryOffsetsMs[maxRetries - 1] === lastAttemptWithinMs)
assert(
  retryOffsetsMs.every(
    (offset, i) => i === 0 || offset * (1 - jitter) > (retryOffsetsMs[i - 1] ?? 0) * (1 + jitter),
  ),
)

export interface Failed {
  readonly firstAttemptAtMs: number
  /** How many of the eight were used up, the failed attempt included. */
  readonly retriesMade: number
  readonly nowMs: number
  /** What the receiver asked for. */
  readonly retryAfterMs?: number | undefined
  /** From 0 to 1. */
  readonly chance: number
}

export type Retry =
  | { readonly kind: 'retry'; readonly atMs: number; readonly retriesSkipped: number }
  | { readonly kind: 'exhausted' }

/**
 * Retries whose time has passed, because the host was paused or asked for patience, are not made up for: they are
 * skipped, and the next one to come is taken.
 */
export function nextRetry({ firstAttemptAtMs, retriesMade, nowMs, retryAfterMs = 0, chance }: Failed): Retry {
  const endMs = firstAttemptAtMs + lastAttemptWithinMs
  const next = retryOffsetsMs.findIndex(
    (offsetMs, index) => index >= retriesMade && firstAttemptAtMs + offsetMs > nowMs,
  )
  const offsetMs = retryOffsetsMs[next]
  if (offsetMs === undefined) return { kind: 'exhausted' }
  const isLast = next === maxRetries - 1
  // The last one is never late.
  const spread = isLast ? -jitter * chance : jitter * (2 * chance - 1)
  const plannedMs = firstAttemptAtMs + Math.round(offsetMs * (1 + spread))
  const atMs = Math.min(endMs, Math.max(plannedMs, nowMs + retryAfterMs))
  return { kind: 'retry', atMs, retriesSkipped: next - retriesMade }
}
