// Fields that several responses and results share, so that a name has one meaning everywhere.
import { choice, list, nested, pattern, text } from '../fields.ts'
import { merchantIdPattern } from '../ids.ts'
import {
  maxAttachLength,
  maxMessageLength,
  maxOrderNoLength,
  maxPaymentIdLength,
  maxReferRefundNoLength,
  maxRefundIdLength,
  maxTransactionIdLength,
} from '../limits.ts'
import { type OrderStatus, orderStatuses, type RefundStatus, refundStatuses } from '../statuses.ts'
import { Type } from '../type.ts'

export const orderStatusNames = Object.keys(orderStatuses) as OrderStatus[]
export const refundStatusNames = Object.keys(refundStatuses) as RefundStatus[]

export const paymentId = text('The payment order’s number.', { max: maxPaymentIdLength })
export const refundId = text('The refund’s number.', { max: maxRefundIdLength })
export const merchantId = pattern('The merchant.', {
  regexp: merchantIdPattern,
  expected: '18 letters or digits',
})
export const referOrderNo = text('The orderNo of the create request.', { max: maxOrderNoLength })
export const referRefundNo = text('The referRefundNo of the refund request.', { max: maxReferRefundNoLength })
export const transactionId = text('The transaction’s number.', { max: maxTransactionIdLength })
export const currency = pattern('The currency.', { regexp: /^[A-Z]{3}$/, expected: 'an ISO 4217 code' })
export const orderStatus = choice('The payment order’s status.', orderStatusNames)
export const refundStatus = choice('The refund’s status.', refundStatusNames)
export const message = text('The reason of a failure; otherwise empty.', { min: 0, max: maxMessageLength })

export const attach = {
  attach: Type.Optional(
    text('The attach of the create request, if any.', {
      max: maxAttachLength,
      hasLines: true,
    }),
  ),
}

/** In every success, so that a misspelled field is noticed at once. */
export const ignored = {
  ignoredFields: Type.Optional(
    list('The first 20 unknown fields of the body, if any.', {
      item: nested('An ignored field.', {
        typeName: 'ignored field',
        fields: {
          field: text('Its path, such as `order.goods[0].goods_name`.', { max: 1024 }),
          nearest: Type.Optional(text('The nearest known name.', { max: 1024 })),
        },
      }),
      typeName: 'array of ignored fields',
    }),
  ),
}

/** Accepted, but probably not what was meant. */
export function warned(description: string) {
  const warning = nested('A warning.', {
    typeName: 'warning',
    fields: {
      field: text('The field that it is about.', { max: 128 }),
      msg: text('What to look at.', { max: maxMessageLength }),
    },
  })
  return {
    warnings: Type.Optional(
      list(`${description} Absent where there is nothing.`, {
        item: warning,
        typeName: 'array of warnings',
      }),
    ),
  }
}
