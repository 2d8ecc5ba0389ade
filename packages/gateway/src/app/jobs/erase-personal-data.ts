// Erases personal data from orders whose time is over, a small batch at a time with a breath in between, and looks again
// every ten minutes.
import type { ErasePersonalData } from '../../core/orders/erase-personal-data.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

const worker = 'erase-personal-data'
const breathMs = 100
const lookAgainMs = 10 * 60_000

export function startErasureWorker({
  erase,
  clock,
  log,
}: {
  erase: ErasePersonalData
  clock: Clock
  log: Log
}): Loop {
  return startLoop({
    worker,
    clock,
    log,
    turn: async () => {
      const { erased, more } = await erase()
      if (erased > 0) log.info({ worker, count: erased }, 'personal data of old orders was erased')
      return more ? breathMs : lookAgainMs
    },
  })
}
