// Optional messages about payments with captureMode `manual`: the rail reserves the money, and captures or releases it
// later. The gateway sends them only if the operator said how long the rail reserves money.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, pattern, text, wholeNumber, yesOrNo } from '../fields.ts'
import { maxCheckAfterSeconds, maxRailReasonLength, maxRailReferenceLength } from '../limits.ts'
import * as shared from '../messages/shared-fields.ts'
import { Type } from '../type.ts'
import { makeChecker, makeReader } from '../validation.ts'
import { amount, amountMinor, checkAmount, transactionId } from './messages.ts'

export const captureVersion = 1
/** The transactionId with `C` and a number. */
export const maxCaptureIdLength = 32

const version = wholeNumber('The version of this message.', { min: 1, max: captureVersion })

export const captureMessages = {
  'payment.capture': {
    meaning: 'Capture reserved money. A repeat captures nothing more and returns the same capture.',
    schema: Type.Object({
      type: choice('The message type.', ['payment.capture']),
      version,
      captureId: text('The capture. The same id is always the same capture.', { max: maxCaptureIdLength }),
      transactionId,
      amount,
      amountMinor,
      currency: shared.currency,
      final: yesOrNo('`true`: the last capture. Release the rest.'),
    }),
    answers: ['submitted', 'approved', 'declined'],
  },
  'payment.release': {
    meaning: 'Release what is reserved. A repeat returns the payment’s status.',
    schema: Type.Object({ type: choice('The message type.', ['payment.release']), version, transactionId }),
    answers: ['authorized', 'cancelled', 'approved', 'declined', 'unknown'],
  },
} as const
export type CaptureMessageType = keyof typeof captureMessages
export type CaptureMessageOf<Name extends CaptureMessageType> = Static<
  (typeof captureMessages)[Name]['schema']
>
export type CaptureMessage = { [Name in CaptureMessageType]: CaptureMessageOf<Name> }[CaptureMessageType]

export const captureStatuses = {
  submitted: 'The rail is processing the capture.',
  approved: 'The amount was captured. Final.',
  declined: 'Nothing was captured. Final.',
} as const

const captureAnswerOfRailSchema = Type.Object({
  status: choice(
    'The status of the capture.',
    Object.keys(captureStatuses) as (keyof typeof captureStatuses)[],
  ),
  amountMinor: Type.Optional(
    pattern('The captured amount in minor units. If it differs, the response is rejected.', {
      regexp: /^[0-9]{1,20}$/,
      expected: 'digits',
    }),
  ),
  reference: Type.Optional(text('The rail’s number.', { max: maxRailReferenceLength })),
  reason: Type.Optional(
    text('The reason, for the merchant. Required with `declined`.', { max: maxRailReasonLength }),
  ),
  checkAfterSeconds: Type.Optional(
    wholeNumber('When the gateway asks again. A notification makes it ask at once.', {
      min: 1,
      max: maxCheckAfterSeconds,
    }),
  ),
})

export type RailCaptureAnswer = {
  readonly amountMinor?: string
  readonly reference?: string
  readonly checkAfterSeconds?: number
} & ({ readonly status: 'submitted' | 'approved' } | { readonly status: 'declined'; readonly reason: string })

const messageOptions = { failure: 'invalid_field', whole: 'the message' } as const
const readType = makeReader(Type.Object({ type: text('The message type.', { max: 64 }) }), messageOptions)
const checkers = Object.fromEntries(
  Object.entries(captureMessages).map(([type, { schema }]) => [type, makeChecker(schema, messageOptions)]),
)
const readAnswer = makeReader(captureAnswerOfRailSchema, { failure: 'invalid_field', whole: 'the answer' })

/** For a rail: the body of a verified message; undefined if it is of another type. */
export function parseCaptureMessage(bodyText: string): CaptureMessage | undefined {
  const read = readType(bodyText)
  // Safe: the checker of the type checks all that belongs to it.
  const message = checkers[read.type]?.(read) as CaptureMessage | undefined
  if (message?.type === 'payment.capture') checkAmount(message)
  return message
}

/** For the gateway. */
export function parseRailCaptureAnswer(answerText: string): RailCaptureAnswer {
  const { status, amountMinor, reference, reason, checkAfterSeconds } = readAnswer(answerText)
  const common = {
    ...(amountMinor !== undefined && { amountMinor }),
    ...(reference !== undefined && { reference }),
    ...(checkAfterSeconds !== undefined && { checkAfterSeconds: Number(checkAfterSeconds) }),
  }
  if (status !== 'declined') return { ...common, status }
  if (reason !== undefined) return { ...common, status, reason }
  const message = 'reason is missing: it is required because the status is declined.'
  throw new Failure('invalid_field', { field: 'reason', message })
}
