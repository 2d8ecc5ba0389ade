// A worker's loop: takes a turn, waits as long as the turn says, or until it is woken. Trouble in a turn is logged
// and the next turn comes after a growing pause; a worker never dies of it.
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'

export interface Loop {
  /** There is something to do now. */
  wake(): void
  /** Takes no further turn; resolves when the one under way is over. */
  stop(): Promise<void>
}

export interface LoopParts {
  readonly worker: string
  /** Does what is due and answers how many milliseconds may pass until the next turn. */
  readonly turn: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

/** Given as the reason, because without one an error is made each time, with its stack. */
const woke = 'woken'
const pauseAfterTroubleMs = { first: 100, most: 5_000 } as const

export function startLoop({ worker, turn, clock, log }: LoopParts): Loop {
  let stopped = false
  let woken = false
  let pause = new AbortController()
  let troubles = 0

  const run = async (): Promise<void> => {
    while (!stopped) {
      woken = false
      const waitMs = await takeTurn()
      // After trouble the pause is kept: whoever woke us does not know that the database is away.
      if (stopped || (woken && troubles === 0)) continue
      pause = new AbortController()
      await clock.wait(waitMs, pause.signal)
    }
  }

  const takeTurn = async (): Promise<number> => {
    try {
      const waitMs = await turn()
      troubles = 0
      return waitMs
    } catch (error) {
      const waitMs = Math.min(pauseAfterTroubleMs.first * 2 ** troubles++, pauseAfterTroubleMs.most)
      log.warn({ worker, err: error, waitMs }, 'a turn failed; trying again')
      return waitMs
    }
  }

  // Not before the caller holds the loop: its first turn may already wake it.
  const running = Promise.resolve().then(run)
  return {
    wake() {
      woken = true
      if (troubles === 0) pause.abort(woke)
    },
    stop() {
      stopped = true
      pause.abort(woke)
      return running
    },
  }
}
