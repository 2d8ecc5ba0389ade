// Decides when failed sign-ins lock, and for how long: the first are free, and each further one locks for longer.
// Only a success or a quiet period resets the count. Pure.
export interface Tries {
  readonly count: number
  readonly lastAtMs: number | undefined
  readonly lockedUntilMs: number | undefined
}

export interface TriesLimit {
  /** The last of these causes the first lock. */
  readonly free: number
  /** The lock after the last free try and after each further one; the last value repeats. */
  readonly lockMs: readonly number[]
  /** Quiet time after the last try or lock that resets the count. */
  readonly forgottenAfterMs: number
}

export type CountedTry =
  | { readonly kind: 'counted'; readonly tries: Tries }
  | { readonly kind: 'locked'; readonly untilMs: number }

export const noTries: Tries = { count: 0, lastAtMs: undefined, lockedUntilMs: undefined }

/** Counts a try before its result is known. */
export function countTry(tries: Tries, limit: TriesLimit, nowMs: number): CountedTry {
  const { lastAtMs = 0, lockedUntilMs = 0 } = tries
  if (lockedUntilMs > nowMs) return { kind: 'locked', untilMs: lockedUntilMs }
  const isForgotten = nowMs - Math.max(lastAtMs, lockedUntilMs) >= limit.forgottenAfterMs
  const count = Math.min((isForgotten ? 0 : tries.count) + 1, limit.free + limit.lockMs.length - 1)
  const lockMs = limit.lockMs[count - limit.free]
  const until = lockMs === undefined ? undefined : nowMs + lockMs
  return { kind: 'counted', tries: { count, lastAtMs: nowMs, lockedUntilMs: until } }
}
