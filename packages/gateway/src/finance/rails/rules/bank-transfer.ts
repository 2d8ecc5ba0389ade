// Payments by bank transfer. All received money goes into suspense first; an order is paid from there once there is
// enough. Too little, too much or late money stays there until it is sent back.
import {
  directTransfer,
  railAccount,
  suspenseAccount,
  type Transfer,
  type TransferKind,
} from '../../../core/ledger/rules/transfer.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import {
  type Attempt,
  type Decision,
  type DecisionIds,
  type OrderAndAttempt,
  type Question,
  standingOf,
  unchanged,
} from './attempt.ts'
import { decidePayment } from './decide-payment.ts'
import { type BankAccount, creditorReference, transferInstructions } from './transfer-account.ts'

export interface BankEntry {
  readonly outsideReference: string
  readonly valueDate: string
  readonly party?: string | undefined
  readonly bankName?: string | undefined
}

/** A bank entry that an operator recorded. */
export interface TransferEntry {
  readonly railId: string
  /** The bank's reference, which counts once. */
  readonly outsideReference: string
  readonly merchantId: string
  readonly paymentId: string
  /** Within the order. */
  readonly ordinal: number
  readonly direction: 'in' | 'out'
  readonly transferId: string
  readonly refundId: string | undefined
  readonly amountMinor: bigint
  readonly currency: string
  readonly valueDate: string
  /** The sender or recipient. */
  readonly party: string | undefined
  readonly bankName: string | undefined
  readonly auditId: string
  readonly recordedAtMs: number
}

/** No one is asked; only an operator's entry brings a change. */
export const lookAgainSeconds = 86_400

export interface TransferFacts extends OrderAndAttempt {
  readonly account: BankAccount
  /** The order's earlier entries. */
  readonly entries: readonly TransferEntry[]
}

export function decideAsked(facts: TransferFacts, question: Question, ids: DecisionIds): Decision {
  const { order, attempt, entries } = facts
  if (question === 'payment.cancel')
    return decidePayment(facts, { status: 'cancelled' }, { ...ids, lateMoney: 'hold' })
  if (attempt.status === 'starting') return decideHeld(facts, heldMinor(order, attempt.railId, entries), ids)
  return { ...unchanged, isOver: attempt.endedAtMs !== undefined }
}

/** The order's money in suspense: received, less paid and sent back. */
export function heldMinor(order: Order, railId: string, entries: readonly TransferEntry[]): bigint {
  const isPaidByIt = order.railId === railId && order.status === 'success'
  return entries
    .filter((entry) => entry.railId === railId && entry.refundId === undefined)
    .reduce(
      (sum, { direction, amountMinor }) => (direction === 'in' ? sum + amountMinor : sum - amountMinor),
      isPaidByIt ? -order.paymentAmountMinor : 0n,
    )
}

/** The consequence of a bank entry. `attempt` is undefined if the order waits for no attempt of this rail. */
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
      ...unchanged,
      transfers: [booked],
      isOver: false,
      ...(isIn && {
        alert: `money came by bank transfer for an order that is ${order.status}; it is in suspense for an operator`,
      }),
    }
  const decision = decideHeld({ ...facts, attempt }, heldMinor(order, entry.railId, [...entries, entry]), ids)
  return { ...decision, transfers: [booked, ...decision.transfers] }
}

/** An open attempt asks for the missing amount; with enough money, the order is paid from suspense. */
function decideHeld(facts: TransferFacts, held: bigint, ids: DecisionIds): Decision {
  const { order, attempt, account } = facts
  const { merchantId, paymentId, currency, paymentAmountMinor: amountMinor } = order
  const reference = creditorReference(paymentId)
  if (held < amountMinor) {
    const nextAction = transferInstructions(account, attempt, held)
    return { ...unchanged, attempt: { ...attempt, status: 'pending', nextAction, reference }, isOver: false }
  }
  const paid = decidePayment(facts, { status: 'approved', reference }, { ...ids, lateMoney: 'hold' })
  const { railId } = attempt
  const used = { railId, merchantId, paymentId, currency, amountMinor, transferId: ids.applyId }
  return {
    ...paid,
    transfers: [moved(used, 'transfer_applied', ids.nowMs), ...paid.transfers],
    ...(held > amountMinor && {
      alert: 'the bank transfers exceed the order; the excess is in suspense',
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
  const [rail, suspense] = [railAccount(railId, currency), suspenseAccount(currency)]
  const [from, to] = kind === 'transfer_received' ? [rail, suspense] : [suspense, rail]
  return directTransfer({ merchantId, transferId, kind, from, to, amountMinor, paymentId, madeAtMs: nowMs })
}
