// Erases personal data from old orders in batches. Amounts, numbers, goods and the hash of the content stay, for the
// books and for repeated requests.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { firstPaymentIdAt } from '../../platform/runtime/time-ordered-ids.ts'
import { hashOf } from './create-order.ts'
import { type ErasableText, withoutPersonalData } from './rules/order.ts'
import type { ErasureStore } from './store/erasure.ts'

export interface ErasePersonalDataParts {
  readonly erasure: ErasureStore
  /** Undefined: personal data is kept. */
  readonly personalDataDays: number | undefined
  readonly clock: Clock
}

export interface ErasedPersonalData {
  readonly erased: number
  readonly more: boolean
}

export type ErasePersonalData = () => Promise<ErasedPersonalData>

const dayMs = 24 * 60 * 60 * 1000
const batchSize = 500
/** In the order of an order's life. Safe: these are its own keys. */
const statuses = Object.keys(orderStatuses) as OrderStatus[]

export function makeErasePersonalData(parts: ErasePersonalDataParts): ErasePersonalData {
  const { erasure, personalDataDays, clock } = parts
  return async () => {
    if (personalDataDays === undefined) return { erased: 0, more: false }
    let beforeId = firstPaymentIdAt(clock.now() - personalDataDays * dayMs)
    let erased = 0
    let more = false
    for (const status of statuses) {
      const batch = await erasure.eraseBatch({ status, beforeId, limit: batchSize, erase })
      erased += batch.erased
      if (batch.seen < batchSize) continue
      more = true
      // Orders that change to a later status meanwhile do not pass the position of that status.
      beforeId = batch.doneBefore
    }
    return { erased, more }
  }
}

/** Undefined if there is nothing to erase. */
export function erase(text: ErasableText) {
  const left = withoutPersonalData(text.content)
  if (left === undefined && text.attach === undefined) return undefined
  return { content: left ?? text.content, contentHash: hashOf(text) }
}
