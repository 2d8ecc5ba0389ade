// The loop of one job: runs a turn, then waits for the planned time or a wake-up. A failed turn is logged and
// followed by a growing pause; no error ends the loop.
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'

export interface Loop {
  /** Work is due now or at this time. Ignored if a turn is planned earlier. */
  wake(dueAtMs?: number): void
  stop(): Promise<void>
}

export interface LoopParts {
  readonly name: string
  readonly turn: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

/** An explicit reason avoids creating an error with a stack each time. */
const woke = 'woken'
const pauseAfterFailureMs = { first: 100, most: 5_000 } as const

export function startLoop({ name, turn, clock, log }: LoopParts): Loop {
  let stopped = false
  let woken = false
  let pause = new AbortController()
  let failures = 0
  // Any wake-up during a turn counts, because the turn may have missed the new work.
  let nextTurnAtMs = Number.POSITIVE_INFINITY

  const run = async (): Promise<void> => {
    while (!stopped) {
      woken = false
      nextTurnAtMs = Number.POSITIVE_INFINITY
      const waitMs = await takeTurn()
      // The pause after a failure stays, because a wake-up does not know that the database is away.
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

  // Starts later, because the first turn may already call wake.
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
