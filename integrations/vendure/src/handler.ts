// What Vendure calls: the handler that a payment method is made with.
import { LanguageCode, PaymentMethodHandler } from '@vendure/core'
import { TillgatePayments } from './payments.ts'

let payments: TillgatePayments

export const tillgateHandler = new PaymentMethodHandler({
  code: 'tillgate',
  description: [{ languageCode: LanguageCode.en, value: 'Tillgate: paid at the checkout of the gateway' }],
  args: {},
  init(injector) {
    payments = injector.get(TillgatePayments)
  },
  // What the storefront sends along decides nothing.
  createPayment: (ctx, order) => payments.create(ctx, order),
  settlePayment: (ctx, order, payment) => payments.settle(ctx, order, payment),
  cancelPayment: (ctx, order, payment) => payments.cancel(ctx, order, payment),
  createRefund: (ctx, { reason }, amount, order, payment) =>
    payments.refund(ctx, { order, payment, amount, reason }),
})
