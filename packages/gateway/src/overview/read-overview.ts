// What the overview shows: a window cut into points, each with what was made in it and what became of it, and the sum
// of all. Hours that are over come from the table of counted hours, the newest from the orders themselves.
import type { Clock } from '../platform/clock.ts'
import type { RecentFigures } from './recent-figures.ts'
import { addFigures, addTraffic, type Figures, noTraffic, type Traffic } from './rules/overview.ts'
import {
  hourMs,
  pointsOf,
  type Stretch,
  sliceMs,
  slicesOf,
  startOf,
  type WindowName,
  windows,
} from './rules/time-slices.ts'
import type { ApiTraffic } from './store/api-traffic.ts'
import type { OverviewHours } from './store/overview-hours.ts'

export interface OverviewPoint extends Stretch {
  /** The last one, as far as it has come. */
  readonly passedMs: number
  /** Undefined where not all of it is counted yet. */
  readonly figures: Figures | undefined
  readonly traffic: Traffic
}

export interface Overview {
  readonly window: WindowName
  readonly points: readonly OverviewPoint[]
  /** Of all that is counted. */
  readonly figures: Figures
  readonly traffic: Traffic
  /** How old the newest figures are. */
  readonly countedAtMs: number | undefined
  readonly isComplete: boolean
}

export type ReadOverview = (window: WindowName) => Promise<Overview>

export function makeReadOverview(parts: {
  readonly recent: RecentFigures
  readonly hours: Pick<OverviewHours, 'read'>
  readonly traffic: Pick<ApiTraffic, 'read'>
  readonly clock: Clock
}): ReadOverview {
  return async (window) => {
    const nowMs = parts.clock.now()
    const stretches = pointsOf(window, nowMs)
    const fromMs = stretches[0]?.startsAtMs ?? nowMs
    const lengthMs = windows[window].pointMs === sliceMs ? sliceMs : hourMs
    const [recent, hours, traffic] = await Promise.all([
      parts.recent(),
      lengthMs === sliceMs ? [] : parts.hours.read({ fromMs, toMs: nowMs }),
      parts.traffic.read({ lengthMs, fromMs, toMs: nowMs + 1 }),
    ])
    const counted = new Map<number, Figures>(hours.map(({ startsAtMs, figures }) => [startsAtMs, figures]))
    const freshHours = [startOf(nowMs, hourMs) - hourMs, startOf(nowMs, hourMs)]
    for (const startsAtMs of lengthMs === sliceMs ? [] : freshHours) {
      const figures = hourFrom(recent?.slices, { startsAtMs, nowMs })
      if (figures) counted.set(startsAtMs, figures)
    }
    const figuresAt = lengthMs === sliceMs ? (recent?.slices ?? counted) : counted
    const points = stretches.map((stretch): OverviewPoint => {
      const parts = slicesOf(stretch, lengthMs).filter((startsAtMs) => startsAtMs <= nowMs)
      return {
        ...stretch,
        passedMs: Math.min(stretch.lengthMs, nowMs - stretch.startsAtMs),
        figures: addKnown(parts.map((startsAtMs) => figuresAt.get(startsAtMs))),
        traffic: addTraffic(parts.map((startsAtMs) => traffic.get(startsAtMs) ?? noTraffic)),
      }
    })
    return {
      window,
      points,
      figures: addFigures(
        stretches.flatMap((stretch) =>
          slicesOf(stretch, lengthMs).flatMap((start) => figuresAt.get(start) ?? []),
        ),
      ),
      traffic: addTraffic(points.map((point) => point.traffic)),
      countedAtMs: recent?.countedAtMs,
      isComplete: points.every(({ figures }) => figures !== undefined),
    }
  }
}

function hourFrom(
  slices: ReadonlyMap<number, Figures> | undefined,
  { startsAtMs, nowMs }: { startsAtMs: number; nowMs: number },
): Figures | undefined {
  const parts = slicesOf({ startsAtMs, lengthMs: hourMs }, sliceMs).filter((start) => start <= nowMs)
  return slices && addKnown(parts.map((start) => slices.get(start)))
}

function addKnown(parts: readonly (Figures | undefined)[]): Figures | undefined {
  const known = parts.filter((part) => part !== undefined)
  return known.length === parts.length ? addFigures(known) : undefined
}
