// Counts the requests that this process answers, in memory, by five minutes and by hours; what has changed since the
// last look is handed over to be written down. A process that is killed loses the last seconds of its counts.
import { bucketOf, type Durations } from './rules/durations.ts'
import type { Traffic } from './rules/overview.ts'
import { hourMs, sliceMs, startOf } from './rules/time-slices.ts'
import type { CountedTraffic } from './store/api-traffic.ts'

export interface Answer {
  readonly durationMs: number
  readonly httpStatus: number
  readonly nowMs: number
}

const lengths = [sliceMs, hourMs] as const

interface Counting {
  readonly startsAtMs: number
  readonly lengthMs: number
  requests: number
  refused: number
  failed: number
  readonly answeredAfter: Map<number, number>
  isChanged: boolean
}

export class TrafficRecorder {
  #counting: Counting[] = []

  record({ durationMs, httpStatus, nowMs }: Answer): void {
    const bucket = bucketOf(durationMs)
    for (const lengthMs of lengths) {
      const counting = this.#at(startOf(nowMs, lengthMs), lengthMs)
      counting.requests++
      if (httpStatus >= 500) counting.failed++
      else if (httpStatus >= 400) counting.refused++
      counting.answeredAfter.set(bucket, (counting.answeredAfter.get(bucket) ?? 0) + 1)
      counting.isChanged = true
    }
  }

  /** What has changed since the last time, whole. */
  changed(): readonly CountedTraffic[] {
    return this.#counting.filter(({ isChanged }) => isChanged).map(toCounted)
  }

  /** These were written; what counted on meanwhile is still changed. Stretches that are over are forgotten. */
  written(counted: readonly CountedTraffic[], nowMs: number): void {
    for (const { startsAtMs, lengthMs, traffic } of counted) {
      const counting = this.#counting.find(
        (each) => each.startsAtMs === startsAtMs && each.lengthMs === lengthMs,
      )
      if (counting?.requests === traffic.requests) counting.isChanged = false
    }
    this.#counting = this.#counting.filter(
      ({ startsAtMs, lengthMs, isChanged }) => isChanged || startsAtMs + lengthMs > nowMs,
    )
  }

  #at(startsAtMs: number, lengthMs: number): Counting {
    const found = this.#counting.find((each) => each.startsAtMs === startsAtMs && each.lengthMs === lengthMs)
    if (found) return found
    const made: Counting = {
      startsAtMs,
      lengthMs,
      requests: 0,
      refused: 0,
      failed: 0,
      answeredAfter: new Map(),
      isChanged: true,
    }
    this.#counting.push(made)
    return made
  }
}

function toCounted({
  startsAtMs,
  lengthMs,
  requests,
  refused,
  failed,
  answeredAfter,
}: Counting): CountedTraffic {
  const traffic: Traffic = {
    requests,
    refused,
    failed,
    answeredAfter: new Map(answeredAfter) satisfies Durations,
  }
  return { startsAtMs, lengthMs, traffic }
}
