// Reads the overview: the figures of a time window, compared with those of the previous window. One recount of the recent
// hours serves all viewers and uses at most a tenth of one connection's time. The page shows when it was.
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { hourMs, startOf, type Tallies, type WindowName, windows } from './rules/overview.ts'
import type { OverviewHours } from './store/overview-hours.ts'

export interface OverviewPoint {
  readonly startsAtMs: number
  /** Undefined if not all of it is counted yet. */
  readonly tallies: Tallies | undefined
  /** The same point of the previous window. */
  readonly before: Tallies | undefined
}

export interface Overview {
  readonly window: WindowName
  readonly points: readonly OverviewPoint[]
  readonly tallies: Tallies
  readonly countedAtMs: number | undefined
  readonly isComplete: boolean
}

export type ReadOverview = (window: WindowName) => Promise<Overview>

export interface ReadOverviewParts {
  readonly hours: Pick<OverviewHours, 'count' | 'read'>
  readonly clock: Clock
  readonly log: Log
}

const freshMs = 3_000
const restPerWork = 9
const timeoutMs = 2_000
/** How long a page waits for fresher figures. */
const patienceMs = 100

export function makeReadOverview({ hours, clock, log }: ReadOverviewParts): ReadOverview {
  const refresh = makeRefresh({ hours, clock, log })
  return async (window) => {
    await refresh()
    const nowMs = clock.now()
    const { points, pointMs } = windows[window]
    const fromMs = startOf(nowMs, pointMs) - (2 * points - 1) * pointMs
    const { tallies, countedAtMs } = await hours.read({ fromMs, toMs: nowMs + 1, pointMs })
    const at = (point: number): Tallies | undefined => {
      const startsAtMs = fromMs + point * pointMs
      for (
        let hour = startOf(startsAtMs, hourMs);
        hour < startsAtMs + pointMs && hour <= nowMs;
        hour += hourMs
      )
        if (!countedAtMs.has(hour)) return undefined
      return tallies.filter((tally) => tally.point === point)
    }
    const numbers = Array.from({ length: points }, (_, index) => points + index)
    const shown = numbers.map((point) => ({
      startsAtMs: fromMs + point * pointMs,
      tallies: at(point),
      before: at(point - points),
    }))
    return {
      window,
      points: shown,
      tallies: tallies.filter(({ point }) => point >= points),
      countedAtMs: countedAtMs.get(startOf(nowMs, hourMs)),
      isComplete: shown.every((point) => point.tallies !== undefined),
    }
  }
}

function makeRefresh({ hours, clock, log }: ReadOverviewParts): () => Promise<void> {
  let nextAtMs = 0
  let underWay: Promise<void> | undefined
  let hasCounted = false

  const count = async (): Promise<void> => {
    const nowMs = clock.now()
    const startedMs = performance.now()
    const hour = startOf(nowMs, hourMs)
    try {
      await hours.count([hour - hourMs, hour], { nowMs, timeoutMs })
      hasCounted = true
    } catch (err) {
      log.warn({ err }, 'the last hours could not be counted')
    }
    nextAtMs = nowMs + Math.max(freshMs, (performance.now() - startedMs) * restPerWork)
    underWay = undefined
  }

  return async () => {
    if (clock.now() < nextAtMs) return
    underWay ??= count()
    const patience = new AbortController()
    await Promise.race([underWay, ...(hasCounted ? [clock.wait(patienceMs, patience.signal)] : [])])
    patience.abort()
  }
}
