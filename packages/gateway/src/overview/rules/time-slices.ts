// Time cut into slices that everybody cuts alike: five minutes and hours, counted from 1970. The overview's three
// windows are made of them; the last slice of a window is still running.
import assert from 'node:assert/strict'

export const sliceMs = 5 * 60_000
export const hourMs = 60 * 60_000
assert(hourMs % sliceMs === 0)

export type WindowName = 'hour' | 'day' | 'week'

/** How many points a window has, and how long each is. */
export const windows: Readonly<
  Record<WindowName, { readonly points: number; readonly pointMs: number; readonly label: string }>
> = {
  hour: { points: 12, pointMs: sliceMs, label: 'Last hour' },
  day: { points: 24, pointMs: hourMs, label: 'Last day' },
  week: { points: 28, pointMs: 6 * hourMs, label: 'Last week' },
}

export interface Stretch {
  readonly startsAtMs: number
  readonly lengthMs: number
}

export function startOf(timeMs: number, lengthMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs
}

/** The oldest first; the last one holds this moment. */
export function pointsOf(name: WindowName, nowMs: number): readonly Stretch[] {
  const { points, pointMs } = windows[name]
  const last = startOf(nowMs, pointMs)
  return Array.from({ length: points }, (_, index) => ({
    startsAtMs: last - (points - 1 - index) * pointMs,
    lengthMs: pointMs,
  }))
}

/** The beginnings of the slices that a stretch is made of. */
export function slicesOf({ startsAtMs, lengthMs }: Stretch, partMs: number): readonly number[] {
  return Array.from({ length: lengthMs / partMs }, (_, index) => startsAtMs + index * partMs)
}
