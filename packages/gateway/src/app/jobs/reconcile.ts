// Goes on where an import or the settling of a break stopped: whoever died in between, and requests that a second operator
// allowed meanwhile. Usually there is nothing to do.

import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface ReconcileWorkerParts {
  /** How many accounts had work. */
  readonly reconcile: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 60_000

export function startReconcileWorker({ reconcile, clock, log }: ReconcileWorkerParts): Loop {
  const startAtMs = clock.now() + lookAgainMs
  return startLoop({
    worker: 'reconcile',
    clock,
    log,
    turn: async () => {
      const waitMs = startAtMs - clock.now()
      if (waitMs > 0) return waitMs
      const accounts = await reconcile()
      if (accounts > 0) log.info({ worker: 'reconcile', count: accounts }, 'accounts were reconciled')
      return lookAgainMs
    },
  })
}
