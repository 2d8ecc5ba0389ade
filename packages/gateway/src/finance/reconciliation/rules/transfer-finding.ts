// What an operator should review about a recorded bank transfer, independent of whether it was booked now or before.
import type { Order } from '../../../core/orders/rules/order.ts'
import { heldMinor, type TransferEntry } from '../../rails/rules/bank-transfer.ts'
import type { BreakKind } from './match.ts'

export interface Booked {
  readonly finding: Extract<BreakKind, 'late' | 'twice' | 'amount_differs'> | undefined
  readonly sizeMinor: bigint
}

/** `entries`: all of the order, in any order; `outsideReference`: the entry in question. */
export function findingOf(
  { order, entries }: { readonly order: Order; readonly entries: readonly TransferEntry[] },
  { railId, outsideReference }: Pick<TransferEntry, 'railId' | 'outsideReference'>,
): Booked | undefined {
  const entry = entries.find((each) => each.railId === railId && each.outsideReference === outsideReference)
  if (!entry) return undefined
  const { amountMinor, ordinal, recordedAtMs } = entry
  const usual: Booked = { finding: undefined, sizeMinor: amountMinor }
  if (order.status === 'pending') return usual
  if (order.status !== 'success') {
    const cameInTime = order.completedAtMs !== undefined && recordedAtMs < order.completedAtMs
    return cameInTime ? usual : { finding: 'late', sizeMinor: amountMinor }
  }
  const before = entries.filter((each) => each.ordinal < ordinal)
  // Negative: the amount missing before. An order that was paid another way missed nothing.
  const leftBeforeMinor = heldMinor(order, railId, before)
  if (leftBeforeMinor >= 0n) return { finding: 'twice', sizeMinor: amountMinor }
  const leftMinor = leftBeforeMinor + amountMinor
  return leftMinor > 0n ? { finding: 'amount_differs', sizeMinor: leftMinor } : usual
}
