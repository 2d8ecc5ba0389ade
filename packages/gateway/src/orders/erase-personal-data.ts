// Erases personal data from orders whose time is over, a batch at a time. What stays is what books and repetitions need:
// amounts, numbers, goods, and the hash of the content as it was.
import { isFinalOrderStatus, type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import { hashOf } from './create-order.ts'
import { withoutPersonalData } from './rules/order.ts'
import type { ErasureStore } from './store/erasure.ts'

export interface ErasePersonalDataParts {
  readonly erasure: ErasureStore
  /** Undefined: it is kept. */
  readonly personalDataDays: number | undefined
  readonly clock: Clock
}

export interface ErasedPersonalData {
  readonly erased: number
  /** There may be more: a batch was full. */
  readonly more: boolean
}

export type ErasePersonalData = () => Promise<ErasedPersonalData>

const dayMs = 24 * 60 * 60 * 1000
const batchSize = 500
// Safe: these are its own keys.
const finalStatuses = (Object.keys(orderStatuses) as OrderStatus[]).filter(isFinalOrderStatus)

export function makeErasePersonalData(parts: ErasePersonalDataParts): ErasePersonalData {
  const { erasure, personalDataDays, clock } = parts
  return async () => {
    if (personalDataDays === undefined) return { erased: 0, more: false }
    const beforeMs = clock.now() - personalDataDays * dayMs
    let erased = 0
    let more = false
    for (const status of finalStatuses) {
      const batch = await erasure.eraseBatch({ status, beforeMs, limit: batchSize, erase })
      erased += batch.erased
      more ||= batch.seen === batchSize
    }
    return { erased, more }
  }
}

/** Undefined: there is nothing in it to erase. */
export function erase(content: string) {
  const left = withoutPersonalData(content)
  return left === undefined ? undefined : { content: left, contentHash: hashOf(content) }
}
