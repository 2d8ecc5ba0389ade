// Erases personal data from orders whose time is over, whether they have ended or not, a batch at a time. What stays is
// what books and repetitions need: amounts, numbers, goods, and the hash of the content as it was.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { firstPaymentIdAt } from '../../platform/runtime/time-ordered-ids.ts'
import { hashOf } from './create-order.ts'
import { type ErasableText, withoutPersonalData } from './rules/order.ts'
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
/** As an order comes to them. Safe: these are its own keys. */
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
      // What is left of this status may come to the next ones meanwhile: they go no further, and pass none of it over.
      beforeId = batch.doneBefore
    }
    return { erased, more }
  }
}

/** Undefined: there is nothing in it to erase. */
export function erase(text: ErasableText) {
  const left = withoutPersonalData(text.content)
  if (left === undefined && text.attach === undefined) return undefined
  return { content: left ?? text.content, contentHash: hashOf(text) }
}
