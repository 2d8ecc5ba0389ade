// A worker's turn: creates the next bills of some merchants, each in its own transaction.
import type { Clock } from '../../platform/runtime/clock.ts'
import { firstOpenDay } from './rules/bill.ts'
import type { BillMakerStore } from './store/make-bill.ts'
import { startBill } from './write-bill.ts'

export interface MakeBillsParts {
  readonly billMaker: BillMakerStore
  readonly clock: Clock
}

export interface BillTurn {
  readonly made: number
  /** Failed merchants are retried later. */
  readonly errors: readonly unknown[]
  readonly more: boolean
}

const merchantsPerTurn = 100

export function makeMakeBills({ billMaker, clock }: MakeBillsParts) {
  return async (): Promise<BillTurn> => {
    let made = 0
    let after = ''
    const errors: unknown[] = []
    await billMaker.enrolMerchants()
    for (let turns = 0; turns < merchantsPerTurn; turns++) {
      const nowMs = clock.now()
      const openDay = firstOpenDay(nowMs)
      const billed = await billMaker.makeNextBill({ openDay, nowMs, start: startBill, after })
      if (!billed) return { made, errors, more: false }
      if (billed.kind === 'made') made++
      if (billed.kind !== 'failed') continue
      errors.push(billed.error)
      after = billed.merchantId
    }
    return { made, errors, more: true }
  }
}
