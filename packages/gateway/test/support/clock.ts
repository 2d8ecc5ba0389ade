// A clock that stands still until the test moves it; whoever waits on it wakes when its time has come.
import type { Clock } from '../../src/platform/clock.ts'

export class TestClock implements Clock {
  #nowMs: number
  #waits: { readonly dueMs: number; readonly end: () => void }[] = []

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs
  }

  now(): number {
    return this.#nowMs
  }

  wait(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || durationMs <= 0) return resolve()
      this.#waits.push({ dueMs: this.#nowMs + durationMs, end: resolve })
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs
    const due = this.#waits.filter(({ dueMs }) => dueMs <= this.#nowMs)
    this.#waits = this.#waits.filter(({ dueMs }) => dueMs > this.#nowMs)
    for (const { end } of due) end()
  }
}
