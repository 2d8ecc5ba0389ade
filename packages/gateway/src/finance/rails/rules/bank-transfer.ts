// A payment by bank transfer: what is decided where another rail would be asked, and what follows from money that the
// bank booked. All of it goes into suspense first. An order is paid out of that as soon as there is enough;
// what is too little, too much or too late stays there until it is sent back.
import {
  accountIdOf,
  railAccount,
  suspenseAccount,
  type Transfer,
  type TransferKind,
} from '../../../core/ledger/rules/transfer.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import {
  type Attempt,
  asItIs,
  type Decision,
  type DecisionIds,
  type OrderAndAttempt,
  type Question,
  standingOf,
} from './attempt.ts'
import { type BankAccount, creditorReference, transferInstructions } from './bank-account.ts'
import { decidePayment } from './decide-payment.ts'

/** As the bank's statement has it. */
export interface BankEntry {
  readonly outsideReference: string
  readonly valueDate: string
  readonly party?: string | undefined
  /** The operator's own account that it came to, or left; undefined: the one with the rail's IBAN, if there is one. */
  readonly bankName?: string | undefined
}

export function describeEntry({ outsideReference, valueDate, party, bankName }: BankEntry): string {
  return [
    `, bank’s reference ${outsideReference}, value date ${valueDate}`,
    party === undefined ? '' : `, other side ${party}`,
    bankName === undefined ? '' : `, bank account ${bankName}`,
  ].join('')
}

/** What the bank booked, as an operator recorded it. */
export interface TransferEntry {
  readonly railId: string
  /** The bank's own; it counts once. */
  readonly outsideReference: string
  readonly merchantId: string
  readonly paymentId: string
  /** Of the order. */
  readonly ordinal: number
  readonly direction: 'in' | 'out'
  /** In the ledger. */
  readonly transferId: string
  /** Where it pays a refund. */
  readonly refundId: string | undefined
  readonly amountMinor: bigint
  readonly currency: string
  /** As the bank says: 2026-11-16. */
  readonly valueDate: string
  /** Who sent it, or got it. */
  readonly party: string | undefined
  /** The operator's own account at the bank. */
  readonly bankName: string | undefined
  readonly auditId: string
  readonly recordedAtMs: number
}

/** Nobody is asked, and nothing is news before an operator says so. */
export const lookAgainSeconds = 86_400

export interface TransferFacts extends OrderAndAttempt {
  readonly account: BankAccount
  /** Of the order, those before. */
  readonly entries: readonly TransferEntry[]
}

/** What follows where another rail would be asked. */
export function decideAsked(facts: TransferFacts, question: Question, ids: DecisionIds): Decision {
  const { order, attempt, entries } = facts
  if (question === 'payment.cancel')
    return decidePayment(facts, { status: 'cancelled' }, { ...ids, lateMoney: 'hold' })
  if (attempt.status === 'starting') return decideHeld(facts, heldMinor(order, attempt.railId, entries), ids)
  return { ...asItIs, isOver: attempt.endedAtMs !== undefined }
}

/** What lies in suspense for the order: all that came less what paid it and what was sent back. */
export function heldMinor(order: Order, railId: string, entries: readonly TransferEntry[]): bigint {
  const isPaidByIt = order.railId === railId && order.status === 'success'
  return entries
    .filter((entry) => entry.railId === railId && entry.refundId === undefined)
    .reduce(
      (sum, { direction, amountMinor }) => (direction === 'in' ? sum + amountMinor : sum - amountMinor),
      isPaidByIt ? -order.paymentAmountMinor : 0n,
    )
}

/** What follows from an entry of the bank. `attempt`: undefined where the order waits for none of this rail. */
export function decideEntry(
  facts: Omit<TransferFacts, 'attempt'> & { readonly attempt: Attempt | undefined },
  entry: TransferEntry,
  ids: DecisionIds,
): Decision {
  const { order, attempt, entries } = facts
  const isIn = entry.direction === 'in'
  const booked = moved(entry, isIn ? 'transfer_received' : 'transfer_returned', ids.nowMs)
  if (!attempt || standingOf({ order, attempt }) !== 'open')
    return {
      ...asItIs,
      transfers: [booked],
      isOver: false,
      ...(isIn && {
        alert: `money came by bank transfer for an order that is ${order.status}; it is in suspense and left to an operator`,
      }),
    }
  const decision = decideHeld({ ...facts, attempt }, heldMinor(order, entry.railId, [...entries, entry]), ids)
  return { ...decision, transfers: [booked, ...decision.transfers] }
}

/** An open attempt asks for what is not there yet; where there is enough, the order is paid out of suspense. */
function decideHeld(facts: TransferFacts, held: bigint, ids: DecisionIds): Decision {
  const { order, attempt, account } = facts
  const { merchantId, paymentId, currency, paymentAmountMinor: amountMinor } = order
  const reference = creditorReference(paymentId)
  if (held < amountMinor) {
    const nextAction = transferInstructions(account, attempt, held)
    return { ...asItIs, attempt: { ...attempt, status: 'pending', nextAction, reference }, isOver: false }
  }
  const paid = decidePayment(facts, { status: 'approved', reference }, { ...ids, lateMoney: 'hold' })
  const { railId } = attempt
  const used = { railId, merchantId, paymentId, currency, amountMinor, transferId: ids.applyId }
  return {
    ...paid,
    transfers: [moved(used, 'transfer_applied', ids.nowMs), ...paid.transfers],
    ...(held > amountMinor && {
      alert: 'more came by bank transfer than was to be paid; the rest is in suspense',
    }),
  }
}

type Movement = Pick<
  TransferEntry,
  'railId' | 'merchantId' | 'paymentId' | 'transferId' | 'currency' | 'amountMinor'
>

/** Between the rail's account and suspense. */
function moved(movement: Movement, kind: TransferKind & `transfer_${string}`, nowMs: number): Transfer {
  const { railId, merchantId, paymentId, transferId, currency, amountMinor } = movement
  const rail = accountIdOf(railAccount(railId, currency))
  const suspense = accountIdOf(suspenseAccount(currency))
  const isIn = kind === 'transfer_received'
  return {
    merchantId,
    transferId,
    kind,
    phase: 'direct',
    holdId: undefined,
    debitAccountId: isIn ? rail : suspense,
    creditAccountId: isIn ? suspense : rail,
    currency,
    amountMinor,
    paymentId,
    refundId: undefined,
    auditId: undefined,
    madeAtMs: nowMs,
  }
}
