// service.order.capture and service.order.release: an order with captureMode `manual` is authorized when the consumer
// agrees, and paid when the merchant captures it.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { amount, choice, list, nested, text, timeNumber, yesOrNo } from '../fields.ts'
import {
  maxOrderNoLength,
  maxPaymentIdLength,
  maxRailReasonLength,
  maxReferCaptureNoLength,
} from '../limits.ts'
import { checkPositiveDecimal, type WireAmount } from '../money.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { currency, ignored, orderStatus, paymentId, referOrderNo, transactionId } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

const order = {
  paymentId: Type.Optional(text('The payment order’s number from create.', { max: maxPaymentIdLength })),
  orderNo: Type.Optional(text('Your own number, instead of paymentId.', { max: maxOrderNoLength })),
}
const referCaptureNo = text('Your number for the capture, unique within the order.', {
  max: maxReferCaptureNoLength,
})
const captureAmount = amount('The captured amount.')
const captureStatuses = ['captured', 'capturing', 'failed'] as const
export type CaptureStatus = (typeof captureStatuses)[number]
const captureStatus = choice(
  '`capturing`: the rail has not answered yet; repeat the request.',
  captureStatuses,
)
const amounts = {
  authorizedAmount: amount('The amount that the consumer agreed to.'),
  capturedAmount: amount('The sum of all captures.'),
  remainingAmount: amount('What can still be captured. Zero once the authorization ended.'),
}

export const captureBodySchema = Type.Object({
  ...order,
  referCaptureNo,
  amount: Type.Optional(amount('The amount to capture. Default: all that remains.', { isPositive: true })),
  final: Type.Optional(
    yesOrNo(
      '`true` makes this the last capture and releases the rest. Default: `false`, unless nothing remains.',
    ),
  ),
})

/** Exactly one of the two. */
export type OrderNumbered =
  | { readonly paymentId: string; readonly orderNo?: never }
  | { readonly orderNo: string; readonly paymentId?: never }

export type CaptureOrder = Ignoring & {
  readonly order: OrderNumbered
  readonly referCaptureNo: string
  /** Undefined: all that remains. */
  readonly amount: WireAmount | undefined
  readonly isFinal: boolean
}

const readCaptureBody = makeBodyReader(captureBodySchema)

export function parseCaptureBody(bodyText: string): CaptureOrder {
  const body = readCaptureBody(bodyText)
  if (body.amount !== undefined) checkPositiveDecimal(body.amount, 'amount')
  return {
    order: orderIn(body),
    referCaptureNo: body.referCaptureNo,
    amount: body.amount,
    isFinal: body.final === true,
    ...ignoring(body),
  }
}

export const releaseBodySchema = Type.Object(order)

export type ReleaseOrder = Ignoring & { readonly order: OrderNumbered }

const readReleaseBody = makeBodyReader(releaseBodySchema)

export function parseReleaseBody(bodyText: string): ReleaseOrder {
  const body = readReleaseBody(bodyText)
  return { order: orderIn(body), ...ignoring(body) }
}

function orderIn({ paymentId, orderNo }: Static<typeof releaseBodySchema>): OrderNumbered {
  if (paymentId !== undefined && orderNo === undefined) return { paymentId }
  if (orderNo !== undefined && paymentId === undefined) return { orderNo }
  throw new Failure('invalid_field', {
    field: 'paymentId',
    message:
      orderNo === undefined
        ? 'paymentId is missing: send paymentId or orderNo.'
        : 'Send either paymentId or orderNo, not both.',
  })
}

export const releaseAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  status: orderStatus,
  currency,
  ...amounts,
  ...ignored,
})
export type ReleaseAnswer = Static<typeof releaseAnswerSchema>

export const captureAnswerSchema = Type.Object({
  paymentId,
  referOrderNo,
  referCaptureNo,
  transactionId,
  captureAmount,
  captureStatus,
  status: orderStatus,
  currency,
  ...amounts,
  ...ignored,
})
export type CaptureAnswer = Static<typeof captureAnswerSchema>

const captureInQuery = nested('One capture.', {
  typeName: 'capture in a query answer',
  fields: {
    referCaptureNo,
    captureAmount,
    captureStatus,
    transactionId,
    captureTime: Type.Optional(timeNumber('When the amount was captured.')),
    msg: Type.Optional(text('Why nothing was captured.', { max: maxRailReasonLength })),
  },
})

/** In a query; only with captureMode `manual`. */
export const authorization = {
  authorization: Type.Optional(
    nested('The authorization of an order with captureMode `manual`.', {
      typeName: 'authorization object',
      fields: {
        ...amounts,
        expiresAt: Type.Optional(
          timeNumber('When the authorization ends. Absent until the consumer’s payment is authorized.'),
        ),
        captures: list('All captures, oldest first.', {
          item: captureInQuery,
          typeName: 'array of captures',
        }),
      },
    }),
  ),
}
