// A clock that stands still until the test moves it; whoever waits on it wakes when its time has come. Only moments pass
// by themselves: a worker that looked at the clock just before the test moved it, and then waits to look again, would
// wait for ever.
import type { Clock } from '../../src/platform/runtime/clock.ts'

interface Wait {
  readonly dueMs: number
  readonly end: () => void
}

/** As long as workers wait before they look again. */
const momentMs = 1_000

export class TestClock implements Clock {
  #nowMs: number
  readonly #waits = new Set<Wait>()

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs
  }

  now(): number {
    return this.#nowMs
  }

  wait(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || durationMs <= 0) return resolve()
      const passing = durationMs <= momentMs ? setTimeout(() => wait.end(), durationMs).unref() : undefined
      const wait: Wait = {
        dueMs: this.#nowMs + durationMs,
        end: () => {
          this.#waits.delete(wait)
          clearTimeout(passing)
          signal.removeEventListener('abort', wait.end)
          resolve()
        },
      }
      this.#waits.add(wait)
      signal.addEventListener('abort', wait.end)
    })
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs
    for (const { dueMs, end } of [...this.#waits]) if (dueMs <= this.#nowMs) end()
  }
}
