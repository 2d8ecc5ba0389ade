// One turn of the worker: the next bills of some merchants, each a transaction of its own.
import type { Clock } from '../platform/clock.ts'
import { firstOpenDay } from './rules/bill.ts'
import type { BillMakerStore } from './store/make-bill.ts'
import { startBill } from './write-bill.ts'

export interface MakeBillsParts {
  readonly billMaker: BillMakerStore
  readonly clock: Clock
}

export interface BillTurn {
  readonly made: number
  /** There is more to do at once. */
  readonly more: boolean
}

const merchantsPerTurn = 100

export type MakeBills = ReturnType<typeof makeMakeBills>

export function makeMakeBills({ billMaker, clock }: MakeBillsParts) {
  return async (): Promise<BillTurn> => {
    let made = 0
    await billMaker.enrolMerchants()
    for (let turns = 0; turns < merchantsPerTurn; turns++) {
      const nowMs = clock.now()
      const outcome = await billMaker.makeNextBill({ openDay: firstOpenDay(nowMs), nowMs, start: startBill })
      if (outcome === undefined) return { made, more: false }
      if (outcome === 'made') made++
    }
    return { made, more: true }
  }
}
