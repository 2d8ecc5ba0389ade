// What Vendure's states lack: a payment that waits for its consumer, and a refund that takes its time.
import {
  isGraphQlErrorResult,
  type OrderProcess,
  OrderService,
  type PaymentOptions,
  type PaymentProcess,
} from '@vendure/core'

declare module '@vendure/core' {
  interface PaymentStates {
    AwaitingPayment: never
  }
}

export const awaitingPayment = 'AwaitingPayment'

/** Nobody can call it authorised by hand: that would be an order without its money. */
export const paymentProcess: PaymentProcess<typeof awaitingPayment> = {
  transitions: {
    Created: { to: [awaitingPayment], mergeStrategy: 'merge' },
    AwaitingPayment: { to: ['Settled', 'Declined', 'Cancelled'] },
  },
}

export const refundProcess: NonNullable<PaymentOptions['refundProcess']>[number] = {
  transitions: { Pending: { to: ['Pending'], mergeStrategy: 'merge' } },
}

let orders: OrderService

/** An order that is changed or cancelled has another total: what waits for the old one is cancelled first, or nothing moves. */
export const orderProcess: OrderProcess<never> = {
  init(injector) {
    orders = injector.get(OrderService)
  },
  async onTransitionStart(fromState, toState, { ctx, order }) {
    if (fromState !== 'ArrangingPayment' || (toState !== 'AddingItems' && toState !== 'Cancelled')) return
    for (const payment of await orders.getOrderPayments(ctx, order.id)) {
      if (payment.state !== awaitingPayment) continue
      const cancelled = await orders.cancelPayment(ctx, payment.id)
      if (isGraphQlErrorResult(cancelled)) return reasonOf(cancelled)
    }
  },
}

/** In words: the message of such a result is but its name. */
export function reasonOf(refused: { paymentErrorMessage: string } | { transitionError: string }): string {
  return 'transitionError' in refused ? refused.transitionError : refused.paymentErrorMessage
}
