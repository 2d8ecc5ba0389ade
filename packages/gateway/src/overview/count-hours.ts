// Keeps the overview's hours counted: each once it is over, and again, ever more seldom, while something in it is open.
// Whatever is counted is counted from the orders and callbacks themselves, so a figure that was lost or is wrong is put
// right by the next count.
import type { Clock } from '../platform/clock.ts'
import { type Figures, isSettled } from './rules/overview.ts'
import { hourMs, startOf } from './rules/time-slices.ts'
import type { CountSlices } from './store/overview-counts.ts'
import type { CountedHour, OverviewHours } from './store/overview-hours.ts'

export interface CountHoursParts {
  readonly hours: OverviewHours
  readonly countSlices: CountSlices
  readonly clock: Clock
}

/** How long until there is something to count, as far as is known. */
export type CountHours = () => Promise<number>

/** The longest window begins this long ago at most: seven days, and up to six hours of the running point. */
export const keptMs = 8 * 24 * hourMs
/** A commit that is under way may still add to an hour that is over. */
const lateCommitsMs = 60_000
const settledAfterMs = 10 * 60_000
/** An hour is counted again when its age has grown by an eighth: soon at first, every 21 hours after a week. */
const ageShare = 1 / 8
const lookAgainMs = 60_000
const afterTroubleMs = 10 * 60_000
const timeoutMs = 5_000
const claimMs = 60_000
/** Never more than a tenth of one connection's time. */
const restPerWork = 9
/** As many hours at once as are counted in about this time. */
const goodTimeMs = 100
const hoursAtOnce = { first: 4, most: 64 } as const

export function makeCountHours({ hours, countSlices, clock }: CountHoursParts): CountHours {
  let atOnce: number = hoursAtOnce.first
  /** Hours that alone take too long, and until when they are left in peace. */
  const putOff = new Map<number, number>()

  return async () => {
    const nowMs = clock.now()
    const untilMs = nowMs + claimMs
    if (!(await hours.claim({ nowMs, untilMs }))) return lookAgainMs
    try {
      const dueTimes = await hours.readDueTimes(startOf(nowMs - keptMs, hourMs))
      const due = dueHours(dueTimes, nowMs).filter((startsAtMs) => (putOff.get(startsAtMs) ?? 0) <= nowMs)
      if (due.length === 0) {
        for (const startsAtMs of putOff.keys()) if (startsAtMs < nowMs - keptMs) putOff.delete(startsAtMs)
        await hours.removeBefore(nowMs - keptMs - hourMs)
        return lookAgainMs
      }
      const tookMs = await count(neighbours(due, atOnce), nowMs)
      if (tookMs > goodTimeMs) atOnce = Math.max(1, Math.floor(atOnce / 2))
      else atOnce = Math.min(hoursAtOnce.most, atOnce * 2)
      return Math.ceil(tookMs * restPerWork)
    } finally {
      await hours.release(untilMs)
    }
  }

  /** How long it took. After trouble hours are counted one by one, and one that cannot be counted is put off. */
  async function count(startsAtMs: readonly number[], nowMs: number): Promise<number> {
    const startedMs = performance.now()
    const endsAtMs = (startsAtMs.at(-1) ?? 0) + hourMs
    try {
      const counted = await countSlices({ startsAtMs, endsAtMs, timeoutMs })
      await hours.write(counted.map((figures, index) => toHour(startsAtMs[index] ?? 0, figures, nowMs)))
    } catch (error) {
      const [first = 0, ...more] = startsAtMs
      if (more.length === 0) putOff.set(first, nowMs + afterTroubleMs)
      atOnce = 1
      throw error
    }
    return performance.now() - startedMs
  }
}

function toHour(startsAtMs: number, figures: Figures, nowMs: number): CountedHour {
  const ageMs = nowMs - (startsAtMs + hourMs)
  const isDone = ageMs > settledAfterMs && isSettled(figures)
  const dueAtMs = isDone ? undefined : nowMs + Math.max(lookAgainMs, ageMs * ageShare)
  return { startsAtMs, figures, countedAtMs: nowMs, dueAtMs: dueAtMs && Math.ceil(dueAtMs) }
}

/** The newest first: that is what somebody looks at. */
function dueHours(dueTimes: ReadonlyMap<number, number | undefined>, nowMs: number): number[] {
  const due: number[] = []
  const newest = startOf(nowMs - lateCommitsMs, hourMs) - hourMs
  for (let startsAtMs = newest; startsAtMs > nowMs - keptMs; startsAtMs -= hourMs) {
    const dueAtMs = dueTimes.get(startsAtMs)
    if (dueTimes.has(startsAtMs) ? dueAtMs !== undefined && dueAtMs <= nowMs : true) due.push(startsAtMs)
  }
  return due
}

/** The first of them and those that follow without a gap, so that they are one range; the oldest first. */
function neighbours(due: readonly number[], most: number): number[] {
  const gap = due.findIndex((startsAtMs, index) => index > 0 && startsAtMs !== (due[index - 1] ?? 0) - hourMs)
  return due.slice(0, Math.min(most, gap === -1 ? due.length : gap)).toReversed()
}
