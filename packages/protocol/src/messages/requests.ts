// The bodies of the smaller operations: query, cancel, refund, callback (resend) and the sandbox's own.

import { Failure } from '../codes.ts'
import { amount, choice, text, wholeNumber } from '../fields.ts'
import {
  maxOrderNoLength,
  maxPaymentIdLength,
  maxRailIdLength,
  maxReferRefundNoLength,
  maxRefundIdLength,
  maxRefundReasonLength,
  maxSandboxAdvanceMs,
} from '../limits.ts'
import { checkPositiveDecimal, type WireAmount } from '../money.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

const paymentId = text('The payment order’s number from create.', {
  max: maxPaymentIdLength,
  adviceFor: (value) =>
    isLonger(value, maxPaymentIdLength)
      ? 'If this is your own number, query it as orderNo: the response has the paymentId.'
      : undefined,
  adviceBeside: (unknown) => {
    const own = unknown.find((name) => ownNumbers.test(name))
    return (
      own &&
      `You sent ${own}, but this operation requires paymentId. The response to create contains it, and a query by ${queriedBy(own)} returns it.`
    )
  },
})

/** Names of numbers by which a merchant may look for its payment. */
const ownNumbers = /^(?:(?:refer|out)?OrderNo|refundId|(?:refer|out)RefundNo)$/i

function queriedBy(name: string): 'orderNo' | 'refundId' {
  return /refund/i.test(name) ? 'refundId' : 'orderNo'
}

export const queryBodySchema = Type.Object({
  paymentId: Type.Optional(paymentId),
  orderNo: Type.Optional(
    text('Your own number, if the response to create was lost.', { max: maxOrderNoLength }),
  ),
  refundId: Type.Optional(
    text('A refund’s number from refund.', {
      max: maxRefundIdLength,
      adviceFor: (value) =>
        isLonger(value, maxRefundIdLength)
          ? 'If this is your referRefundNo, query the order: the response lists its refunds.'
          : undefined,
    }),
  ),
})

function isLonger(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.length > max
}

export interface QueryOrder extends Ignoring {
  readonly field: 'paymentId' | 'orderNo' | 'refundId'
  readonly number: string
}

const readQueryBody = makeBodyReader(queryBodySchema)

export function parseQueryBody(bodyText: string): QueryOrder {
  const body = readQueryBody(bodyText)
  const { paymentId, orderNo, refundId } = body
  const given = [paymentId, orderNo, refundId].filter((value) => value !== undefined).length
  if (given > 1) {
    throw new Failure('invalid_field', {
      message: 'Send exactly one of paymentId, orderNo and refundId.',
    })
  }
  if (paymentId !== undefined) return { field: 'paymentId', number: paymentId, ...ignoring(body) }
  if (orderNo !== undefined) return { field: 'orderNo', number: orderNo, ...ignoring(body) }
  if (refundId !== undefined) return { field: 'refundId', number: refundId, ...ignoring(body) }
  throw new Failure('invalid_field', {
    field: 'paymentId',
    message: `paymentId is missing: it must be text of 1 to ${maxPaymentIdLength} characters. ${sentForQuery(body)}`,
  })
}

/** The names of responses and callbacks are not those of a query. */
function sentForQuery({ ignoredFields = [] }: Ignoring): string {
  const sent = ignoredFields[0]
  if (sent === undefined) return 'You can send orderNo or refundId instead.'
  const { field, nearest } = sent
  if (/^(?:refer|out)RefundNo$/i.test(field))
    return `You sent ${field}: send the refundId from the response to refund, or query the order by orderNo and find the refund in refunds.`
  const meant = ownNumbers.test(field) ? queriedBy(field) : nearest
  if (meant !== undefined) return `You sent ${field}: rename it to ${meant}.`
  return `You sent ${field}, which is not a field here. You can send orderNo or refundId instead.`
}

export const cancelBodySchema = Type.Object({ paymentId })

export interface CancelOrder extends Ignoring {
  readonly paymentId: string
}

const readCancelBody = makeBodyReader(cancelBodySchema)

export function parseCancelBody(bodyText: string): CancelOrder {
  const body = readCancelBody(bodyText)
  return { paymentId: body.paymentId, ...ignoring(body) }
}

export const refundBodySchema = Type.Object({
  paymentId,
  referRefundNo: text('Your number for the refund, permanently unique.', {
    max: maxReferRefundNoLength,
  }),
  refundAmount: amount('The amount to refund, in the payment’s currency.', { isPositive: true }),
  refundReason: Type.Optional(
    text('The reason, for the consumer and the books.', { min: 0, max: maxRefundReasonLength }),
  ),
})

export interface RefundOrder extends Ignoring {
  readonly paymentId: string
  readonly referRefundNo: string
  /** A positive decimal; `toMinorUnits` converts it once the order's currency is known. */
  readonly refundAmount: WireAmount
  readonly refundReason?: string
}

const readRefundBody = makeBodyReader(refundBodySchema)

export function parseRefundBody(bodyText: string): RefundOrder {
  const body = readRefundBody(bodyText)
  const { paymentId, referRefundNo, refundAmount, refundReason } = body
  checkPositiveDecimal(refundAmount, 'refundAmount')
  return {
    paymentId,
    referRefundNo,
    refundAmount,
    ...(refundReason !== undefined && { refundReason }),
    ...ignoring(body),
  }
}

export const callbackBodySchema = Type.Object({ paymentId })

export interface ResendCallbacks extends Ignoring {
  readonly paymentId: string
}

const readCallbackBody = makeBodyReader(callbackBodySchema)

/** The body of service.trade.callback, which resends an order's callbacks. */
export function parseCallbackBody(bodyText: string): ResendCallbacks {
  const body = readCallbackBody(bodyText)
  return { paymentId: body.paymentId, ...ignoring(body) }
}

export const sandboxOutcomes = ['success', 'failed', 'confirming', 'refund_fails'] as const

export const sandboxPayBodySchema = Type.Object({
  paymentId,
  outcome: Type.Optional(
    choice(
      'The outcome. `confirming` stays confirming; `refund_fails` pays, and later refunds fail.',
      sandboxOutcomes,
    ),
  ),
  rail: Type.Optional(
    text('Instead of `outcome`: start a payment through this rail.', {
      max: maxRailIdLength,
    }),
  ),
})

export interface SandboxPay extends Ignoring {
  readonly paymentId: string
  readonly outcome?: (typeof sandboxOutcomes)[number]
  readonly rail?: string
}

/** Exactly one of the two. */
export type SandboxPayment = { readonly paymentId: string } & Ignoring &
  (
    | { readonly outcome: (typeof sandboxOutcomes)[number]; readonly rail?: never }
    | { readonly rail: string; readonly outcome?: never }
  )

const readSandboxPayBody = makeBodyReader(sandboxPayBodySchema)

export function parseSandboxPayBody(bodyText: string): SandboxPayment {
  const body = readSandboxPayBody(bodyText)
  const { paymentId, outcome, rail } = body
  if (outcome !== undefined && rail === undefined) return { paymentId, outcome, ...ignoring(body) }
  if (rail !== undefined && outcome === undefined) return { paymentId, rail, ...ignoring(body) }
  const field = rail === undefined ? 'outcome' : 'rail'
  throw new Failure('invalid_field', {
    field,
    message: `Send either outcome (${sandboxOutcomes.join(', ')}) or rail.`,
  })
}

export const sandboxAdvanceBodySchema = Type.Object({
  paymentId,
  milliseconds: wholeNumber('How far the gateway’s times of this order move into the past.', {
    min: 1,
    max: maxSandboxAdvanceMs,
  }),
})

export interface SandboxAdvance extends Ignoring {
  readonly paymentId: string
  readonly milliseconds: number
}

const readSandboxAdvanceBody = makeBodyReader(sandboxAdvanceBodySchema)

export function parseSandboxAdvanceBody(bodyText: string): SandboxAdvance {
  const body = readSandboxAdvanceBody(bodyText)
  return { paymentId: body.paymentId, milliseconds: Number(body.milliseconds), ...ignoring(body) }
}
