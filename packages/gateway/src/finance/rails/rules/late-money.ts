// Late money: a payment approved after its order or attempt ended. It goes into suspense, never changes a final
// status, and is returned through the rail or held for an operator.
import assert from 'node:assert/strict'
import type { RailRefundAnswer } from '@tillgate/protocol'
import {
  directTransfer,
  railAccount,
  suspenseAccount,
  type Transfer,
} from '../../../core/ledger/rules/transfer.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import { type Attempt, type Decision, type DecisionIds, type OrderAndAttempt, unchanged } from './attempt.ts'

export type LateMoney = 'refund' | 'hold'

export function decideLate(
  { order, attempt }: OrderAndAttempt,
  reference: string,
  { returnId, nowMs, lateMoney }: DecisionIds & { readonly lateMoney: LateMoney },
): Decision {
  const { railId, merchantId, paymentId, transactionId } = attempt
  const isKnown = ['approved', 'returning', 'returned', 'held'].includes(attempt.status)
  if (isKnown) return { ...unchanged, isOver: true }
  const isReturned = lateMoney === 'refund'
  return {
    attempt: {
      ...attempt,
      status: isReturned ? 'returning' : 'held',
      nextAction: undefined,
      reference,
      reason: `The money came when the attempt had ended; the order is ${order.status}.`,
      returnId: isReturned ? returnId : undefined,
      endedAtMs: nowMs,
    },
    changes: [],
    transfers: [
      lateTransfer(attempt, { transferId: latePaymentId(order, transactionId), kind: 'late_payment', nowMs }),
    ],
    ...(isReturned && {
      newTask: {
        taskId: returnId,
        kind: 'return',
        railId,
        merchantId,
        paymentId,
        transactionId,
        createdAtMs: nowMs,
      },
    }),
    isOver: true,
    alert: `money came through the rail for an order that is ${order.status}; it is in suspense and ${isReturned ? 'goes back through the rail' : 'is left to an operator'}`,
  }
}

/**
 * Derived from the attempt, so that its late money is booked only once. The suffix avoids the ID of the hold if this
 * attempt also paid the order.
 */
function latePaymentId(order: Pick<Order, 'transactionId'>, transactionId: string): string {
  return order.transactionId === transactionId ? `${transactionId}L` : transactionId
}

function lateTransfer(
  { railId, merchantId, paymentId, currency, amountMinor }: Attempt,
  given: {
    readonly transferId: string
    readonly kind: 'late_payment' | 'late_return'
    readonly nowMs: number
  },
): Transfer {
  const { transferId, kind, nowMs } = given
  const [rail, suspense] = [railAccount(railId, currency), suspenseAccount(currency)]
  const [from, to] = kind === 'late_payment' ? [rail, suspense] : [suspense, rail]
  return directTransfer({ merchantId, transferId, kind, from, to, amountMinor, paymentId, madeAtMs: nowMs })
}

export function decideReturn(attempt: Attempt, answer: RailRefundAnswer, nowMs: number): Decision {
  const { returnId } = attempt
  if (attempt.status !== 'returning') return { ...unchanged, isOver: true }
  assert(returnId, 'a return has its id')
  if (answer.status === 'approved')
    return {
      attempt: { ...attempt, status: 'returned' },
      changes: [],
      transfers: [lateTransfer(attempt, { transferId: returnId, kind: 'late_return', nowMs })],
      isOver: true,
    }
  if (answer.status !== 'declined') return { ...unchanged, isOver: false }
  return {
    ...unchanged,
    attempt: { ...attempt, status: 'held', reason: `The rail rejected the return: ${answer.reason}` },
    isOver: true,
    alert: 'the rail rejected the return of late money; it stays in suspense for an operator',
  }
}
