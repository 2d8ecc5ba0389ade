// When a host or a destination that fails again and again is left alone for a while. The pause protects it and us; it
// drops nothing, and every callback keeps its place in its own ladder. A host is paused for what is its own fault, a
// destination (destination.ts) for what it answers: so a broken address delays no neighbor on its host.
import type { Verdict } from './callback-attempt.ts'
import type { Lane } from './delivery-lanes.ts'

export interface Failing {
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

export interface FailingHost extends Failing {
  readonly host: string
}

export interface FailingDestination extends Failing, Lane {
  /** Undefined: the callbackUrl of orders. */
  readonly endpointId: string | undefined
  /** Without its query. */
  readonly url: string
  readonly failedAtMs: number
}

export const failuresBeforePause = 5
export const firstPauseMs = 5_000
/** Short enough that a host that is back is noticed soon; at most this rate of attempts goes to a dead one. */
export const longestPauseMs = 60_000

const hostFaults: ReadonlySet<string> = new Set(['dns', 'connect', 'tls', 'timeout'])

/** Whether nothing at the host could be reached. Where the request was sent, it is the destination that is slow. */
export function isHostFault(verdict: Verdict): boolean {
  return verdict.kind === 'unreachable' && hostFaults.has(verdict.reason) && !verdict.wasSent
}

/** Whether an attempt shows that the host is there: it answered, whatever the answer was. */
export function isHostAnswer({ kind }: Verdict): boolean {
  return kind !== 'unreachable'
}

export function isDestinationFailure(verdict: Verdict): boolean {
  return verdict.kind !== 'acknowledged' && !isHostFault(verdict)
}

/** Whether the destination is in trouble. One that merely rejects, as by HTTP 404, is told so by each callback at once. */
export function isDestinationDown(verdict: Verdict): boolean {
  if (!isDestinationFailure(verdict)) return false
  if (verdict.kind === 'refused') return verdict.httpStatus >= 500 || verdict.httpStatus === 429
  // These two are decided before anything is sent, by the address alone.
  return (
    verdict.kind === 'unreachable' &&
    verdict.reason !== 'url_not_allowed' &&
    verdict.reason !== 'address_not_public'
  )
}

/** Before that it may only have been restarted. */
export const toldAfterMs = 10 * 60_000

/** Whether the merchants who send there should hear of it. */
export function isWorthTelling({ failures, failingSinceMs, pausedUntilMs }: Failing, nowMs: number): boolean {
  const isSettled = pausedUntilMs !== undefined || failures >= failuresBeforePause
  return isSettled && nowMs - failingSinceMs >= toldAfterMs
}

export interface Failures {
  readonly count: number
  /** When the latest of them began. */
  readonly startedAtMs: number
  readonly reason: string
  /** False: it answers, and rejects. That ends a pause. */
  readonly isDown: boolean
  readonly nowMs: number
}

/** Attempts that were under way when the pause began neither make it longer nor end it: they tell nothing new. */
export function failingAfter(before: Failing | undefined, seen: Failures): Failing {
  const { reason, nowMs } = seen
  const failures = (before?.failures ?? 0) + seen.count
  const failingSinceMs = before?.failingSinceMs ?? nowMs
  const { pauses = 0, pausedAtMs, pausedUntilMs } = before ?? {}
  const isNews = pausedAtMs === undefined || seen.startedAtMs >= pausedAtMs
  const now = { failures, failingSinceMs, reason }
  if (!isNews) return { ...now, pauses, pausedAtMs, pausedUntilMs }
  if (!seen.isDown) return { ...now, pauses: 0, pausedAtMs: undefined, pausedUntilMs: undefined }
  if (failures < failuresBeforePause) return { ...now, pauses, pausedAtMs, pausedUntilMs }
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** pauses)
  return { ...now, pauses: pauses + 1, pausedAtMs: nowMs, pausedUntilMs: nowMs + pauseMs }
}
