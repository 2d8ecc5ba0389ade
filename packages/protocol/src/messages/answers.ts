// What the gateway answers: the `data` of each operation, and the response envelope around it.
import type { Static } from 'typebox'
import { type Failure, successCode, successMessage } from '../codes.ts'
import { amount, choice, list, nested, text, timeNumber, url, wholeNumber } from '../fields.ts'
import type { JsonObject } from '../json/json.ts'
import { maxOrderNoLength, maxRailIdLength, maxTransactionIdLength } from '../limits.ts'
import { nextActionSchema } from '../rail/answers.ts'
import { Type } from '../type.ts'
import { makeReader } from '../validation.ts'
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
} from './shared-fields.ts'
import type { Ignoring } from './unread-fields.ts'

export const createAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  channel: choice('As it was sent.', channels),
  checkoutUrl: url('Where to send the consumer to pay.'),
  status: choice(
    '`pending` for a new order; the current status when the request was a repetition.',
    orderStatusNames,
  ),
  ...attach,
  ...ignored,
})
export type CreateAnswer = Static<typeof createAnswerSchema>

const refundInQuery = nested('One refund.', {
  typeName: 'refund in a query answer',
  fields: {
    refundId,
    referRefundNo,
    refundAmount: amount('How much was asked back.'),
    status: refundStatus,
    refundTime: timeNumber('When the refund was made.'),
    completeTime: Type.Optional(timeNumber('When it ended, well or badly. Absent while it is refunding.')),
    transactionId: Type.Optional(transactionId),
    msg: message,
  },
})

export const queryFields = {
  status: choice('The status of the newest refund where there is one, otherwise of the payment.', [
    ...orderStatusNames,
    ...refundStatusNames,
  ]),
  transactionId: Type.Optional(
    text('The wallet’s number for the payment’s transaction; a refund’s own is in refunds.', {
      max: maxTransactionIdLength,
    }),
  ),
  msg: message,
  merchantId,
  referOrderNo: text('The referRefundNo of the newest refund where there is one, otherwise the orderNo.', {
    max: maxOrderNoLength,
  }),
  payAmount: Type.Optional(amount('What was paid, whatever was refunded. Absent until it is paid.')),
  fee: Type.Optional(amount('What the payment cost the merchant. Absent where it cost nothing.')),
  netAmount: Type.Optional(
    amount('payAmount less fee: what the payment brought the merchant. Absent where there is no fee.'),
  ),
  currency,
  paymentTime: timeNumber('The paymentTime of the create request.'),
  paidTime: Type.Optional(timeNumber('When it was paid. Absent until then.')),
  paymentId,
  orderNo: text('The orderNo, also where referOrderNo names a refund.', { max: maxOrderNoLength }),
  paymentStatus: choice('The payment’s own status, whatever became of refunds.', orderStatusNames),
  paymentAmount: amount('What the order asks for.'),
  payMethod: Type.Optional(
    text('How it was paid, or is: `wallet`, or the rail’s id. Absent until then.', { max: maxRailIdLength }),
  ),
  refunds: list('All refunds, the oldest first.', {
    item: refundInQuery,
    typeName: 'array of refunds',
  }),
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
  refundAmount: amount('How much goes back.'),
  currency,
  status: choice(
    '`refunding` for a new refund; the current status when the request was a repetition.',
    refundStatusNames,
  ),
  ...ignored,
})
export type RefundAnswer = Static<typeof refundAnswerSchema>

export const callbackAnswerSchema = Type.Object({
  paymentId,
  queued: wholeNumber('How many callbacks will be sent again.', { min: 0, max: 1_000_000 }),
  ...ignored,
})
export type CallbackAnswer = { paymentId: string; queued: number } & Ignoring

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
    description: `\`${successMessage}\` for success, otherwise what to change, in plain words.`,
  }),
  data: Type.Optional(
    nested('What the operation answers. In a failure: `requestId`, and `field` where one is at fault.', {
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

export function failureAnswer({ code, message, field }: Failure, requestId: string): Answer<FailureData> {
  return { code, msg: message, data: { ...(field !== undefined && { field }), requestId } }
}

const readAnswer = makeReader(answerSchema, { failure: 'invalid_field', whole: 'the answer' })

/** For the side that asked. `code` may come as a number or as digits; `data` may be absent. */
export function parseAnswer(answerText: string): Answer {
  const { code, msg, data } = readAnswer(answerText)
  return { code: Number(code), msg, data: (data ?? {}) as JsonObject }
}

/** What a merchant answers to a callback, with HTTP 200. */
export const callbackAcknowledgement = { code: successCode, msg: '' } as const
