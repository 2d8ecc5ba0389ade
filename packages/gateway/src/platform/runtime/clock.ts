// Time as a dependency, so that tests run seven days in milliseconds.
import type { RandomBytes } from '@tillgate/protocol'

export interface Clock {
  now(): number
  /** Resolves early if the signal is aborted. Never rejects. */
  wait(durationMs: number, signal: AbortSignal): Promise<void>
}

export interface ClockAndRandom {
  readonly clock: Clock
  readonly random: RandomBytes
}

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (durationMs, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const timer = setTimeout(end, durationMs)
      signal.addEventListener('abort', end)
      function end(): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
    }),
}
