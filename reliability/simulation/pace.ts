// How time moves: straight to the next moment at which somebody has something to do. What is overdue, because the process
// that had it died or stands still, is looked at again in growing steps.
import type { Due } from './due.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

const firstStepMs = 1_000
const longestStepMs = 6 * 60 * 60_000
const tidyEveryMs = 12 * 60 * 60_000
/** Not always both of two processes look at the same moment. */
const looks = 0.7

export interface PaceParts {
  readonly time: VirtualTime
  readonly awake: () => readonly Owner[]
  readonly seeded: Seeded
}

/** What a worker waits for. */
interface Expected {
  readonly dueMs: number
  /** By this process's clock it is met first: where that is the slowest, several look at once. */
  readonly skewMs: number
  /** Once it is overdue: when it is looked at again, and how long that was put off. */
  readonly again: { readonly atMs: number; readonly stepMs: number } | undefined
}

export class Pace {
  readonly #parts: PaceParts
  readonly #expected = new Map<string, Expected>()
  #tidyAtMs = 0

  constructor(parts: PaceParts) {
    this.#parts = parts
  }

  advance(due: Due): void {
    const { time, seeded } = this.#parts
    const moments = Object.entries(due).map(([worker, dueMs]) => ({
      worker,
      dueMs: dueMs ?? Number.POSITIVE_INFINITY,
      atMs: dueMs === undefined ? Number.POSITIVE_INFINITY : this.#momentOf(worker, dueMs),
    }))
    const nextMs = Math.min(time.nextDueMs() ?? Number.POSITIVE_INFINITY, ...moments.map(({ atMs }) => atMs))
    if (!Number.isFinite(nextMs)) throw new Error('nothing will ever happen again')
    const roused = new Map(
      moments.filter(({ atMs }) => atMs <= nextMs).map(({ worker, dueMs }) => [worker, dueMs]),
    )
    if (nextMs >= this.#tidyAtMs) {
      this.#tidyAtMs = nextMs + tidyEveryMs
      roused.set('tidy', Number.NEGATIVE_INFINITY)
    }
    time.advanceTo(nextMs, (worker, owner) => {
      const dueMs = roused.get(worker)
      return dueMs !== undefined && dueMs <= time.shownTo(owner) && seeded.isLucky(looks)
    })
  }

  #momentOf(worker: string, dueMs: number): number {
    const { time, awake, seeded } = this.#parts
    const before = this.#expected.get(worker)
    const skews = awake().map(({ skewMs }) => skewMs)
    const expected =
      before?.dueMs === dueMs
        ? before
        : { dueMs, skewMs: skews.length > 0 ? seeded.pick(skews) : 0, again: undefined }
    const atMs = dueMs - time.jumpedMs - expected.skewMs
    const again = atMs > time.nowMs ? undefined : this.#laterThan(expected.again)
    this.#expected.set(worker, { ...expected, again })
    return again?.atMs ?? atMs
  }

  #laterThan(before: Expected['again']): NonNullable<Expected['again']> {
    const { nowMs } = this.#parts.time
    if (before && before.atMs > nowMs) return before
    const stepMs = before ? Math.min(before.stepMs * 2, longestStepMs) : firstStepMs
    return { atMs: nowMs + stepMs, stepMs }
  }
}
