// Virtual time. It moves only when nobody has anything to do, straight to the next moment that matters; each process has
// a clock of its own over it, which may be wrong and may jump.
import type { Clock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import type { Owner } from './scheduler.ts'

export type Worker = 'expire' | 'settle' | 'ask' | 'deliver' | 'payouts' | 'bills' | 'tidy'

interface Wait {
  readonly owner: Owner
  readonly dueMs: number
  /** The look-again of this idle worker: time does not move for its sake, and it ends when it is roused. */
  readonly idle: Worker | undefined
  readonly end: () => void
}

export class VirtualTime {
  #nowMs: number
  #waits: Wait[] = []
  /** What the wall clocks show beyond the true time. */
  jumpedMs = 0

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  get nowMs(): number {
    return this.#nowMs
  }

  wait(
    owner: Owner,
    durationMs: number,
    options: { idle?: Worker | undefined; signal?: AbortSignal } = {},
  ): Promise<void> {
    const { idle, signal } = options
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wait = { owner, idle, dueMs: this.#nowMs + Math.max(0, durationMs), end: resolve }
      this.#waits.push(wait)
      signal?.addEventListener(
        'abort',
        () => {
          this.#waits = this.#waits.filter((each) => each !== wait)
          resolve()
        },
        { once: true },
      )
    })
  }

  /** When the next wait ends for whose sake time moves. */
  nextDueMs(): number | undefined {
    const due = this.#waits
      .filter(({ idle, owner }) => !idle && owner.isAlive && !owner.isPaused)
      .map(({ dueMs }) => dueMs)
    return due.length === 0 ? undefined : Math.min(...due)
  }

  /** `rouses` says of each idle worker whose look-again is due whether it looks now; a busy machine may keep it waiting. */
  advanceTo(ms: number, rouses: (worker: Worker, owner: Owner) => boolean): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
    const due = this.#waits.filter(
      ({ dueMs, owner, idle }) =>
        dueMs <= this.#nowMs && owner.isAlive && !owner.isPaused && (!idle || rouses(idle, owner)),
    )
    this.#waits = this.#waits.filter((wait) => wait.owner.isAlive && !due.includes(wait))
    for (const { end } of due.sort((a, b) => a.dueMs - b.dueMs)) end()
  }

  /** What a process's clock shows. */
  shownTo(owner: Owner): number {
    return Math.round(this.#nowMs + this.jumpedMs + owner.skewMs)
  }

  /** As a process sees it. */
  clockOf(owner: Owner, idle?: Worker): Clock {
    return {
      now: () => this.shownTo(owner),
      wait: (durationMs, signal) => this.wait(owner, durationMs, { idle, signal }),
    }
  }
}
