// Keeps the overview's hours counted. It is not on the way of a payment: it starts late, waits long and gives up early.
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Loop, startLoop } from './loop.ts'

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
