// Pays an order: a hold in the consumer's wallet with `confirming`, ended by `success` or `failed`. Each decision is
// one value, so that status, money and callback commit together.
import assert from 'node:assert/strict'
import type { OrderStatus } from '@tillgate/protocol'
import {
  type AccountKey,
  accountIdOf,
  endHold,
  merchantAccount,
  railAccount,
  type Transfer,
  walletAccount,
} from '../../../ledger/rules/transfer.ts'
import type { Limits } from '../../../wallets/rules/limits.ts'
import { chargeFor } from '../../fees/rules/fee.ts'
import type { PriceBook } from '../../fees/rules/price.ts'
import { orderAt } from '../../rules/expiry.ts'
import type { Order } from '../../rules/order.ts'
import { confirmOrder, endPayment, type StatusChange } from '../../rules/status-change.ts'
import type { Authorization } from './authorization.ts'
import type { RailAnswer } from './rail.ts'

export interface Submission {
  readonly kind: 'submission'
  readonly change: StatusChange
  readonly hold: Transfer
  readonly authorization: Authorization
  /** The gateway's limits; a wallet's own limits take precedence. */
  readonly limits: Limits
}

export interface NotPayable {
  readonly kind: 'order_not_payable'
  readonly status: OrderStatus
}

/** The consumer started a rail payment, which must end first. */
export interface AttemptOpen {
  readonly kind: 'attempt_open'
  readonly transactionId: string
}

export function submitPayment(
  stored: Order,
  given: { walletId: string; transactionId: string; callbackId: string; limits: Limits; nowMs: number },
): Submission | NotPayable | AttemptOpen {
  const { walletId, transactionId, callbackId, nowMs } = given
  const order = orderAt(stored, nowMs)
  // Topping up from another wallet is not allowed.
  if (order.status !== 'pending' || order.topsUp !== undefined)
    return { kind: 'order_not_payable', status: order.status }
  if (order.openAttempt !== undefined) return { kind: 'attempt_open', transactionId: order.openAttempt }
  const { merchantId, paymentId, currency, paymentAmountMinor: amountMinor } = order
  const change = confirmOrder(order, { walletId, transactionId, callbackId, nowMs })
  return {
    kind: 'submission',
    change,
    hold: paymentHold(change.order, nowMs),
    limits: given.limits,
    authorization: {
      authorizationId: paymentId,
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

/** The payer's ledger account. */
export function payerAccount({ walletId, railId, currency }: Order): AccountKey {
  if (railId !== undefined) return railAccount(railId, currency)
  assert(walletId, 'who pays is a rail or a wallet')
  return walletAccount(walletId, currency)
}

export function paymentHold(order: Order, madeAtMs: number): Transfer {
  const { merchantId, paymentId, currency, paymentAmountMinor, transactionId } = order
  assert(transactionId, 'a payment under way has its transaction')
  return {
    merchantId,
    transferId: transactionId,
    kind: 'payment',
    phase: 'hold',
    holdId: undefined,
    debitAccountId: accountIdOf(payerAccount(order)),
    creditAccountId: accountIdOf(merchantAccount(merchantId, currency)),
    currency,
    amountMinor: paymentAmountMinor,
    paymentId,
    refundId: undefined,
    auditId: undefined,
    madeAtMs,
  }
}

/** A rail's final response. */
export type FinalAnswer = Exclude<RailAnswer, { kind: 'later' }>

export function settlePayment(
  order: Order,
  answer: FinalAnswer,
  given: { prices: PriceBook; transferId: string; callbackId: string; nowMs: number },
): { readonly change: StatusChange; readonly transfers: readonly Transfer[] } {
  const { prices, transferId, callbackId, nowMs } = given
  const charge = answer.kind === 'approved' ? chargeFor(order, prices, nowMs) : undefined
  const end = endHold(paymentHold(order, nowMs), {
    transferId,
    phase: answer.kind === 'approved' ? 'post' : 'void',
    nowMs,
  })
  return {
    change: endPayment(order, {
      failure: answer.kind === 'declined' ? answer.reason : undefined,
      fee: charge?.fee,
      callbackId,
      nowMs,
    }),
    transfers: charge ? [end, charge.transfer] : [end],
  }
}
