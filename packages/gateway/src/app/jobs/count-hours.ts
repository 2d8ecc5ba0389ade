// Keeps the overview's hours counted. It is not on the way of a payment: it starts late, waits long and gives up early.

import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface CountHoursWorkerParts {
  /** Answers how long to wait for the next. */
  readonly countDueHour: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

const firstCountAfterMs = 10_000

export function startCountHoursWorker({ countDueHour, clock, log }: CountHoursWorkerParts): Loop {
  const startAtMs = clock.now() + firstCountAfterMs
  return startLoop({
    worker: 'count-hours',
    clock,
    log,
    turn: async () => Math.max(startAtMs - clock.now(), 0) || countDueHour(),
  })
}
