// A payment by bank transfer: what the built-in rail answers where another would be asked, and what follows from money
// that the bank booked. All of it goes into suspense first. An order is paid out of that as soon as there is enough;
// what is too little, too much or too late stays there until it is sent back.
import type { RailPaymentAnswer } from '@tillgate/protocol'
import {
  accountIdOf,
  railAccount,
  suspenseAccount,
  type Transfer,
  type TransferKind,
} from '../../ledger/rules/transfer.ts'
import type { Order } from '../../orders/rules/order.ts'
import {
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

export function answerForTransfer(
  account: BankAccount,
  { attempt }: OrderAndAttempt,
  question: Question,
): RailPaymentAnswer {
  if (question === 'payment.cancel') return { status: 'cancelled' }
  return {
    status: 'pending',
    nextAction: attempt.nextAction ?? transferInstructions(account, attempt),
    reference: creditorReference(attempt.paymentId),
    checkAfterSeconds: lookAgainSeconds,
  }
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

export interface ReceiptFacts extends OrderAndAttempt {
  readonly account: BankAccount
  /** Of the order, those before. */
  readonly entries: readonly TransferEntry[]
}

/** `applyId`: of the transfer that takes the order's amount out of suspense. */
export function decideReceipt(
  facts: ReceiptFacts,
  receipt: TransferEntry,
  { applyId, ...ids }: DecisionIds & { readonly applyId: string },
): Decision {
  const { order, attempt, account, entries } = facts
  const { nowMs } = ids
  const booked = moved(receipt, 'transfer_received', nowMs)
  const heldNow = heldMinor(order, receipt.railId, [...entries, receipt])
  if (standingOf(facts) !== 'open')
    return {
      ...asItIs,
      transfers: [booked],
      isOver: false,
      alert: `money came by bank transfer for an order that is ${order.status}; it is in suspense and left to an operator`,
    }
  if (heldNow < order.paymentAmountMinor) {
    const nextAction = transferInstructions(account, attempt, heldNow)
    const waiting = { ...attempt, status: 'pending', nextAction } as const
    return { ...asItIs, attempt: waiting, transfers: [booked], isOver: false }
  }
  const reference = creditorReference(order.paymentId)
  const paid = decidePayment(facts, { status: 'approved', reference }, { ...ids, lateMoney: 'hold' })
  const used = { ...receipt, transferId: applyId, amountMinor: order.paymentAmountMinor }
  return {
    ...paid,
    transfers: [booked, moved(used, 'transfer_applied', nowMs), ...paid.transfers],
    ...(heldNow > order.paymentAmountMinor && {
      alert: 'more came by bank transfer than was to be paid; the rest is in suspense',
    }),
  }
}

/** Between the rail's account and suspense. */
export function moved(
  entry: TransferEntry,
  kind: TransferKind & `transfer_${string}`,
  nowMs: number,
): Transfer {
  const { railId, merchantId, paymentId, transferId, currency, amountMinor } = entry
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
