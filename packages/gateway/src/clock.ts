// Time as it is passed to whatever needs it, so that seven days can go by in milliseconds in a test.
import { setTimeout as wait } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since 1970, as the wire counts them. */
  now(): number
  /** Resolves after so many milliseconds, or at once when the signal is aborted; never rejects. */
  wait(durationMs: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (durationMs, signal) => wait(durationMs, undefined, { signal }).catch(() => {}),
}
