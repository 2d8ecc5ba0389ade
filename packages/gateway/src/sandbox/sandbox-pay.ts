// service.sandbox.pay: pays an order as a test consumer with the requested outcome.
import {
  Failure,
  ignoring,
  type OrderStatus,
  parseSandboxPayBody,
  paymentIdPattern,
  type SandboxAnswer,
  type sandboxOutcomes,
} from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { ExplainMissingOrder } from '../core/orders/explain-missing-order.ts'
import type { SubmitPayment } from '../core/orders/payments/submit-payment.ts'
import type { OrderKey } from '../core/orders/rules/order.ts'
import type { OrderStore } from '../core/orders/store/orders.ts'
import type { Behaviour } from '../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../core/wallets/store/wallets.ts'
import type { PayByRail } from '../finance/rails/pay-by-rail.ts'
import { findTestWallet } from './test-wallets.ts'

const walletFor = {
  success: 'approves',
  failed: 'declines',
  confirming: 'stays_confirming',
  refund_fails: 'refund_fails',
} as const satisfies Record<(typeof sandboxOutcomes)[number], Behaviour>

export function makeSandboxPay(parts: {
  readonly payByRail: Pick<PayByRail, 'start'>
  readonly submitPayment: SubmitPayment
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly explainMissingOrder: ExplainMissingOrder
  readonly wallets: Pick<WalletStore, 'findWalletByLogin'>
}) {
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxAnswer> => {
    const asked = parseSandboxPayBody(body)
    const { paymentId, outcome, rail } = asked
    if (!paymentIdPattern.test(paymentId))
      throw await parts.explainMissingOrder(merchantId, { field: 'paymentId', number: paymentId })
    if (rail !== undefined)
      return { ...(await payThrough(rail, { merchantId, paymentId })), ...ignoring(asked) }
    const wallet = await findTestWallet(parts.wallets, walletFor[outcome])
    if (!wallet) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    const payment = await parts.submitPayment({ merchantId, paymentId, walletId: wallet.walletId })
    switch (payment.kind) {
      case 'submitted':
        return { paymentId, status: 'confirming', ...ignoring(asked) }
      case 'order_not_payable':
        throw notPayable(payment.status)
      case 'attempt_open':
        throw attemptOpen()
      case 'insufficient_funds':
      case 'over_limit':
      case 'wallet_locked':
      case 'access_ended':
        throw new Failure('status_does_not_allow', {
          message: 'The test wallet cannot pay: it is locked, at its limit, or busy.',
        })
    }
  }

  async function payThrough(railId: string, key: OrderKey): Promise<SandboxAnswer> {
    const outcome = await parts.payByRail.start({ ...key, railId, locale: 'en' })
    switch (outcome.kind) {
      case 'started': {
        const { transactionId, nextAction, status } = outcome.attempt
        const order = await parts.orders.findOrder(key)
        return {
          paymentId: key.paymentId,
          status: order?.status ?? 'pending',
          ...(status !== 'declined' && { transactionId }),
          // Safe: a mutable copy of the same value.
          ...(nextAction && {
            nextAction: structuredClone(nextAction) as SandboxAnswer['nextAction'] & object,
          }),
        }
      }
      case 'attempt_open':
        throw attemptOpen()
      case 'order_not_payable':
        throw notPayable(outcome.status)
      case 'rail_not_offered':
        throw new Failure('status_does_not_allow', {
          field: 'rail',
          message: `The rail ${railId} is not offered for this order: it does not exist, is paused or failing, or does not take this amount, currency or merchant.`,
        })
    }
  }
}

function notPayable(status: OrderStatus): Failure {
  return new Failure('status_does_not_allow', {
    message: `The order’s status is ${status}: only a pending order can be paid. Create a new one.`,
  })
}

function attemptOpen(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'The consumer is paying through a rail. Cancel that at the checkout, or wait until it ends.',
  })
}
