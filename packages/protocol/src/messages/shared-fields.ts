// Fields that several answers and results share, so that one name means one thing everywhere.
import { choice, pattern, text } from '../fields.ts'
import { merchantIdPattern } from '../ids.ts'
import {
  maxMessageLength,
  maxOrderNoLength,
  maxPaymentIdLength,
  maxReferRefundNoLength,
  maxRefundIdLength,
  maxTransactionIdLength,
} from '../limits.ts'
import { type OrderStatus, orderStatuses, type RefundStatus, refundStatuses } from '../statuses.ts'

export const orderStatusNames = Object.keys(orderStatuses) as OrderStatus[]
export const refundStatusNames = Object.keys(refundStatuses) as RefundStatus[]

export const paymentId = text('The payment order’s number.', { max: maxPaymentIdLength })
export const refundId = text('The refund’s number.', { max: maxRefundIdLength })
export const merchantId = pattern('The merchant.', { regexp: merchantIdPattern, expected: '18 digits' })
export const referOrderNo = text('The orderNo of the create request, whole.', { max: maxOrderNoLength })
export const referRefundNo = text('The referRefundNo of the refund request.', { max: maxReferRefundNoLength })
export const transactionId = text('The wallet’s number for the transaction.', { max: maxTransactionIdLength })
export const currency = pattern('The currency.', { regexp: /^[A-Z]{3}$/, expected: 'an ISO 4217 code' })
export const orderStatus = choice('The payment order’s status.', orderStatusNames)
export const refundStatus = choice('The refund’s status.', refundStatusNames)
export const message = text('Why it failed; empty when it did not.', { min: 0, max: maxMessageLength })
