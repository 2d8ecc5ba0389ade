// Asks rails as soon as something is to be asked here, and finds what other processes made, and what a dead worker left,
// by looking again. A rail that is slow holds up nobody: what waits for it waits beside the loop.

import type { AskRails } from '../../finance/rails/ask-rails.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface RailWorkerParts {
  readonly askRails: Pick<AskRails, 'askDue' | 'nextDue'>
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 1_000
/** What is due and yet not claimed is in another worker's hands this very moment, or has no room at its rail. */
const leastPauseMs = 20

export function startRailWorker({ askRails, clock, log }: RailWorkerParts): Loop {
  const running = new Set<Promise<void>>()

  const loop = startLoop({
    worker: 'ask-rails',
    clock,
    log,
    turn: async () => {
      for (const asking of await askRails.askDue()) {
        const following: Promise<void> = asking.then(() => {
          running.delete(following)
          loop.wake()
        })
        running.add(following)
      }
      const nextMs = ((await askRails.nextDue()) ?? Number.POSITIVE_INFINITY) - clock.now()
      return Math.min(Math.max(leastPauseMs, nextMs), lookAgainMs)
    },
  })

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(running)
    },
  }
}
