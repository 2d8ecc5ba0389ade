// Refusals that leave on a beat, so that their time does not tell why: what was looked for and found takes longer to
// read than what is not there, 80 µs for a merchant's keys, and thousands of tries would show it.
import type { StartTimer } from '../timer.ts'

/** Longer than the opening of an envelope takes on a machine that has time for it. */
export const refusalBeatMs = 5
/** Beats get longer up to this: a thousand requests that wait for the database would take a fifth of a core at 5 ms. */
export const longestBeatMs = 40

/**
 * Undefined, the refusal, comes only at a multiple of the beat after the beginning; all else comes at once. The timer
 * starts before the work, so that the work does not move it.
 */
export async function refusedOnTheBeat<Opened>(
  work: () => Promise<Opened | undefined>,
  /** Of the machine's own time, because that is what is hidden. */
  startTimer: StartTimer,
): Promise<Opened | undefined> {
  let beat = Promise.withResolvers<void>()
  let cancel = start(refusalBeatMs)
  try {
    const opened = await work()
    if (opened === undefined) await beat.promise
    return opened
  } finally {
    cancel()
  }

  function start(delayMs: number): () => void {
    return startTimer(delayMs, () => {
      beat.resolve()
      beat = Promise.withResolvers()
      cancel = start(Math.min(delayMs * 2, longestBeatMs))
    })
  }
}
