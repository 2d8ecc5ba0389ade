// How time moves: straight to the next moment at which somebody has something to do. What is overdue, because the process
// that had it died or stands still, is looked at again in growing steps.
import type { Due } from './due.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

const firstStepMs = 1_000
const longestStepMs = 6 * 60 * 60_000
const tidyEveryMs = 12 * 60 * 60_000
/** Not always both of two processes look at the same moment. */
const looks = 0.7

export class Pace {
  readonly #time: VirtualTime
  readonly #aheadMs: number
  readonly #seeded: Seeded
  readonly #overdue = new Map<
    string,
    { readonly dueMs: number; readonly stepMs: number; readonly atMs: number }
  >()
  #tidyAtMs = 0

  /** `aheadMs`: how far the clock of a process may be ahead. */
  constructor({ time, aheadMs, seeded }: { time: VirtualTime; aheadMs: number; seeded: Seeded }) {
    this.#time = time
    this.#aheadMs = aheadMs
    this.#seeded = seeded
  }

  advance(due: Due): void {
    const time = this.#time
    const moments = Object.entries(due).map(([worker, dueMs]) => ({
      worker,
      atMs: this.#momentOf(worker, dueMs),
    }))
    const nextMs = Math.min(time.nextDueMs() ?? Number.POSITIVE_INFINITY, ...moments.map(({ atMs }) => atMs))
    if (!Number.isFinite(nextMs)) throw new Error('nothing will ever happen again')
    const roused = new Set(moments.filter(({ atMs }) => atMs <= nextMs).map(({ worker }) => worker))
    if (nextMs >= this.#tidyAtMs) {
      this.#tidyAtMs = nextMs + tidyEveryMs
      roused.add('tidy')
    }
    time.advanceTo(nextMs, (worker) => roused.has(worker) && this.#seeded.isLucky(looks))
  }

  #momentOf(worker: string, dueMs: number | undefined): number {
    const time = this.#time
    const before = this.#overdue.get(worker)
    if (dueMs === undefined) return Number.POSITIVE_INFINITY
    const trueMs = dueMs - time.jumpedMs - this.#aheadMs
    if (trueMs > time.nowMs) return trueMs
    const isSame = before?.dueMs === dueMs
    if (isSame && before.atMs > time.nowMs) return before.atMs
    const stepMs = isSame ? Math.min(before.stepMs * 2, longestStepMs) : firstStepMs
    const atMs = time.nowMs + stepMs
    this.#overdue.set(worker, { dueMs, stepMs, atMs })
    return atMs
  }
}
