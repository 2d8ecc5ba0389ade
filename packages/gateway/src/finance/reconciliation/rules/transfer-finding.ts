// What somebody should look at of money that came by bank transfer, by what was booked for its order: the same for whoever
// booked it and for whoever finds it booked.
import type { Order } from '../../../core/orders/rules/order.ts'
import { heldMinor, type TransferEntry } from '../../rails/rules/bank-transfer.ts'
import type { BreakKind } from './match.ts'

/** Booked, and somebody should still look at it. */
export interface Booked {
  readonly finding: Extract<BreakKind, 'late' | 'twice' | 'amount_differs'> | undefined
  /** What it is about. */
  readonly sizeMinor: bigint
}

/** `entries`: all of the order, in any order; `outsideReference`: of the one that is asked about. */
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
  // Below zero: what was missing then. Of an order that was paid otherwise nothing was, whoever sent it.
  const leftBeforeMinor = heldMinor(order, railId, before)
  if (leftBeforeMinor >= 0n) return { finding: 'twice', sizeMinor: amountMinor }
  const leftMinor = leftBeforeMinor + amountMinor
  return leftMinor > 0n ? { finding: 'amount_differs', sizeMinor: leftMinor } : usual
}
