// The ways to resolve a break: each one's requirement, outcome and refusal.
import { Failure, toDecimalText } from '@tillgate/protocol'
import type { AuditedAction } from '../../../core/authority/rules/effects.ts'
import { type Break, isOpen, mayAccept, mayConfirm, mayPair, mayWriteOff, type Resolution } from './break.ts'
import type { BookItem } from './match.ts'

export interface Way {
  readonly resolution: Resolution
  readonly action: AuditedAction
  readonly may: (found: Break) => boolean
  readonly whyNot: string
}

export const ways = {
  accept: {
    resolution: 'accepted',
    action: 'reconcile.accept',
    may: mayAccept,
    whyNot: 'The statement and the books differ. Write off the difference, or book it.',
  },
  pair: {
    resolution: 'paired',
    action: 'reconcile.pair',
    may: mayPair,
    whyNot: 'Only a line that is missing in the books can be paired.',
  },
  confirm: {
    resolution: 'confirmed',
    action: 'reconcile.confirm',
    may: (found) => found.line !== undefined && mayConfirm(found),
    whyNot: 'This line cannot be booked. Write it off, or pair it.',
  },
  writeOff: {
    resolution: 'written_off',
    action: 'reconcile.write-off',
    may: mayWriteOff,
    whyNot: 'There is no difference to write off.',
  },
} as const satisfies Record<string, Way>

export function checkWay(found: Break, { may, whyNot }: Way): void {
  if (may(found)) return
  if (!isOpen(found)) throw resolvedBefore(found)
  if (found.correctionId !== undefined) throw beingResolved()
  throw new Failure('status_does_not_allow', { message: whyNot })
}

/** The item as which the line is booked. A rail's shortfall becomes its fee. */
export function itemToBook({ item, line }: Break): BookItem {
  if (!item || !line) throw new Error('what differs has two sides')
  if (item.kind !== 'settlement' || item.amountMinor === line.amountMinor) return item
  const feeMinor = item.amountMinor + (item.feeMinor ?? 0n) - line.amountMinor
  if (feeMinor < 0n)
    throw new Failure('status_does_not_allow', {
      message: 'The bank received more than the rail reported. Ask the rail, and write off the difference.',
    })
  return { ...item, amountMinor: line.amountMinor, feeMinor }
}

/** What a second operator agrees to: the order, payout or batch that the line is booked for, and the rail's fee. */
export interface DecidedBooking {
  readonly reference?: string | undefined
  readonly transferId?: string | undefined
  readonly fee?: string | undefined
}

export function decidedBooking({ kind, transferId, feeMinor, currency }: BookItem): {
  transferId: string
  fee?: string
} {
  return { transferId, ...(kind === 'settlement' && { fee: toDecimalText(feeMinor ?? 0n, currency) }) }
}

/** Throws if the line would be booked as something else than was decided. */
export function checkBooking(item: BookItem, decided: DecidedBooking): void {
  const now = decidedBooking(item)
  for (const [field, what] of [
    ['transferId', 'its transfer is'],
    ['fee', 'its fee is'],
  ] as const) {
    const { [field]: before } = decided
    if (before === undefined || before === now[field]) continue
    throw new Failure('status_does_not_allow', {
      field,
      message: `The break has changed: ${what} now ${now[field] ?? 'nothing'}, not ${before}. Review it again.`,
    })
  }
}

/** The audited action of the booking. A rail's shortfall is written off to its fees. */
export function bookedAs(item: BookItem): AuditedAction {
  if (item.kind === 'settlement') return (item.feeMinor ?? 0n) < 0n ? 'rail.settle' : 'correction.difference'
  return item.kind === 'payout_return' ? 'payout.return' : 'payout.paid'
}

export function beingResolved(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'The break is being resolved. Try again in a few minutes.',
  })
}

export function resolvedBefore(found: Break): Failure {
  if (isOpen(found)) return beingResolved()
  return new Failure('status_does_not_allow', {
    message: `The break is already resolved: ${found.resolution?.replace('_', ' ')}. Its page has the operator and the reason.`,
  })
}
