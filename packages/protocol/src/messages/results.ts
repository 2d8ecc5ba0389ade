// The content of callbacks: the result of a payment and of a refund. A payment's result contains both names in use for
// the order number and the payment time, so that a merchant may read either.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { isOrderEventName, isRefundEventName, type OrderEventName, type RefundEventName } from '../events.ts'
import { amount, choice, text, timeNumber } from '../fields.ts'
import { maxOrderNoLength } from '../limits.ts'
import { type DisputeReason, type DisputeStatus, disputeReasons } from '../rail/disputes.ts'
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

const disputeStatuses: readonly DisputeStatus[] = ['open', 'won', 'lost']
/** Of the events of disputes, which go to webhook endpoints. */
export const disputeResultSchema = Type.Object({
  merchantId,
  disputeId: text('The gateway’s number of the dispute.', { max: 32 }),
  paymentId,
  referOrderNo,
  disputeAmount: amount('The disputed amount.'),
  currency,
  status: choice('The status of the dispute.', disputeStatuses),
  reason: choice('Why the consumer disputes the payment.', Object.keys(disputeReasons) as DisputeReason[]),
  openedTime: timeNumber('When the gateway learned of the dispute.'),
  respondBy: Type.Optional(timeNumber('Until when evidence is accepted.')),
  completeTime: Type.Optional(timeNumber('When the dispute was won or lost.')),
  ...attach,
})
export type DisputeResult = Static<typeof disputeResultSchema>

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
