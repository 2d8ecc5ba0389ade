// Counts the overview's hours when they are over. It is not on the way of a payment: it starts late, waits long and
// gives up early.

import type { CountHours } from '../overview/count-hours.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Loop, startLoop } from './loop.ts'

export interface CountHoursWorkerParts {
  readonly countHours: CountHours
  readonly clock: Clock
  readonly log: Log
}

const firstCountAfterMs = 10_000

export function startCountHoursWorker({ countHours, clock, log }: CountHoursWorkerParts): Loop {
  const startedAtMs = clock.now()
  return startLoop({
    worker: 'count-hours',
    clock,
    log,
    turn: async () => {
      const waitMs = startedAtMs + firstCountAfterMs - clock.now()
      return waitMs > 0 ? waitMs : countHours()
    },
  })
}
