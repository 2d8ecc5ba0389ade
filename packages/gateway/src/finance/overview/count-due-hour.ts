// Counts the overview's hours, the newest that is due at a time: each once it is over, and again, ever more seldom, while
// something in it is open.
import { hourMs, keptMs, startOf } from './rules/overview.ts'
import type { OverviewHours } from './store/overview-hours.ts'

const lookAgainMs = 60_000
/** A commit that is under way may still add to an hour that is over. */
const lateCommitsMs = 60_000
const afterTroubleMs = 10 * 60_000
const timeoutMs = 5_000
/** Never more than a tenth of one connection's time. */
const restPerWork = 9
/** A new gateway has a week of empty hours to count, with two commits each. */
const leastRestMs = 1_000

/** Counts the newest hour that is due, and answers how long to wait for the next. */
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
