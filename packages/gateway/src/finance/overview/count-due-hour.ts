// Counts the overview's hours, the newest due one at a time: once an hour has ended, and again at growing intervals
// while it contains open orders or callbacks.
import { hourMs, keptMs, startOf } from './rules/overview.ts'
import type { OverviewHours } from './store/overview-hours.ts'

const lookAgainMs = 60_000
/** A running commit may still add to an ended hour. */
const lateCommitsMs = 60_000
const afterTroubleMs = 10 * 60_000
const timeoutMs = 5_000
/** Limits counting to a tenth of one connection's time. */
const restPerWork = 9
/** A new gateway counts two weeks of empty hours, with two commits each. */
const leastRestMs = 1_000

/** Returns how long to wait before counting the next hour. */
export async function countDueHour(hours: OverviewHours, nowMs: number): Promise<number> {
  const hour = await hours.claimDue({
    fromMs: startOf(nowMs - keptMs, hourMs),
    toMs: startOf(nowMs - lateCommitsMs, hourMs) - hourMs,
    nowMs,
    againAtMs: nowMs + afterTroubleMs,
  })
  if (hour === undefined) {
    await hours.removeBefore(nowMs - keptMs - hourMs)
    return lookAgainMs
  }
  const startedMs = performance.now()
  await hours.count([hour], { nowMs, timeoutMs })
  return Math.max(leastRestMs, Math.ceil((performance.now() - startedMs) * restPerWork))
}
