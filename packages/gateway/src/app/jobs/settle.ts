// Settles payments and refunds as soon as they are submitted here, and finds those of other processes, and those whose
// worker died, by looking again. A rail that is slow holds up nobody: what waits for it waits beside the loop.

import type { SettleDue } from '../../core/orders/payments/settle.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface SettleWorkerParts {
  readonly settleDue: SettleDue
  readonly nextDue: () => Promise<number | undefined>
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 1_000
/** What is due and yet not claimed is in another worker's hands this very moment. */
const leastPauseMs = 20
const maxInFlight = 1_000
const claimBatch = 200

export function startSettleWorker({ settleDue, nextDue, clock, log }: SettleWorkerParts): Loop {
  const running = new Set<Promise<void>>()
  let inFlight = 0

  const loop = startLoop({
    worker: 'settle',
    clock,
    log,
    turn: async () => {
      const limit = Math.min(claimBatch, maxInFlight - inFlight)
      if (limit <= 0) return lookAgainMs
      const { claimed, done } = await settleDue(limit)
      if (claimed > 0) follow(claimed, done)
      if (claimed === limit) return 0
      const nextMs = ((await nextDue()) ?? Number.POSITIVE_INFINITY) - clock.now()
      return Math.min(Math.max(leastPauseMs, nextMs), lookAgainMs)
    },
  })

  function follow(claimed: number, done: Promise<number>): void {
    const wasFull = inFlight + claimed >= maxInFlight
    inFlight += claimed
    const following: Promise<void> = done.then((postponed) => {
      running.delete(following)
      inFlight -= claimed
      if (wasFull || postponed > 0) loop.wake()
    })
    running.add(following)
  }

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(running)
    },
  }
}
