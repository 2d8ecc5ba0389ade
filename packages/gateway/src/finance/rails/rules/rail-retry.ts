// When a rail is called again: after its own answer, after a failed call, and after a pause of a rail that keeps failing.
import { isUnderWay } from '../../../core/orders/captures/rules/capture.ts'
import type { OrderAndAttempt } from './attempt.ts'

const askAgainMs = { least: 2_000, most: 5 * 60_000 } as const
/** What is reserved is looked at again, because the provider may have ended it. */
const reservedMs = 6 * 60 * 60_000
const failedPauseMs = { first: 1_000, most: 60 * 60_000 } as const

/** When the rail asked for it, or at growing intervals, but not after the order's expiry. */
export function nextAskAtMs(
  { order, attempt }: OrderAndAttempt,
  { nowMs, checkAfterSeconds }: { readonly nowMs: number; readonly checkAfterSeconds: number | undefined },
): number {
  const waitedMs = Math.max(0, nowMs - attempt.startedAtMs)
  const wishedMs =
    checkAfterSeconds === undefined
      ? Math.min(Math.max(askAgainMs.least, waitedMs / 4), askAgainMs.most)
      : checkAfterSeconds * 1000
  const atMs = Math.round(nowMs + wishedMs)
  return order.status === 'pending' ? Math.min(atMs, order.expiresAtMs) : atMs
}

/** Of an authorized payment: when it ends, or earlier while there is something to do. */
export function nextLookAtMs(
  { order, attempt, captures = [] }: OrderAndAttempt,
  given: { readonly nowMs: number; readonly checkAfterSeconds: number | undefined },
): number {
  const { nowMs } = given
  const heldUntilMs = order.authorization?.heldUntilMs ?? 0
  if (captures.some(isUnderWay) || attempt.cancelAskedAtMs !== undefined || nowMs >= heldUntilMs)
    return nextAskAtMs({ order, attempt }, given)
  return laterWhileHeld(heldUntilMs, nowMs)
}

export function laterWhileHeld(heldUntilMs: number, nowMs: number): number {
  return Math.min(heldUntilMs, nowMs + reservedMs)
}

/** The wait after a call that failed or was not answered. */
export function afterFailureMs(failures: number): number {
  return Math.min(failedPauseMs.first * 2 ** Math.min(failures, 20), failedPauseMs.most)
}

const failuresBeforePause = 3
const pauseMs = { first: 15_000, most: 15 * 60_000 } as const

/** Returns how long to pause after this many consecutive failures; undefined if not yet. */
export function pauseAfter(failures: number): number | undefined {
  const beyond = failures - failuresBeforePause
  return beyond < 0 ? undefined : Math.min(pauseMs.first * 2 ** beyond, pauseMs.most)
}
