// The gateway's five messages to a rail, POSTed to the rail's address. Their responses are in answers.ts.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, pattern, text, timeNumber, url } from '../fields.ts'
import {
  maxOrderDescriptionLength,
  maxOrderNoLength,
  maxRailReferenceLength,
  maxRefundIdLength,
  maxRefundReasonLength,
  maxTransactionIdLength,
} from '../limits.ts'
import { channels } from '../messages/create-body.ts'
import * as shared from '../messages/shared-fields.ts'
import { toMinorUnits } from '../money.ts'
import { Type } from '../type.ts'
import { makeChecker, makeReader } from '../validation.ts'

export const transactionId = text('The payment attempt. The same id is always the same payment.', {
  max: maxTransactionIdLength,
})
const refundId = text('The refund. The same id is always the same refund.', { max: maxRefundIdLength })
export const amount = pattern('The amount, with all decimal places of the currency.', {
  regexp: /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/,
  expected: 'decimal text such as `12.50`',
})
export const amountMinor = pattern('The amount in minor units: 12.50 USD is `1250`.', {
  regexp: /^[1-9][0-9]{0,18}$/,
  expected: 'digits',
})

const paymentStartSchema = Type.Object({
  type: choice('The message type.', ['payment.start']),
  transactionId,
  paymentId: shared.paymentId,
  merchantId: shared.merchantId,
  merchantName: text('The merchant’s name for the consumer.', { max: 256 }),
  orderNo: text('The merchant’s order number.', { max: maxOrderNoLength }),
  description: Type.Optional(text('The order’s description, if any.', { max: maxOrderDescriptionLength })),
  amount,
  amountMinor,
  currency: shared.currency,
  createdAt: timeNumber('When the consumer selected this rail.'),
  expiresAt: timeNumber('When the order expires. Money that arrives later is returned.'),
  returnUrl: url('Where to return the consumer, whatever the result.'),
  notifyUrl: url('Where to send notifications.'),
  locale: pattern('The consumer’s language, as a BCP 47 tag.', {
    regexp: /^[a-z]{2,3}(?:-[0-9A-Za-z]{2,8})*$/,
    expected: 'a language such as `en`',
  }),
  channel: choice('Where the consumer pays.', channels),
  captureMode: Type.Optional(choice('`manual`: [reserve](#authorize-and-capture) the money.', ['manual'])),
})

const paymentStatusSchema = Type.Object({
  type: choice('The message type.', ['payment.status']),
  transactionId,
})
const paymentCancelSchema = Type.Object({
  type: choice('The message type.', ['payment.cancel']),
  transactionId,
})

const refundStartSchema = Type.Object({
  type: choice('The message type.', ['refund.start']),
  refundId,
  transactionId: text('The payment to refund.', { max: maxTransactionIdLength }),
  reference: Type.Optional(
    text('The rail’s number of the payment, if any.', { max: maxRailReferenceLength }),
  ),
  amount,
  amountMinor,
  currency: shared.currency,
  reason: Type.Optional(text('The reason, if any.', { max: maxRefundReasonLength })),
})

const refundStatusSchema = Type.Object({
  type: choice('The message type.', ['refund.status']),
  refundId,
})

export const railMessages = {
  'payment.start': {
    meaning: 'Start a payment. A repeat returns its current state and starts nothing.',
    schema: paymentStartSchema,
    answers: ['pending', 'submitted', 'authorized', 'approved', 'declined', 'cancelled'],
  },
  'payment.status': {
    meaning: 'Get the status of a payment.',
    schema: paymentStatusSchema,
    answers: ['pending', 'submitted', 'authorized', 'approved', 'declined', 'cancelled', 'unknown'],
  },
  'payment.cancel': {
    meaning: 'Cancel a payment that is still `pending`; otherwise return its status.',
    schema: paymentCancelSchema,
    answers: ['cancelled', 'submitted', 'authorized', 'approved', 'declined', 'unknown'],
  },
  'refund.start': {
    meaning: 'Refund a payment. All its refunds together never exceed the amount paid.',
    schema: refundStartSchema,
    answers: ['submitted', 'approved', 'declined'],
  },
  'refund.status': {
    meaning: 'Get the status of a refund.',
    schema: refundStatusSchema,
    answers: ['submitted', 'approved', 'declined', 'unknown'],
  },
} as const

export type RailMessageType = keyof typeof railMessages
export type RailMessageOf<Name extends RailMessageType> = Static<(typeof railMessages)[Name]['schema']>
export type RailMessage = { [Name in RailMessageType]: RailMessageOf<Name> }[RailMessageType]

const messageOptions = { failure: 'invalid_field', whole: 'the message' } as const
const readType = makeReader(
  Type.Object({ type: choice('The message type.', Object.keys(railMessages)) }),
  messageOptions,
)
const checkers = Object.fromEntries(
  Object.entries(railMessages).map(([type, { schema }]) => [type, makeChecker(schema, messageOptions)]),
)

/** For a rail: the body of a verified message. Unknown fields are kept. */
export function parseRailMessage(bodyText: string): RailMessage {
  const read = readType(bodyText)
  // Safe: readType has checked that the type is one of the catalog, and the checker checks all that belongs to it.
  const message = checkers[read.type]?.(read) as RailMessage
  if ('amount' in message) checkAmount(message)
  return message
}

export function checkAmount({
  amount,
  amountMinor,
  currency,
}: Pick<RailMessageOf<'refund.start'>, 'amount' | 'amountMinor' | 'currency'>): void {
  if (toMinorUnits(amount, currency, 'amount') === BigInt(amountMinor)) return
  const message = `amount ${amount} and amountMinor ${amountMinor} are not the same in ${currency}.`
  throw new Failure('amounts_do_not_add_up', { field: 'amountMinor', message })
}
