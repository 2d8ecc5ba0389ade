// What the gateway sends to a rail: five messages, POSTed to the rail's one address. Their answers are in answers.ts.
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

const transactionId = text('The attempt to pay. The same id is the same payment, for ever.', {
  max: maxTransactionIdLength,
})
const refundId = text('The refund. The same id is the same refund, for ever.', { max: maxRefundIdLength })
const amount = pattern('How much, with all decimal places of the currency.', {
  regexp: /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/,
  expected: 'decimal text such as `12.50`',
})
const amountMinor = pattern('The same in minor units: 12.50 USD is `1250`.', {
  regexp: /^[1-9][0-9]{0,18}$/,
  expected: 'digits',
})

const paymentStartSchema = Type.Object({
  type: choice('Which message this is.', ['payment.start']),
  transactionId,
  paymentId: shared.paymentId,
  merchantId: shared.merchantId,
  merchantName: text('Who is paid, to show to the consumer.', { max: 256 }),
  orderNo: text('The merchant’s own number of the order.', { max: maxOrderNoLength }),
  description: Type.Optional(
    text('What is paid for, where the merchant said it.', { max: maxOrderDescriptionLength }),
  ),
  amount,
  amountMinor,
  currency: shared.currency,
  createdAt: timeNumber('When the consumer chose this rail.'),
  expiresAt: timeNumber('When the order ends. Money that comes later is sent back.'),
  returnUrl: url('Where to send the consumer afterwards, whatever became of the payment.'),
  notifyUrl: url('Where to POST notices.'),
  locale: pattern('The consumer’s language, as a BCP 47 tag.', {
    regexp: /^[a-z]{2,3}(?:-[0-9A-Za-z]{2,8})*$/,
    expected: 'a language such as `en`',
  }),
  channel: choice('Where the consumer pays.', channels),
})

const paymentStatusSchema = Type.Object({
  type: choice('Which message this is.', ['payment.status']),
  transactionId,
})
const paymentCancelSchema = Type.Object({
  type: choice('Which message this is.', ['payment.cancel']),
  transactionId,
})

const refundStartSchema = Type.Object({
  type: choice('Which message this is.', ['refund.start']),
  refundId,
  transactionId: text('The payment that is given back, wholly or in part.', { max: maxTransactionIdLength }),
  reference: Type.Optional(
    text('The rail’s own number of that payment, where it gave one.', { max: maxRailReferenceLength }),
  ),
  amount,
  amountMinor,
  currency: shared.currency,
  reason: Type.Optional(text('Why, where the merchant said it.', { max: maxRefundReasonLength })),
})

const refundStatusSchema = Type.Object({
  type: choice('Which message this is.', ['refund.status']),
  refundId,
})

export const railMessages = {
  'payment.start': {
    meaning: 'Begin a payment. A repeat answers its present state and begins nothing.',
    schema: paymentStartSchema,
    answers: ['pending', 'submitted', 'approved', 'declined', 'cancelled'],
  },
  'payment.status': {
    meaning: 'What has become of a payment?',
    schema: paymentStatusSchema,
    answers: ['pending', 'submitted', 'approved', 'declined', 'cancelled', 'unknown'],
  },
  'payment.cancel': {
    meaning: 'End a payment for which the consumer has not done their part; otherwise answer what it is.',
    schema: paymentCancelSchema,
    answers: ['cancelled', 'submitted', 'approved', 'declined', 'unknown'],
  },
  'refund.start': {
    meaning: 'Give money back. All refunds of a payment together are at most what was paid.',
    schema: refundStartSchema,
    answers: ['submitted', 'approved', 'declined'],
  },
  'refund.status': {
    meaning: 'What has become of a refund?',
    schema: refundStatusSchema,
    answers: ['submitted', 'approved', 'declined', 'unknown'],
  },
} as const

export type RailMessageType = keyof typeof railMessages
export type RailMessageOf<Name extends RailMessageType> = Static<(typeof railMessages)[Name]['schema']>
export type RailMessage = { [Name in RailMessageType]: RailMessageOf<Name> }[RailMessageType]

const messageOptions = { failure: 'invalid_field', whole: 'the message' } as const
const readType = makeReader(
  Type.Object({ type: choice('Which message this is.', Object.keys(railMessages)) }),
  messageOptions,
)
const checkers = Object.fromEntries(
  Object.entries(railMessages).map(([type, { schema }]) => [type, makeChecker(schema, messageOptions)]),
)

/** For a rail: the body of a message whose signature was verified. Fields that it does not know stay in it. */
export function parseRailMessage(bodyText: string): RailMessage {
  const read = readType(bodyText)
  // Safe: readType has checked that the type is one of the catalogue, and the checker checks all that belongs to it.
  const message = checkers[read.type]?.(read) as RailMessage
  if ('amount' in message) checkAmount(message)
  return message
}

function checkAmount({
  amount,
  amountMinor,
  currency,
}: RailMessageOf<'refund.start' | 'payment.start'>): void {
  if (toMinorUnits(amount, currency, 'amount') === BigInt(amountMinor)) return
  const message = `amount ${amount} and amountMinor ${amountMinor} are not the same in ${currency}.`
  throw new Failure('amounts_do_not_add_up', { field: 'amountMinor', message })
}
