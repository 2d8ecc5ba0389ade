// When a host that fails again and again is left alone for a while. The pause protects the host and us; it drops
// nothing, and every callback keeps its place in its own ladder.
import type { Verdict } from './callback-attempt.ts'

export interface FailingHost {
  readonly host: string
  /** In a row. */
  readonly failures: number
  readonly failingSinceMs: number
  readonly reason: string
  /** How often it was paused since it last succeeded. */
  readonly pauses: number
  readonly pausedAtMs: number | undefined
  /** Then one callback is sent to see whether it is back. */
  readonly pausedUntilMs: number | undefined
}

export const failuresBeforePause = 5
export const firstPauseMs = 5_000
/** Short enough that a host that is back is noticed soon; at most this rate of attempts goes to a dead one. */
export const longestPauseMs = 60_000

/** Whether an attempt speaks against the host as a whole, where other merchants may have addresses as well. */
export function isHostFailure(verdict: Verdict): boolean {
  if (verdict.kind === 'acknowledged') return false
  if (verdict.kind === 'refused') return verdict.httpStatus >= 500 || verdict.httpStatus === 429
  // These two are decided before anything is sent, by the address alone.
  return verdict.reason !== 'url_not_allowed' && verdict.reason !== 'address_not_public'
}

/** Whether an attempt shows that the host is there: it answered, and not that it is in trouble. */
export function isHostAnswer(verdict: Verdict): boolean {
  return verdict.kind !== 'unreachable' && !isHostFailure(verdict)
}

/** Before that it may only have been restarted. */
export const toldAfterMs = 10 * 60_000

/** Whether the merchants who send there should hear of it. */
export function isWorthTelling({ failingSinceMs, pausedUntilMs }: FailingHost, nowMs: number): boolean {
  return pausedUntilMs !== undefined && nowMs - failingSinceMs >= toldAfterMs
}

export interface HostFailures {
  readonly host: string
  readonly count: number
  /** When the latest of them began. */
  readonly startedAtMs: number
  readonly reason: string
  readonly nowMs: number
}

/** Attempts that were under way when the pause began make it no longer: they tell nothing new. */
export function hostAfter(before: FailingHost | undefined, seen: HostFailures): FailingHost {
  const { host, reason, nowMs } = seen
  const failures = (before?.failures ?? 0) + seen.count
  const failingSinceMs = before?.failingSinceMs ?? nowMs
  const pauses = before?.pauses ?? 0
  const isNews = before?.pausedAtMs === undefined || seen.startedAtMs >= before.pausedAtMs
  if (failures < failuresBeforePause || !isNews) {
    const { pausedAtMs, pausedUntilMs } = before ?? {}
    return { host, failures, failingSinceMs, reason, pauses, pausedAtMs, pausedUntilMs }
  }
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** pauses)
  return {
    host,
    failures,
    failingSinceMs,
    reason,
    pauses: pauses + 1,
    pausedAtMs: nowMs,
    pausedUntilMs: nowMs + pauseMs,
  }
}
