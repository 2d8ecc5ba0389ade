// How long to wait before an operation is repeated: doubling, with jitter so that many clients that failed
// together do not come back together, and never sooner than the gateway asked for.

export const firstDelayMs = 250
export const maxDelayMs = 8_000

export interface RetryContext {
  /** How many retries there were before this one. */
  readonly retries: number
  /** From 0 to 1. */
  readonly random: number
  readonly retryAfterMs?: number
}

/** From half of the step to the whole of it, and a little more than Retry-After where there is one. */
export function retryDelayMs({ retries, random, retryAfterMs = 0 }: RetryContext): number {
  const step = Math.min(maxDelayMs, firstDelayMs * 2 ** retries)
  const jittered = step * (0.5 + random / 2)
  return Math.max(jittered, retryAfterMs === 0 ? 0 : retryAfterMs + random * firstDelayMs)
}
