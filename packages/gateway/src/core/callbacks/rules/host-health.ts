// Pauses hosts and destinations that fail repeatedly. A pause drops nothing: callbacks keep their schedules.
// Connection failures pause the host, bad responses only the destination, so that a broken address delays no other on
// its host.
import type { Verdict } from './callback-attempt.ts'
import type { Lane } from './delivery-lanes.ts'

export interface Failing {
  readonly failures: number
  readonly failingSinceMs: number
  readonly reason: string
  /** Since the last success. */
  readonly pauses: number
  readonly pausedAtMs: number | undefined
  /** Afterwards, one callback probes. */
  readonly pausedUntilMs: number | undefined
}

export interface FailingHost extends Failing {
  readonly host: string
}

export interface FailingDestination extends Failing, Lane {
  /** Undefined: the callbackUrl of orders. */
  readonly endpointId: string | undefined
  readonly url: string
  readonly failedAtMs: number
}

export const failuresBeforePause = 5
export const firstPauseMs = 5_000
/** Limits the attempts to a dead host while noticing its recovery soon. */
export const longestPauseMs = 60_000

const hostFaults: ReadonlySet<string> = new Set(['dns', 'connect', 'tls', 'timeout'])

/** Whether the host could not be reached. If the request was sent, the destination is slow. */
export function isHostFault(verdict: Verdict): boolean {
  return verdict.kind === 'unreachable' && hostFaults.has(verdict.reason) && !verdict.wasSent
}

/** Any response shows that the host is up. */
export function isHostAnswer({ kind }: Verdict): boolean {
  return kind !== 'unreachable'
}

export function isDestinationFailure(verdict: Verdict): boolean {
  return verdict.kind !== 'acknowledged' && !isHostFault(verdict)
}

/** A destination that merely rejects, such as with HTTP 404, is not down; each callback reports the rejection. */
export function isDestinationDown(verdict: Verdict): boolean {
  if (!isDestinationFailure(verdict)) return false
  if (verdict.kind === 'refused') return verdict.httpStatus >= 500 || verdict.httpStatus === 429
  // These two are decided by the address, before anything is sent.
  return (
    verdict.kind === 'unreachable' &&
    verdict.reason !== 'url_not_allowed' &&
    verdict.reason !== 'address_not_public'
  )
}

/** A shorter failure may be a restart. */
export const emailAfterMs = 10 * 60_000

export function isWorthEmail({ failures, failingSinceMs, pausedUntilMs }: Failing, nowMs: number): boolean {
  const isSettled = pausedUntilMs !== undefined || failures >= failuresBeforePause
  return isSettled && nowMs - failingSinceMs >= emailAfterMs
}

export interface Failures {
  readonly count: number
  /** The start of the latest attempt. */
  readonly startedAtMs: number
  readonly reason: string
  /** False if it responds and rejects, which ends a pause. */
  readonly isDown: boolean
  readonly nowMs: number
}

/** Attempts that were running when the pause started neither extend nor end it. */
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
