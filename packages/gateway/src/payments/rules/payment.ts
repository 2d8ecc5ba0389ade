// Paying an order: the hold in the consumer's wallet with `confirming`, and its end with `success` or `failed`. What
// is decided is one value, so that status, money and callback are committed together.
import assert from 'node:assert/strict'
import type { OrderStatus } from '@tillgate/protocol'
import {
  accountIdOf,
  endHold,
  merchantAccount,
  type Transfer,
  walletAccount,
} from '../../ledger/rules/ledger.ts'
import type { Order } from '../../orders/rules/order.ts'
import { confirmOrder, endPayment, orderAt, type StatusChange } from '../../orders/rules/status-change.ts'
import type { RailAnswer } from '../../rails/rules/rail.ts'
import type { Settlement } from './settlement.ts'

export interface Submission {
  readonly kind: 'submission'
  readonly change: StatusChange
  readonly hold: Transfer
  readonly settlement: Settlement
}

export interface NotPayable {
  readonly kind: 'order_not_payable'
  readonly status: OrderStatus
}

export function submitPayment(
  stored: Order,
  given: { walletId: string; transactionId: string; callbackId: string; nowMs: number },
): Submission | NotPayable {
  const { walletId, transactionId, callbackId, nowMs } = given
  const order = orderAt(stored, nowMs)
  if (order.status !== 'pending') return { kind: 'order_not_payable', status: order.status }
  const { merchantId, paymentId, currency, paymentAmountMinor: amountMinor } = order
  return {
    kind: 'submission',
    change: confirmOrder(order, { walletId, transactionId, callbackId, nowMs }),
    hold: paymentHold(order, { walletId, transactionId, madeAtMs: nowMs }),
    settlement: {
      settlementId: paymentId,
      kind: 'payment',
      merchantId,
      paymentId,
      refundId: undefined,
      walletId,
      transactionId,
      amountMinor,
      currency,
      refusal: undefined,
      submittedAtMs: nowMs,
      dueAtMs: nowMs,
    },
  }
}

function paymentHold(
  { merchantId, paymentId, currency, paymentAmountMinor }: Order,
  given: { walletId: string; transactionId: string; madeAtMs: number },
): Transfer {
  return {
    merchantId,
    transferId: given.transactionId,
    kind: 'payment',
    phase: 'hold',
    holdId: undefined,
    debitAccountId: accountIdOf(walletAccount(given.walletId, currency)),
    creditAccountId: accountIdOf(merchantAccount(merchantId, currency)),
    currency,
    amountMinor: paymentAmountMinor,
    paymentId,
    refundId: undefined,
    auditId: undefined,
    madeAtMs: given.madeAtMs,
  }
}

/** A rail's last word on a payment or a refund. */
export type FinalAnswer = Exclude<RailAnswer, { kind: 'later' }>

export function settlePayment(
  order: Order,
  answer: FinalAnswer,
  given: { transferId: string; callbackId: string; nowMs: number },
): { readonly change: StatusChange; readonly end: Transfer } {
  const { transferId, callbackId, nowMs } = given
  const { transactionId, walletId } = order
  assert(transactionId && walletId, 'a payment under way has its transaction and its wallet')
  return {
    change: endPayment(order, {
      failure: answer.kind === 'declined' ? answer.reason : undefined,
      callbackId,
      nowMs,
    }),
    end: endHold(paymentHold(order, { walletId, transactionId, madeAtMs: nowMs }), {
      transferId,
      phase: answer.kind === 'approved' ? 'post' : 'void',
      nowMs,
    }),
  }
}
