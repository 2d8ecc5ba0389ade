// The delay before a retry: doubling, with jitter so that many clients that failed together do not retry together, and
// never shorter than the gateway requested.

export const firstDelayMs = 250
export const maxDelayMs = 8_000

export interface RetryContext {
  /** The number of earlier retries. */
  readonly retries: number
  /** From 0 to 1. */
  readonly random: number
  readonly retryAfterMs?: number
}

/** From half of the step to all of it, and slightly more than Retry-After if there is one. */
export function retryDelayMs({ retries, random, retryAfterMs = 0 }: RetryContext): number {
  const step = Math.min(maxDelayMs, firstDelayMs * 2 ** retries)
  const jittered = step * (0.5 + random / 2)
  return Math.max(jittered, retryAfterMs === 0 ? 0 : retryAfterMs + random * firstDelayMs)
}
