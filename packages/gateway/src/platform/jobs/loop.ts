// The loop of one job: takes a turn, then waits as long as the turn says, or until it is woken. A failed turn is logged
// and followed by a growing pause; no error ends the loop.
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'

export interface Loop {
  /** Something is due: now, or at this time, which matters only if it is before the planned turn. */
  wake(dueAtMs?: number): void
  /** Takes no further turn; resolves when the current turn is over. */
  stop(): Promise<void>
}

export interface LoopParts {
  readonly name: string
  /** Does what is due and returns how many milliseconds may pass until the next turn. */
  readonly turn: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

/** Given as the reason, because without one an error is made each time, with its stack. */
const woke = 'woken'
const pauseAfterFailureMs = { first: 100, most: 5_000 } as const

export function startLoop({ name, turn, clock, log }: LoopParts): Loop {
  let stopped = false
  let woken = false
  let pause = new AbortController()
  let failures = 0
  // During a turn anything wakes: the turn may have missed what came up meanwhile.
  let nextTurnAtMs = Number.POSITIVE_INFINITY

  const run = async (): Promise<void> => {
    while (!stopped) {
      woken = false
      nextTurnAtMs = Number.POSITIVE_INFINITY
      const waitMs = await takeTurn()
      // After a failure the pause is kept, because what wakes the loop does not know that the database is away.
      if (stopped || (woken && failures === 0)) continue
      pause = new AbortController()
      nextTurnAtMs = clock.now() + waitMs
      await clock.wait(waitMs, pause.signal)
    }
  }

  const takeTurn = async (): Promise<number> => {
    try {
      const waitMs = await turn()
      failures = 0
      return waitMs
    } catch (error) {
      const waitMs = Math.min(pauseAfterFailureMs.first * 2 ** failures++, pauseAfterFailureMs.most)
      log.warn({ worker: name, err: error, waitMs }, 'a job failed; trying again')
      return waitMs
    }
  }

  // Not before the caller holds the loop: its first turn may already wake it.
  const running = Promise.resolve().then(run)
  return {
    wake(dueAtMs = Number.NEGATIVE_INFINITY) {
      if (dueAtMs >= nextTurnAtMs) return
      woken = true
      if (failures === 0) pause.abort(woke)
    },
    stop() {
      stopped = true
      pause.abort(woke)
      return running
    },
  }
}
