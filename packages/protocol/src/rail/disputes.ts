// Optional messages about disputes: a payer’s bank took a payment back (a chargeback). The rail notifies the gateway, which
// requests the dispute’s status and uses that response. A rail that never notifies needs none of this.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, list, nested, pattern, text, timeNumber, wholeNumber } from '../fields.ts'
import { maxDisputeIdLength, maxTransactionIdLength } from '../limits.ts'
import * as shared from '../messages/shared-fields.ts'
import { Type } from '../type.ts'
import { makeChecker, makeReader } from '../validation.ts'

export const disputeVersion = 1
export const maxEvidenceTextLength = 3_000
/** Of one file. In base64 it has a third more, so a message with evidence has at most `maxEvidenceMessageBytes`. */
export const maxEvidenceFileBytes = 1024 * 1024
export const maxEvidenceMessageBytes = 1536 * 1024
export const evidenceFileTypes = ['application/pdf', 'image/jpeg', 'image/png'] as const
export type EvidenceFileType = (typeof evidenceFileTypes)[number]

export const disputeStatuses = {
  open: 'The provider took the money back and waits for the merchant or the decision.',
  won: 'The provider returned the money to the merchant.',
  lost: 'The consumer keeps the money.',
  unknown: 'The rail does not know this id, or no money was taken back yet.',
} as const
export type DisputeStatus = Exclude<keyof typeof disputeStatuses, 'unknown'>

export const disputeReasons = {
  fraudulent: 'The consumer does not recognize the payment.',
  not_received: 'The goods did not arrive.',
  not_as_described: 'The goods are not as described.',
  duplicate: 'The consumer was charged twice.',
  cancelled: 'A cancelled order or subscription was charged, or a refund was not made.',
  other: 'Another reason.',
} as const
export type DisputeReason = keyof typeof disputeReasons

export const disputeResponses = ['evidence', 'accept'] as const
export type DisputeResponse = (typeof disputeResponses)[number]

const common = {
  version: wholeNumber('The version of this message.', { min: 1, max: disputeVersion }),
  disputeId: text('The rail’s number. The same id is always the same dispute.', {
    max: maxDisputeIdLength,
  }),
  transactionId: text('The disputed payment.', { max: maxTransactionIdLength }),
}
export const disputeFields = common

export const disputeEvidenceSchema = Type.Object({
  type: choice('The message type.', ['dispute.evidence']),
  ...common,
  evidenceId: text('The same id is always the same evidence.', { max: 36 }),
  text: Type.Optional(text('The merchant’s statement.', { max: maxEvidenceTextLength })),
  file: Type.Optional(
    nested('A document.', {
      typeName: 'file',
      fields: {
        name: text('The file’s name.', { max: 128 }),
        contentType: choice('The kind of file.', evidenceFileTypes),
        content: text('The file in base64, at most 1 MiB before.', {
          max: 4 * Math.ceil(maxEvidenceFileBytes / 3),
        }),
      },
    }),
  ),
})

export const disputeMessages = {
  'dispute.status': {
    meaning: 'Get a dispute.',
    schema: Type.Object({ type: choice('The message type.', ['dispute.status']), ...common }),
  },
  'dispute.evidence': {
    meaning: 'Pass evidence on to the provider. A repeat is not passed on again.',
    schema: disputeEvidenceSchema,
  },
  'dispute.accept': {
    meaning: 'Give up the dispute. A repeat returns its state.',
    schema: Type.Object({ type: choice('The message type.', ['dispute.accept']), ...common }),
  },
} as const
export type DisputeMessageType = keyof typeof disputeMessages
export type DisputeMessage = {
  [Name in DisputeMessageType]: Static<(typeof disputeMessages)[Name]['schema']>
}[DisputeMessageType]

const minor = (description: string, regexp: RegExp) => pattern(description, { regexp, expected: 'digits' })

export const disputeAnswerSchema = Type.Object({
  status: choice('The status of the dispute.', Object.keys(disputeStatuses) as (DisputeStatus | 'unknown')[]),
  amountMinor: Type.Optional(
    minor('The disputed amount in minor units. Required unless `unknown`.', /^[1-9][0-9]{0,18}$/),
  ),
  currency: Type.Optional(shared.currency),
  feeMinor: Type.Optional(
    minor('What the provider charges for the dispute, in the same currency.', /^(?:0|[1-9][0-9]{0,18})$/),
  ),
  reason: Type.Optional(choice('Why.', Object.keys(disputeReasons) as DisputeReason[])),
  respondBy: Type.Optional(timeNumber('Until when the merchant can respond, if the provider says so.')),
  accepts: Type.Optional(
    list('What the rail can pass on now: evidence, acceptance, or both. If omitted, neither.', {
      typeName: 'array of responses',
      max: 2,
      item: choice('A response.', disputeResponses),
    }),
  ),
})

export type DisputeAnswer =
  | { readonly status: 'unknown' }
  | {
      readonly status: DisputeStatus
      readonly amountMinor: string
      readonly currency: string
      readonly feeMinor?: string
      readonly reason?: DisputeReason
      readonly respondBy?: number
      readonly accepts: readonly DisputeResponse[]
    }

const messageOptions = { failure: 'invalid_field', whole: 'the message' } as const
const readType = makeReader(Type.Object({ type: text('The message type.', { max: 64 }) }), messageOptions)
const checkers = Object.fromEntries(
  Object.entries(disputeMessages).map(([type, { schema }]) => [type, makeChecker(schema, messageOptions)]),
)
const readAnswer = makeReader(disputeAnswerSchema, { failure: 'invalid_field', whole: 'the answer' })

/** For a rail: the body of a verified message; undefined if it is not about a dispute. */
export function parseDisputeMessage(bodyText: string): DisputeMessage | undefined {
  const read = readType(bodyText)
  // Safe: the checker of the type checks all that belongs to it.
  return checkers[read.type]?.(read) as DisputeMessage | undefined
}

/** For the gateway: the response to each of these messages is the dispute. */
export function parseDisputeAnswer(answerText: string): DisputeAnswer {
  const { status, amountMinor, currency, feeMinor, reason, respondBy, accepts } = readAnswer(answerText)
  if (status === 'unknown') return { status }
  return {
    status,
    amountMinor: amountMinor ?? refuseMissing('amountMinor', status),
    currency: currency ?? refuseMissing('currency', status),
    ...(feeMinor !== undefined && { feeMinor }),
    ...(reason !== undefined && { reason }),
    ...(respondBy !== undefined && { respondBy: Number(respondBy) }),
    accepts: status === 'open' ? [...new Set(accepts)] : [],
  }
}

function refuseMissing(field: string, status: string): never {
  const message = `${field} is missing: it is required because the status is ${status}.`
  throw new Failure('invalid_field', { field, message })
}
