// Erases personal data from orders whose time is over, a small batch at a time with a breath in between, and looks again
// every ten minutes.
import type { ErasePersonalData } from '../orders/erase-personal-data.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Loop, startLoop } from './loop.ts'

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
