// Writes the request log a little after the requests, many at a time.

import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

const worker = 'write-request-log'
const gatherMs = 1_000

export function startRequestLogWorker({
  write,
  clock,
  log,
}: {
  write: () => Promise<{ leftOut: number }>
  clock: Clock
  log: Log
}): Loop {
  return startLoop({
    worker,
    clock,
    log,
    turn: async () => {
      const { leftOut } = await write()
      if (leftOut > 0)
        log.info({ worker, count: leftOut }, 'refused requests have no line in the request log')
      return gatherMs
    },
  })
}
