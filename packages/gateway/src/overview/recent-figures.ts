// The hour before this one and this one, counted from the orders themselves in slices of five minutes while somebody
// looks. Everybody who looks shares one count, and counting takes a tenth of one connection's time at most: with so
// many orders that it takes long, the figures are older, and say how old.
import type { Clock } from '../platform/clock.ts'
import type { Figures } from './rules/overview.ts'
import { hourMs, sliceMs, slicesOf, startOf } from './rules/time-slices.ts'
import type { CountSlices } from './store/overview-counts.ts'

export interface Recent {
  readonly countedAtMs: number
  /** By the beginning of each slice. */
  readonly slices: ReadonlyMap<number, Figures>
}

/** Undefined when they could not be counted. */
export type RecentFigures = () => Promise<Recent | undefined>

const freshMs = 3_000
const restPerWork = 9
const timeoutMs = 2_000
/** A page waits so long for fresher figures, then shows what there is. */
const patienceMs = 100

export function makeRecentFigures(parts: {
  readonly countSlices: CountSlices
  readonly clock: Clock
  readonly onTrouble: (error: unknown) => void
}): RecentFigures {
  const { countSlices, clock, onTrouble } = parts
  let last: Recent | undefined
  let nextAtMs = 0
  let underWay: Promise<void> | undefined

  const count = async (): Promise<void> => {
    const nowMs = clock.now()
    const startedMs = performance.now()
    const startsAtMs = slicesOf(
      { startsAtMs: startOf(nowMs, hourMs) - hourMs, lengthMs: 2 * hourMs },
      sliceMs,
    )
    const past = startsAtMs.filter((start) => start <= nowMs)
    try {
      // What is made from now on is not in it, so that two looks at the same moment agree.
      const counted = await countSlices({
        startsAtMs: past,
        endsAtMs: startOf(nowMs, sliceMs) + sliceMs,
        timeoutMs,
      })
      last = {
        countedAtMs: nowMs,
        slices: new Map(past.map((start, index) => [start, counted[index] as Figures])),
      }
    } catch (error) {
      onTrouble(error)
    }
    nextAtMs = nowMs + Math.max(freshMs, (performance.now() - startedMs) * restPerWork)
  }

  return async () => {
    if (clock.now() < nextAtMs) return last
    underWay ??= count().finally(() => {
      underWay = undefined
    })
    const patience = new AbortController()
    await Promise.race([underWay, ...(last ? [clock.wait(patienceMs, patience.signal)] : [])])
    patience.abort()
    return last
  }
}
