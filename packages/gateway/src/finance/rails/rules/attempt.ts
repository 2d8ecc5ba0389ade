// A payment attempt at a rail, and the next question to the rail. Decisions about responses are in decide-payment.ts
// and late-money.ts.
import type { CaptureMessageType, NextAction, RailPaymentAnswer } from '@tillgate/protocol'
import type { Transfer } from '../../../core/ledger/rules/transfer.ts'
import { type Capture, type HeldChange, isUnderWay } from '../../../core/orders/captures/rules/capture.ts'
import type { PriceBook } from '../../../core/orders/fees/rules/price.ts'
import type { RailTask } from '../../../core/orders/payments/rules/rail-task.ts'
import type { Order, OrderKey } from '../../../core/orders/rules/order.ts'
import type { StatusChange } from '../../../core/orders/rules/status-change.ts'

export type AttemptStatus =
  | 'starting'
  /** The consumer has a step to complete. */
  | 'pending'
  /** The consumer is done, and the rail is processing. */
  | 'submitted'
  /** The rail reserved the money until it is captured or released. */
  | 'authorized'
  | 'approved'
  | 'declined'
  | 'cancelled'
  /** Approved after the order ended: being returned, returned, or held for an operator. */
  | 'returning'
  | 'returned'
  | 'held'

export interface Attempt extends OrderKey {
  readonly transactionId: string
  readonly railId: string
  readonly status: AttemptStatus
  readonly amountMinor: bigint
  readonly currency: string
  readonly locale: string
  readonly reference: string | undefined
  readonly nextAction: NextAction | undefined
  /** Why it was declined or is held. */
  readonly reason: string | undefined
  /** The consumer wants to pay another way; once authorized: the merchant releases it. */
  readonly cancelAskedAtMs: number | undefined
  /** The refund that returns late money. */
  readonly returnId: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number | undefined
}

export interface OrderAndAttempt {
  readonly order: Order
  readonly attempt: Attempt
  /** With captureMode `manual`, oldest first. */
  readonly captures?: readonly Capture[]
}

/** The consequence of a response. */
export interface Decision {
  /** Undefined: unchanged. */
  readonly attempt?: Attempt
  readonly changes: readonly StatusChange[]
  readonly transfers: readonly Transfer[]
  /** The order accepts another attempt. */
  readonly freesOrder?: true
  readonly newTask?: RailTask
  /** The payment is authorized until then. */
  readonly heldUntilMs?: number
  /** A capture, the end of the authorization, or both. Its transfers and its end are in the decision's. */
  readonly captured?: HeldChange
  /** Why the rail declined the capture. */
  readonly captureFailure?: string
  readonly isOver: boolean
  /** Logged for an operator's attention. */
  readonly alert?: string
}

export const unchanged = { changes: [], transfers: [] } as const

export interface DecisionIds {
  readonly transferId: string
  readonly returnId: string
  /** The transfer that takes the order's amount out of suspense. */
  readonly applyId: string
  readonly callbackIds: readonly [confirming: string, end: string]
  readonly nowMs: number
  readonly prices: PriceBook
}

export function beginAttempt(
  order: Order,
  given: {
    readonly railId: string
    readonly transactionId: string
    readonly locale: string
    readonly nowMs: number
  },
): Attempt {
  const { railId, transactionId, locale, nowMs } = given
  return {
    merchantId: order.merchantId,
    paymentId: order.paymentId,
    transactionId,
    railId,
    status: 'starting',
    amountMinor: order.paymentAmountMinor,
    currency: order.currency,
    locale,
    reference: undefined,
    nextAction: undefined,
    reason: undefined,
    cancelAskedAtMs: undefined,
    returnId: undefined,
    startedAtMs: nowMs,
    endedAtMs: undefined,
  }
}

/** `open`: the order waits for the attempt. `paying`: it is confirming by it. `over`: it no longer needs it. */
export type Standing = 'open' | 'paying' | 'over'

export function standingOf({ order, attempt: { transactionId } }: OrderAndAttempt): Standing {
  if (order.status === 'pending' && order.openAttempt === transactionId) return 'open'
  if (order.status === 'confirming' && order.transactionId === transactionId) return 'paying'
  return 'over'
}

export type Question = 'payment.start' | 'payment.status' | 'payment.cancel' | CaptureMessageType

/** `isFirst`: no earlier question is known. */
export function questionFor(
  facts: OrderAndAttempt,
  { isFirst, nowMs }: { readonly isFirst: boolean; readonly nowMs: number },
): Question {
  const { status, cancelAskedAtMs } = facts.attempt
  if (status === 'authorized') {
    if (facts.captures?.some(isUnderWay)) return 'payment.capture'
    const endsAtMs = cancelAskedAtMs ?? facts.order.authorization?.heldUntilMs ?? 0
    return nowMs >= endsAtMs ? 'payment.release' : 'payment.status'
  }
  const isUnwanted = standingOf(facts) === 'over' || cancelAskedAtMs !== undefined
  if (isUnwanted && (status === 'starting' || status === 'pending')) return 'payment.cancel'
  return status === 'starting' && isFirst ? 'payment.start' : 'payment.status'
}

/** The rail does not know the payment, so its start was lost and is repeated with the same id. */
export function startsAgain(facts: OrderAndAttempt, answer: RailPaymentAnswer): boolean {
  const { status, cancelAskedAtMs } = facts.attempt
  const isWanted = standingOf(facts) === 'open' && cancelAskedAtMs === undefined
  return answer.status === 'unknown' && status === 'starting' && isWanted
}

/** The rail reserved money for an order that does not need it, so the release follows at once. */
export function releasesAtOnce(facts: OrderAndAttempt, answer: RailPaymentAnswer): boolean {
  return answer.status === 'authorized' && standingOf(facts) === 'over'
}

/** Returns why the response contradicts known facts; undefined if it does not. */
export function whyNotBelieved(
  { order, attempt }: OrderAndAttempt,
  question: Question,
  answer: RailPaymentAnswer,
): string | undefined {
  const { amountMinor, currency, status } = answer
  if (status === 'authorized' && !order.authorization)
    return 'returned authorized for a payment without captureMode'
  const isKnown = attempt.status !== 'starting' && attempt.endedAtMs === undefined
  if (amountMinor !== undefined && amountMinor !== attempt.amountMinor.toString())
    return `reports ${amountMinor} minor units instead of ${attempt.amountMinor}`
  if (currency !== undefined && currency !== attempt.currency)
    return `reports ${currency} instead of ${attempt.currency}`
  // A rail may have forgotten, or never have received, an attempt that ended.
  if (status === 'unknown' && isKnown && (question === 'payment.status' || question === 'payment.release'))
    return 'returned unknown for a payment that it returned before'
  return undefined
}
