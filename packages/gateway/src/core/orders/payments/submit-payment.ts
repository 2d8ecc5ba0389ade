// Pays from a wallet: the money is held, the order becomes `confirming`, and the rail continues. Insufficient funds
// change nothing, so that another wallet can pay.
import { Failure, makeCallbackId, makeTransactionId, type RandomBytes } from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'
import { type DefaultLimits, limitsIn } from '../../wallets/rules/limits.ts'
import type { WalletStore } from '../../wallets/store/wallets.ts'
import type { CurrentOrder } from '../current-order.ts'
import type { OrderKey } from '../rules/order.ts'
import type { OrderStore } from '../store/orders.ts'
import { type AttemptOpen, type NotPayable, submitPayment } from './rules/payment.ts'
import type { PaymentStore } from './store/payments.ts'

export interface SubmitPaymentParts {
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly payments: PaymentStore
  readonly wallets: Pick<WalletStore, 'findWallet'>
  readonly defaultLimits: DefaultLimits
  readonly clock: Clock
  readonly random: RandomBytes
}

export type PaymentOutcome =
  | { readonly kind: 'submitted'; readonly transactionId: string }
  | { readonly kind: 'insufficient_funds' }
  | { readonly kind: 'over_limit' }
  | { readonly kind: 'wallet_locked' }
  | { readonly kind: 'access_ended' }
  | NotPayable
  | AttemptOpen

export interface PayingWallet {
  readonly walletId: string
  /** As of sign-in; undefined for the sandbox's test wallets, which need no sign-in. */
  readonly accessVersion?: number | undefined
}

export type SubmitPayment = (payment: OrderKey & PayingWallet) => Promise<PaymentOutcome>

/** Only lost connections are retried: after a lost race, the order is no longer payable. */
const maxTries = 5

export function makeSubmitPayment(parts: SubmitPaymentParts): SubmitPayment {
  const { orders, payments, wallets, clock, random } = parts
  return async ({ merchantId, paymentId, walletId, accessVersion }) => {
    const wallet = await wallets.findWallet(walletId)
    if (!wallet) throw new Failure('invalid_field', { message: 'The wallet does not exist.' })
    if (wallet.status === 'locked') return { kind: 'wallet_locked' }
    if (accessVersion !== undefined && accessVersion !== wallet.accessVersion) return { kind: 'access_ended' }
    // One id for all tries, so that the order shows which try committed.
    const transactionId = makeTransactionId(clock.now(), random)
    const callbackId = makeCallbackId(clock.now(), random)
    for (let tries = 0; tries < maxTries; tries++) {
      const nowMs = clock.now()
      const stored = await orders.findOrder({ merchantId, paymentId })
      if (!stored) throw new Failure('order_not_found')
      const order = await parts.currentOrder(stored, nowMs)
      if (order.transactionId === transactionId) return submitted(transactionId)
      const submission = submitPayment(order, {
        walletId,
        transactionId,
        callbackId,
        nowMs,
        limits: limitsIn(order.currency, parts.defaultLimits),
      })
      if (submission.kind !== 'submission') return submission
      const outcome = await payments.submitPayment(submission)
      if (outcome === 'submitted') return submitted(transactionId)
      if (outcome === 'insufficient_funds' || outcome === 'over_limit') return { kind: outcome }
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }

  function submitted(transactionId: string): PaymentOutcome {
    return { kind: 'submitted', transactionId }
  }
}
