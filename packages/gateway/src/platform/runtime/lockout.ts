// When wrong tries to sign in lock, and for how long: the first few are free, and each further one locks for longer than
// the one before. The count does not begin anew when a lock is over, only after a right try or some quiet. Pure.
export interface Tries {
  /** Wrong ones since the last right one. */
  readonly count: number
  readonly lastAtMs: number | undefined
  readonly lockedUntilMs: number | undefined
}

export interface TriesLimit {
  /** The last of these locks for the first time. */
  readonly free: number
  /** How long it and each wrong try after it lock; the last of them for every further one. */
  readonly lockMs: readonly number[]
  /** So much quiet after the last try and the last lock forgets them all. */
  readonly forgottenAfterMs: number
}

export type CountedTry =
  | { readonly kind: 'counted'; readonly tries: Tries }
  | { readonly kind: 'locked'; readonly untilMs: number }

export const noTries: Tries = { count: 0, lastAtMs: undefined, lockedUntilMs: undefined }

/** Counts a try before anybody knows whether it is right, unless none may be made now. */
export function countTry(tries: Tries, limit: TriesLimit, nowMs: number): CountedTry {
  const { lastAtMs = 0, lockedUntilMs = 0 } = tries
  if (lockedUntilMs > nowMs) return { kind: 'locked', untilMs: lockedUntilMs }
  const isForgotten = nowMs - Math.max(lastAtMs, lockedUntilMs) >= limit.forgottenAfterMs
  const count = Math.min((isForgotten ? 0 : tries.count) + 1, limit.free + limit.lockMs.length - 1)
  const lockMs = limit.lockMs[count - limit.free]
  const until = lockMs === undefined ? undefined : nowMs + lockMs
  return { kind: 'counted', tries: { count, lastAtMs: nowMs, lockedUntilMs: until } }
}
