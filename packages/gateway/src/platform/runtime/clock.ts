// Time as it is passed to whatever needs it, so that seven days can go by in milliseconds in a test.
import type { RandomBytes } from '@tillgate/protocol'

export interface Clock {
  /** Milliseconds since 1970, as the wire counts them. */
  now(): number
  /** Resolves after so many milliseconds, or at once when the signal is aborted; never rejects. */
  wait(durationMs: number, signal: AbortSignal): Promise<void>
}

/** What an operation must not take from the machine itself: time and chance. */
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
