// The content of callbacks: the result of a payment and of a refund. A payment's result contains both names in use for
// the order number and the payment time, so that a merchant may read either.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { isOrderEventName, isRefundEventName, type OrderEventName, type RefundEventName } from '../events.ts'
import { amount, text, timeNumber } from '../fields.ts'
import { maxOrderNoLength } from '../limits.ts'
import { Type } from '../type.ts'
import { makeReader } from '../validation.ts'
import {
  attach,
  currency,
  merchantId,
  message,
  orderStatus,
  paymentId,
  referOrderNo,
  referRefundNo,
  refundId,
  refundStatus,
  transactionId,
} from './shared-fields.ts'

/** Only with captureMode `manual`. */
const captured = {
  authorizedAmount: Type.Optional(
    amount('With captureMode `manual`: the amount that the consumer agreed to.'),
  ),
  capturedAmount: Type.Optional(amount('With captureMode `manual`: the sum of all captures.')),
}

export const paymentResultSchema = Type.Object({
  merchantId,
  paymentId,
  referOrderNo,
  outOrderNo: text('The same as referOrderNo.', { max: maxOrderNoLength }),
  transactionId: Type.Optional(transactionId),
  paymentAmount: amount('The amount of the payment; of a captured order, the captured amount.'),
  ...captured,
  currency,
  paymentTime: timeNumber('The paymentTime of the create request.'),
  completeTime: Type.Optional(timeNumber('When the order reached its final status, successfully or not.')),
  paidTime: Type.Optional(timeNumber('When the order was paid. Only with the status success.')),
  status: orderStatus,
  msg: message,
  ...attach,
})
export type PaymentResult = Static<typeof paymentResultSchema>

export const refundResultSchema = Type.Object({
  merchantId,
  refundId,
  paymentId,
  referRefundNo,
  transactionId: Type.Optional(transactionId),
  refundAmount: amount('The amount of the refund.'),
  currency,
  refundTime: timeNumber('The time of the refund.'),
  completeTime: Type.Optional(timeNumber('When the refund ended, successfully or not.')),
  status: refundStatus,
  msg: message,
  ...attach,
})
export type RefundResult = Static<typeof refundResultSchema>

export type CallbackResult =
  | { readonly kind: 'order'; readonly eventName: OrderEventName; readonly result: PaymentResult }
  | { readonly kind: 'refund'; readonly eventName: RefundEventName; readonly result: RefundResult }

const resultOptions = { failure: 'invalid_field', whole: 'the body' } as const
const readPaymentResult = makeReader(paymentResultSchema, resultOptions)
const readRefundResult = makeReader(refundResultSchema, resultOptions)

/** For merchants: the decrypted body of a callback, by the event in its envelope. */
export function parseCallbackResult(eventName: string, bodyText: string): CallbackResult {
  if (isOrderEventName(eventName)) return { kind: 'order', eventName, result: readPaymentResult(bodyText) }
  if (isRefundEventName(eventName)) return { kind: 'refund', eventName, result: readRefundResult(bodyText) }
  const message = 'eventName is not an event that this version supports.'
  throw new Failure('invalid_field', { field: 'eventName', message })
}
