// The gateway's responses: the `data` of each operation, and the response envelope.
import type { Static } from 'typebox'
import { type Failure, successCode, successMessage } from '../codes.ts'
import { amount, choice, list, nested, text, timeNumber, url, wholeNumber } from '../fields.ts'
import type { JsonObject } from '../json/json.ts'
import { maxOrderNoLength, maxRailIdLength, maxTransactionIdLength } from '../limits.ts'
import { nextActionSchema } from '../rail/answers.ts'
import { Type } from '../type.ts'
import { makeReader } from '../validation.ts'
import { authorization } from './captures.ts'
import { channels } from './create-body.ts'
import {
  attach,
  currency,
  ignored,
  merchantId,
  message,
  orderStatus,
  orderStatusNames,
  paymentId,
  referOrderNo,
  referRefundNo,
  refundId,
  refundStatus,
  refundStatusNames,
  transactionId,
  warned,
} from './shared-fields.ts'
import type { Ignoring } from './unread-fields.ts'

export const createAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  channel: choice('The channel of the request.', channels),
  checkoutUrl: url('Redirect the consumer here to pay.'),
  status: choice('`pending` for a new order; the current status for a repeat.', orderStatusNames),
  ...attach,
  ...warned('What will probably not work, although the order was accepted.'),
  ...ignored,
})
export type CreateAnswer = Static<typeof createAnswerSchema>

const refundInQuery = nested('One refund.', {
  typeName: 'refund in a query answer',
  fields: {
    refundId,
    referRefundNo,
    refundAmount: amount('The amount of the refund.'),
    status: refundStatus,
    refundTime: timeNumber('The time of the refund.'),
    completeTime: Type.Optional(timeNumber('When the refund ended, successfully or not.')),
    transactionId: Type.Optional(transactionId),
    msg: message,
  },
})

export const queryFields = {
  status: choice('The status of the newest refund, or of the payment without refunds.', [
    ...orderStatusNames,
    ...refundStatusNames,
  ]),
  transactionId: Type.Optional(
    text('The payment’s transaction number; each refund has its own.', {
      max: maxTransactionIdLength,
    }),
  ),
  msg: message,
  merchantId,
  referOrderNo: text('The referRefundNo of the newest refund, or the orderNo without refunds.', {
    max: maxOrderNoLength,
  }),
  payAmount: Type.Optional(amount('The amount paid, including refunded amounts. Absent until paid.')),
  fee: Type.Optional(amount('The merchant’s fee, if any.')),
  netAmount: Type.Optional(amount('payAmount less fee. Absent without a fee.')),
  currency,
  paymentTime: timeNumber('The paymentTime of the create request.'),
  paidTime: Type.Optional(timeNumber('When the order was paid. Absent until paid.')),
  paymentId,
  orderNo: text('The order’s orderNo.', { max: maxOrderNoLength }),
  paymentStatus: choice('The payment’s status, without refunds.', orderStatusNames),
  paymentAmount: amount('The amount to pay; of a captured order, the captured amount.'),
  payMethod: Type.Optional(
    text('The payment method: `wallet` or the rail’s id. Absent until selected.', { max: maxRailIdLength }),
  ),
  refunds: list('All refunds, oldest first.', {
    item: refundInQuery,
    typeName: 'array of refunds',
  }),
  ...authorization,
  ...attach,
}

export const queryAnswerSchema = Type.Object({ ...queryFields, ...ignored })
export type QueryAnswer = Static<typeof queryAnswerSchema>
export type RefundInQuery = QueryAnswer['refunds'][number]

export const cancelAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  status: choice('The payment order’s status.', ['cancelled']),
  ...ignored,
})
export type CancelAnswer = Static<typeof cancelAnswerSchema>

export const refundAnswerSchema = Type.Object({
  refundId,
  paymentId,
  referRefundNo,
  refundAmount: amount('The amount of the refund.'),
  currency,
  status: choice('`refunding` for a new refund; the current status for a repeat.', refundStatusNames),
  ...ignored,
})
export type RefundAnswer = Static<typeof refundAnswerSchema>

export const callbackAnswerSchema = Type.Object({
  paymentId,
  queued: wholeNumber('The number of callbacks to resend.', { min: 0, max: 1_000_000 }),
  ...warned('Why nothing is sent.'),
  ...ignored,
})
export type CallbackAnswer = {
  paymentId: string
  queued: number
  warnings?: CreateAnswer['warnings']
} & Ignoring

export const sandboxAnswerSchema = Type.Object({
  paymentId,
  status: orderStatus,
  transactionId: Type.Optional(transactionId),
  nextAction: Type.Optional(nextActionSchema),
  ...ignored,
})
export type SandboxAnswer = Static<typeof sandboxAnswerSchema>

export const answerSchema = Type.Object({
  code: wholeNumber(`\`${successCode}\` for success, otherwise one of the failure codes.`, {
    min: 0,
    max: 99_999,
  }),
  msg: Type.String({
    typeName: 'string',
    expected: 'text',
    description: `\`${successMessage}\` for success, otherwise what to change.`,
  }),
  data: Type.Optional(
    nested('The response of the operation. For an error: `requestId`, and `field` if a field is wrong.', {
      typeName: 'object',
      fields: {},
    }),
  ),
})

export interface Answer<Data = JsonObject> {
  readonly code: number
  readonly msg: string
  readonly data: Data
}

export function successAnswer<Data>(data: Data): Answer<Data> {
  return { code: successCode, msg: successMessage, data }
}

export interface FailureData {
  readonly requestId: string
  readonly field?: string
}

/** `errorsUrl` is the page with a section for each code, if the gateway serves one. */
export function failureAnswer(
  { code, message, field }: Failure,
  requestId: string,
  errorsUrl?: string,
): Answer<FailureData> {
  const msg = errorsUrl === undefined ? message : `${message} See ${errorsUrl}#${code}`
  return { code, msg, data: { ...(field !== undefined && { field }), requestId } }
}

const readAnswer = makeReader(answerSchema, { failure: 'invalid_field', whole: 'the answer' })

/** For clients. `code` may be a number or digits; `data` may be absent. */
export function parseAnswer(answerText: string): Answer {
  const { code, msg, data } = readAnswer(answerText)
  return { code: Number(code), msg, data: (data ?? {}) as JsonObject }
}

/** A merchant's response to a callback, with HTTP 200. */
export const callbackAcknowledgement = { code: successCode, msg: '' } as const
