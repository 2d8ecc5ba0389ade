// Wakes when the next order expires and makes the stored status follow. It is told of orders that this process
// makes; those of other processes it finds by looking again every few seconds.

import type { Expiry } from '../../core/orders/expire-orders.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface ExpiryWorker extends Omit<Loop, 'wake'> {
  /** An order was made that expires then. */
  expects(expiresAtMs: number): void
}

export interface ExpiryWorkerParts {
  readonly expireOrders: () => Promise<Expiry>
  readonly nextExpiry: () => Promise<number | undefined>
  readonly clock: Clock
  readonly log: Log
}

const lookAgainMs = 5_000

export function startExpiryWorker({ expireOrders, nextExpiry, clock, log }: ExpiryWorkerParts): ExpiryWorker {
  let wakesAtMs = Number.POSITIVE_INFINITY
  const loop = startLoop({
    worker: 'expire-orders',
    clock,
    log,
    turn: async () => {
      // What is made during this turn may be missed by it, so it wakes the next one.
      wakesAtMs = Number.POSITIVE_INFINITY
      const { expired, more } = await expireOrders()
      if (expired > 0) log.info({ worker: 'expire-orders', count: expired }, 'orders timed out')
      if (more) return 0
      wakesAtMs = Math.min((await nextExpiry()) ?? Number.POSITIVE_INFINITY, clock.now() + lookAgainMs)
      return Math.max(0, wakesAtMs - clock.now())
    },
  })
  return {
    expects(expiresAtMs) {
      if (expiresAtMs < wakesAtMs) loop.wake()
    },
    stop: loop.stop,
  }
}
