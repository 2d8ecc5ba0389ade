// The retry schedule: eight retries over seven days from the first attempt. Pure: time and randomness are passed in.
import assert from 'node:assert/strict'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

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
/** Each retry varies by this share of its offset, so that retries spread out. */
export const jitter = 0.1
/** The last possible retry. */
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
  readonly retriesMade: number
  readonly nowMs: number
  readonly retryAfterMs?: number | undefined
  /** From 0 to 1. */
  readonly chance: number
}

export type Retry =
  | { readonly kind: 'retry'; readonly atMs: number; readonly retriesSkipped: number }
  | { readonly kind: 'exhausted' }

/** Retries missed during a pause are skipped. */
export function nextRetry({ firstAttemptAtMs, retriesMade, nowMs, retryAfterMs = 0, chance }: Failed): Retry {
  const endMs = firstAttemptAtMs + lastAttemptWithinMs
  const next = retryOffsetsMs.findIndex(
    (offsetMs, index) => index >= retriesMade && firstAttemptAtMs + offsetMs > nowMs,
  )
  const offsetMs = retryOffsetsMs[next]
  if (offsetMs === undefined) return { kind: 'exhausted' }
  const isLast = next === maxRetries - 1
  // The last retry is never late.
  const spread = isLast ? -jitter * chance : jitter * (2 * chance - 1)
  const plannedMs = firstAttemptAtMs + Math.round(offsetMs * (1 + spread))
  const atMs = Math.min(endMs, Math.max(plannedMs, nowMs + retryAfterMs))
  return { kind: 'retry', atMs, retriesSkipped: next - retriesMade }
}
