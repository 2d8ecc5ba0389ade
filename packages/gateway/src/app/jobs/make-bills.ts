// Makes bills of the days that are over, a few merchants at a time with a breath in between.
import type { MakeBills } from '../../finance/bills/make-bills.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

const worker = 'make-bills'
const breathMs = 100
const lookAgainMs = 60_000

export function startBillWorker({
  makeBills,
  clock,
  log,
}: {
  makeBills: MakeBills
  clock: Clock
  log: Log
}): Loop {
  return startLoop({
    worker,
    clock,
    log,
    turn: async () => {
      const { made, errors, more } = await makeBills()
      for (const err of errors) log.warn({ worker, err }, 'a bill could not be made; trying again')
      if (made > 0) log.info({ worker, count: made }, 'bills were made')
      return more ? breathMs : lookAgainMs
    },
  })
}
