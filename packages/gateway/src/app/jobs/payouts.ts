// Makes the payouts of plans that are due and ends those of runs that end, batch after batch. What other processes ask for
// is found by looking again. Orders go first: while others are at work in the database it rests between two turns, for
// many times as long as a turn takes, and makes up for it when they are done.
import type { WorkPayouts } from '../../finance/payouts/work-payouts.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface PayoutWorkerParts {
  readonly workPayouts: WorkPayouts
  /** Whether anybody else is at work in the database. */
  readonly isShared: () => Promise<boolean>
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 5_000
/** Of the time that a turn took: it has less than a tenth of one connection's work then. */
const rests = 16
const mostRestMs = 60_000
/** With nobody else at work. While one is in PostgreSQL the other is decided here: each is about half of the time. */
export const mostBatchesAtOnce = 2

export function startPayoutWorker({ workPayouts, isShared, clock, log }: PayoutWorkerParts): Loop {
  let batchesAtOnce = 1
  return startLoop({
    worker: 'payouts',
    clock,
    log,
    turn: async () => {
      const startedAtMs = clock.now()
      const { made, ended, more } = await workPayouts({ batchesAtOnce })
      const tookMs = Math.max(1, clock.now() - startedAtMs)
      if (made > 0) log.info({ worker: 'payouts', count: made }, 'payouts were made')
      if (ended > 0) log.info({ worker: 'payouts', count: ended }, 'payouts were ended')
      const isAlone = more && !(await isShared())
      batchesAtOnce = isAlone ? mostBatchesAtOnce : 1
      if (!more) return lookAgainMs
      return isAlone ? 0 : Math.min(rests * tookMs, mostRestMs)
    },
  })
}
