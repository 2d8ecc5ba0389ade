// A rail's responses, with HTTP 200. The schemas contain every possible field; the parsers check which belong to which
// status, and return only those.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, list, nested, pattern, text, timeNumber, webAddress, wholeNumber } from '../fields.ts'
import {
  maxCheckAfterSeconds,
  maxInstructionLabelLength,
  maxInstructionLines,
  maxInstructionValueLength,
  maxQrTextLength,
  maxRailReasonLength,
  maxRailReferenceLength,
} from '../limits.ts'
import * as shared from '../messages/shared-fields.ts'
import { Type } from '../type.ts'
import { makeReader } from '../validation.ts'
import { captureMessages } from './captures.ts'
import { railMessages } from './messages.ts'

export const railPaymentStatuses = {
  pending: 'The consumer must act: `nextAction`.',
  submitted: 'The rail is processing the payment, which can no longer be cancelled.',
  authorized: 'The money is reserved. Only with `captureMode`.',
  approved: 'The payment succeeded. Final.',
  declined: 'The payment failed. Final.',
  cancelled: 'Cancelled before the consumer paid. Final.',
  unknown: 'The rail does not know this id.',
} as const
export type RailPaymentStatus = keyof typeof railPaymentStatuses

export const railRefundStatuses = {
  submitted: 'The rail is processing the refund.',
  approved: 'The money is on its way back to the consumer. Final.',
  declined: 'The refund failed. Final.',
  unknown: 'The rail does not know this id.',
} as const
export type RailRefundStatus = keyof typeof railRefundStatuses

const nextActionKinds = ['redirect', 'qr', 'instructions'] as const

export const nextActionSchema = nested('What the consumer does next. Required with `pending`.', {
  typeName: 'next action',
  fields: {
    kind: choice('How the consumer pays.', nextActionKinds),
    url: Type.Optional(webAddress('With `redirect`: the page for the consumer.')),
    text: Type.Optional(text('With `qr`: the content of the code.', { max: maxQrTextLength })),
    caption: Type.Optional(
      text('With `qr`, optional: what to do with the code.', { max: maxInstructionValueLength }),
    ),
    lines: Type.Optional(
      list('With `instructions`: what the consumer copies, such as an account and a reference.', {
        item: nested('One line.', {
          typeName: 'instruction',
          fields: {
            label: text('The label.', { max: maxInstructionLabelLength }),
            value: text('The value.', { max: maxInstructionValueLength }),
          },
        }),
        typeName: 'array of instructions',
        min: 1,
        max: maxInstructionLines,
      }),
    ),
  },
})

const checkAfterSeconds = wholeNumber('When the gateway asks again. A notification makes it ask at once.', {
  min: 1,
  max: maxCheckAfterSeconds,
})
const reference = (whereRequired: string) =>
  text(`The rail’s number.${whereRequired}`, { max: maxRailReferenceLength })
const reason = text('The reason, for the consumer. Required with `declined`.', {
  max: maxRailReasonLength,
})

export const railPaymentAnswerSchema = Type.Object({
  status: choice('The status of the payment.', Object.keys(railPaymentStatuses) as RailPaymentStatus[]),
  nextAction: Type.Optional(nextActionSchema),
  amountMinor: Type.Optional(
    pattern('The rail’s amount in minor units. If it differs, the response is rejected.', {
      regexp: /^[0-9]{1,20}$/,
      expected: 'digits',
    }),
  ),
  currency: Type.Optional(shared.currency),
  reference: Type.Optional(reference(' Required with `authorized` and `approved`.')),
  authorizedUntil: Type.Optional(timeNumber('With `authorized`: when the provider releases the money.')),
  reason: Type.Optional(reason),
  checkAfterSeconds: Type.Optional(checkAfterSeconds),
})

export const railRefundAnswerSchema = Type.Object({
  status: choice('The status of the refund.', Object.keys(railRefundStatuses) as RailRefundStatus[]),
  reference: Type.Optional(reference('')),
  reason: Type.Optional(reason),
  checkAfterSeconds: Type.Optional(checkAfterSeconds),
})

export type NextAction =
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'qr'; readonly text: string; readonly caption?: string }
  | { readonly kind: 'instructions'; readonly lines: readonly Instruction[] }

export interface Instruction {
  readonly label: string
  readonly value: string
}

interface Common {
  readonly reference?: string
  readonly checkAfterSeconds?: number
}

interface Worth {
  readonly amountMinor?: string
  readonly currency?: string
}

export type RailPaymentAnswer = Common &
  Worth &
  (
    | { readonly status: 'pending'; readonly nextAction: NextAction }
    | { readonly status: 'approved'; readonly reference: string }
    | { readonly status: 'authorized'; readonly reference: string; readonly authorizedUntil?: number }
    | { readonly status: 'declined'; readonly reason: string }
    | { readonly status: 'submitted' | 'cancelled' | 'unknown' }
  )

export type RailRefundAnswer = Common &
  (
    | { readonly status: 'declined'; readonly reason: string }
    | { readonly status: 'submitted' | 'approved' | 'unknown' }
  )

const answerOptions = { failure: 'invalid_field', whole: 'the answer' } as const
const readPaymentAnswer = makeReader(railPaymentAnswerSchema, answerOptions)
const readRefundAnswer = makeReader(railRefundAnswerSchema, answerOptions)

/** For the gateway: a rail's response about a payment, or a Failure with the error in it. */
export function parseRailPaymentAnswer(
  type: 'payment.start' | 'payment.status' | 'payment.cancel' | 'payment.release',
  answerText: string,
): RailPaymentAnswer {
  const answer = readPaymentAnswer(answerText)
  const { status } = answer
  refuseStatus(type, status)
  const { amountMinor, currency } = answer
  const common = {
    ...commonOf(answer),
    ...(amountMinor !== undefined && { amountMinor }),
    ...(currency !== undefined && { currency }),
  }
  if (status === 'pending') return { ...common, status, nextAction: nextActionOf(answer.nextAction) }
  if (status === 'declined') return { ...common, status, reason: required(answer, 'reason') }
  if (status === 'approved') return { ...common, status, reference: required(answer, 'reference') }
  if (status === 'authorized') {
    const until = answer.authorizedUntil
    const reserved = { ...common, status, reference: required(answer, 'reference') }
    return until === undefined ? reserved : { ...reserved, authorizedUntil: Number(until) }
  }
  return { ...common, status }
}

export function parseRailRefundAnswer(
  type: 'refund.start' | 'refund.status',
  answerText: string,
): RailRefundAnswer {
  const answer = readRefundAnswer(answerText)
  const { status } = answer
  refuseStatus(type, status)
  const common = commonOf(answer)
  return status === 'declined'
    ? { ...common, status, reason: required(answer, 'reason') }
    : { ...common, status }
}

const answersOf = { ...railMessages, ...captureMessages }

function refuseStatus(type: keyof typeof answersOf, status: string): void {
  const allowed: readonly string[] = answersOf[type].answers
  if (allowed.includes(status)) return
  const message = `status must be one of ${allowed.join(', ')} in a response to ${type}, but was ${status}.`
  throw new Failure('invalid_field', { field: 'status', message })
}

function commonOf(answer: { reference?: string; checkAfterSeconds?: number | string }): Common {
  const { reference, checkAfterSeconds } = answer
  return {
    ...(reference !== undefined && { reference }),
    ...(checkAfterSeconds !== undefined && { checkAfterSeconds: Number(checkAfterSeconds) }),
  }
}

function required(
  answer: { readonly status: string; readonly reason?: string; readonly reference?: string },
  field: 'reason' | 'reference',
): string {
  return answer[field] ?? refuseMissing(field, `the status is ${answer.status}`)
}

function nextActionOf(given: Static<typeof railPaymentAnswerSchema>['nextAction']): NextAction {
  if (given === undefined) return refuseMissing('nextAction', 'the status is pending')
  const { kind, url, text, caption, lines } = given
  if (kind === 'redirect') return { kind, url: url ?? refuseMissing('nextAction.url', 'it is a redirect') }
  if (kind === 'instructions') {
    return { kind, lines: lines ?? refuseMissing('nextAction.lines', 'it is instructions') }
  }
  const code = text ?? refuseMissing('nextAction.text', 'it is a qr')
  return { kind, text: code, ...(caption !== undefined && { caption }) }
}

function refuseMissing(field: string, because: string): never {
  throw new Failure('invalid_field', {
    field,
    message: `${field} is missing: it is required because ${because}.`,
  })
}
