// An attempt to pay an order through a rail: what to ask the rail next, and what follows from its answer. Pure: status,
// money and callbacks are one value, which the store commits whole or not at all.
import assert from 'node:assert/strict'
import type { NextAction, RailPaymentAnswer, RailRefundAnswer } from '@tillgate/protocol'
import {
  accountIdOf,
  endHold,
  railAccount,
  suspenseAccount,
  type Transfer,
} from '../../ledger/rules/ledger.ts'
import type { Order, OrderKey } from '../../orders/rules/order.ts'
import { confirmOrder, endPayment, type StatusChange } from '../../orders/rules/status-change.ts'
import { paymentHold } from '../../payments/rules/payment.ts'
import type { RailTask } from './rail-task.ts'

export type AttemptStatus =
  | 'starting'
  /** The consumer has something to do. */
  | 'pending'
  /** The consumer has done it, and the rail is at work. */
  | 'submitted'
  | 'approved'
  | 'declined'
  | 'cancelled'
  /** Approved after the order had ended: on its way back, back, or left to an operator. */
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
  /** The rail's own number. */
  readonly reference: string | undefined
  readonly nextAction: NextAction | undefined
  /** Why it was declined, or is held. */
  readonly reason: string | undefined
  /** The consumer wants another way to pay. */
  readonly cancelAskedAtMs: number | undefined
  /** Of the refund that sends late money back. */
  readonly returnId: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number | undefined
}

export interface OrderAndAttempt {
  readonly order: Order
  readonly attempt: Attempt
}

export type LateMoney = 'refund' | 'hold'

/** What follows from an answer. */
export interface Decision {
  /** Undefined: it stays as it is. */
  readonly attempt?: Attempt
  readonly changes: readonly StatusChange[]
  readonly transfers: readonly Transfer[]
  /** The order takes another attempt. */
  readonly freesOrder?: true
  readonly newTask?: RailTask
  /** Nothing more is to be asked. */
  readonly isOver: boolean
  /** For the log, where somebody should know. */
  readonly alert?: string
}

/** Made beforehand, so that deciding again after a lost race decides the same. */
export interface DecisionIds {
  readonly transferId: string
  readonly returnId: string
  readonly callbackIds: readonly [confirming: string, end: string]
  readonly nowMs: number
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

/** `open`: the order waits for it. `paying`: the order is confirming by it. `over`: the order has no use for it. */
type Standing = 'open' | 'paying' | 'over'

function standingOf({ order, attempt: { transactionId } }: OrderAndAttempt): Standing {
  if (order.status === 'pending' && order.openAttempt === transactionId) return 'open'
  if (order.status === 'confirming' && order.transactionId === transactionId) return 'paying'
  return 'over'
}

export type Question = 'payment.start' | 'payment.status' | 'payment.cancel'

/** What to ask next. `isFirst`: nothing was asked before, as far as anybody knows. */
export function questionFor(facts: OrderAndAttempt, { isFirst }: { readonly isFirst: boolean }): Question {
  const { status, cancelAskedAtMs } = facts.attempt
  const isUnwanted = standingOf(facts) === 'over' || cancelAskedAtMs !== undefined
  if (isUnwanted && (status === 'starting' || status === 'pending')) return 'payment.cancel'
  return status === 'starting' && isFirst ? 'payment.start' : 'payment.status'
}

/** The rail never heard of a payment whose start may have been lost: it is started again, by the same id. */
export function startsAgain(facts: OrderAndAttempt, answer: RailPaymentAnswer): boolean {
  const { status, cancelAskedAtMs } = facts.attempt
  const isWanted = standingOf(facts) === 'open' && cancelAskedAtMs === undefined
  return answer.status === 'unknown' && status === 'starting' && isWanted
}

/** Why the answer cannot be believed; undefined: it can. */
export function whyNotBelieved(
  { attempt }: OrderAndAttempt,
  question: Question,
  answer: RailPaymentAnswer,
): string | undefined {
  const { amountMinor, currency, status } = answer
  if (amountMinor !== undefined && amountMinor !== attempt.amountMinor.toString())
    return `speaks of ${amountMinor} minor units; ${attempt.amountMinor} were asked for`
  if (currency !== undefined && currency !== attempt.currency)
    return `speaks of ${currency}; ${attempt.currency} was asked for`
  if (status === 'unknown' && attempt.status !== 'starting' && question === 'payment.status')
    return 'does not know a payment that it knew before'
  return undefined
}

export function decidePayment(
  facts: OrderAndAttempt,
  answer: RailPaymentAnswer,
  ids: DecisionIds & { readonly lateMoney: LateMoney },
): Decision {
  const standing = standingOf(facts)
  switch (answer.status) {
    case 'pending':
      return decidePending(facts, answer.nextAction, standing, answer.reference)
    case 'submitted':
      return decideSubmitted(facts, standing, { ...ids, reference: answer.reference })
    case 'approved':
      if (standing === 'over') return decideLate(facts, answer.reference, ids)
      return decideApproved(facts, standing, { ...ids, reference: answer.reference })
    case 'declined':
      return decideEnded(facts, standing, { ...ids, status: 'declined', reason: answer.reason })
    case 'cancelled':
    case 'unknown':
      return decideEnded(facts, standing, { ...ids, status: 'cancelled', reason: undefined })
  }
}

const asItIs = { changes: [], transfers: [] } as const

function decidePending(
  { attempt }: OrderAndAttempt,
  nextAction: NextAction,
  standing: Standing,
  reference = attempt.reference,
): Decision {
  if (attempt.endedAtMs !== undefined) return { ...asItIs, isOver: true }
  // What was submitted does not become undone by a word.
  if (standing !== 'open' || attempt.status === 'submitted') return { ...asItIs, isOver: false }
  return { ...asItIs, attempt: { ...attempt, status: 'pending', nextAction, reference }, isOver: false }
}

type Given = DecisionIds & { readonly reference: string | undefined }

function decideSubmitted(facts: OrderAndAttempt, standing: Standing, given: Given): Decision {
  const { order, attempt } = facts
  if (attempt.endedAtMs !== undefined) return { ...asItIs, isOver: true }
  if (attempt.status === 'submitted') return { ...asItIs, isOver: false }
  const submitted = submittedOf(attempt, given)
  if (standing !== 'open') return { ...asItIs, attempt: submitted, isOver: false }
  const change = confirmByRail(order, attempt, given)
  return {
    attempt: submitted,
    changes: [change],
    transfers: [paymentHold(change.order, given.nowMs)],
    isOver: false,
  }
}

function submittedOf(attempt: Attempt, { reference = attempt.reference }: Given): Attempt {
  return { ...attempt, status: 'submitted', nextAction: undefined, reference }
}

function confirmByRail(order: Order, { railId, transactionId }: Attempt, given: Given): StatusChange {
  const [callbackId] = given.callbackIds
  return confirmOrder(order, { railId, transactionId, callbackId, nowMs: given.nowMs })
}

/** Through `confirming`, so that both events go out, in order. */
function decideApproved(facts: OrderAndAttempt, standing: 'open' | 'paying', given: Given): Decision {
  const { attempt } = facts
  const confirmed = standing === 'open' ? confirmByRail(facts.order, attempt, given) : undefined
  const order = confirmed?.order ?? facts.order
  const { transferId, nowMs } = given
  const hold = paymentHold(order, nowMs)
  const endedAtMs = confirmed ? nowMs + 1 : nowMs
  return {
    attempt: { ...submittedOf(attempt, given), status: 'approved', endedAtMs },
    changes: [
      ...(confirmed ? [confirmed] : []),
      endPayment(order, { failure: undefined, callbackId: given.callbackIds[1], nowMs: endedAtMs }),
    ],
    transfers: [...(confirmed ? [hold] : []), endHold(hold, { transferId, phase: 'post', nowMs: endedAtMs })],
    isOver: true,
  }
}

/** Money for an order that has ended: into suspense, and back through the rail where that is wanted. */
function decideLate(
  { order, attempt }: OrderAndAttempt,
  reference: string,
  { returnId, nowMs, lateMoney }: DecisionIds & { readonly lateMoney: LateMoney },
): Decision {
  const { railId, merchantId, paymentId, transactionId } = attempt
  const isKnown = ['approved', 'returning', 'returned', 'held'].includes(attempt.status)
  if (isKnown) return { ...asItIs, isOver: true }
  const isReturned = lateMoney === 'refund'
  return {
    attempt: {
      ...attempt,
      status: isReturned ? 'returning' : 'held',
      nextAction: undefined,
      reference,
      reason: `The money came when the attempt had ended; the order is ${order.status}.`,
      returnId: isReturned ? returnId : undefined,
      endedAtMs: nowMs,
    },
    changes: [],
    // By the attempt's own id, as its hold would be: an attempt's money is booked once, for the order or late.
    transfers: [lateTransfer(attempt, { transferId: transactionId, kind: 'late_payment', nowMs })],
    ...(isReturned && {
      newTask: {
        taskId: returnId,
        kind: 'return',
        ...{ railId, merchantId, paymentId, transactionId },
        createdAtMs: nowMs,
      },
    }),
    isOver: true,
    alert: `money came through the rail for an order that is ${order.status}; it is in suspense and ${isReturned ? 'goes back through the rail' : 'is left to an operator'}`,
  }
}

function lateTransfer(
  { railId, merchantId, paymentId, currency, amountMinor }: Attempt,
  given: {
    readonly transferId: string
    readonly kind: 'late_payment' | 'late_return'
    readonly nowMs: number
  },
): Transfer {
  const { transferId, kind, nowMs } = given
  const rail = accountIdOf(railAccount(railId, currency))
  const suspense = accountIdOf(suspenseAccount(currency))
  return {
    merchantId,
    transferId,
    kind,
    phase: 'direct',
    holdId: undefined,
    debitAccountId: kind === 'late_payment' ? rail : suspense,
    creditAccountId: kind === 'late_payment' ? suspense : rail,
    currency,
    amountMinor,
    paymentId,
    refundId: undefined,
    auditId: undefined,
    madeAtMs: nowMs,
  }
}

function decideEnded(
  { order, attempt }: OrderAndAttempt,
  standing: Standing,
  given: DecisionIds & { readonly status: 'declined' | 'cancelled'; readonly reason: string | undefined },
): Decision {
  const { status, reason, transferId, nowMs } = given
  if (attempt.endedAtMs !== undefined) {
    const isTaken = attempt.status !== 'declined' && attempt.status !== 'cancelled'
    return { ...asItIs, isOver: true, ...(isTaken && { alert: `the rail took back a payment: ${status}` }) }
  }
  const ended: Attempt = { ...attempt, status, reason, nextAction: undefined, endedAtMs: nowMs }
  if (standing === 'open') return { ...asItIs, attempt: ended, freesOrder: true, isOver: true }
  if (standing === 'over') return { ...asItIs, attempt: ended, isOver: true }
  const failure = reason ?? 'The payment was cancelled.'
  return {
    attempt: ended,
    changes: [endPayment(order, { failure, callbackId: given.callbackIds[1], nowMs })],
    transfers: [endHold(paymentHold(order, nowMs), { transferId, phase: 'void', nowMs })],
    isOver: true,
  }
}

/** The return of late money: back, or left to an operator. */
export function decideReturn(attempt: Attempt, answer: RailRefundAnswer, nowMs: number): Decision {
  const { returnId } = attempt
  if (attempt.status !== 'returning') return { ...asItIs, isOver: true }
  assert(returnId, 'a return has its id')
  if (answer.status === 'approved')
    return {
      attempt: { ...attempt, status: 'returned' },
      changes: [],
      transfers: [lateTransfer(attempt, { transferId: returnId, kind: 'late_return', nowMs })],
      isOver: true,
    }
  if (answer.status !== 'declined') return { ...asItIs, isOver: false }
  return {
    ...asItIs,
    attempt: { ...attempt, status: 'held', reason: `The rail did not take it back: ${answer.reason}` },
    isOver: true,
    alert: 'the rail did not take late money back; it stays in suspense for an operator',
  }
}

const askAgainMs = { least: 2_000, most: 5 * 60_000 } as const
const failedPauseMs = { first: 1_000, most: 60 * 60_000 } as const

/** When to ask again: when the rail said, or the later the longer it takes, and never after the order's expiry. */
export function nextAskAtMs(
  { order, attempt }: OrderAndAttempt,
  { nowMs, checkAfterSeconds }: { readonly nowMs: number; readonly checkAfterSeconds: number | undefined },
): number {
  const waitedMs = Math.max(0, nowMs - attempt.startedAtMs)
  const wishedMs =
    checkAfterSeconds === undefined
      ? Math.min(Math.max(askAgainMs.least, waitedMs / 4), askAgainMs.most)
      : checkAfterSeconds * 1000
  const atMs = Math.round(nowMs + wishedMs)
  return order.status === 'pending' ? Math.min(atMs, order.expiresAtMs) : atMs
}

export function afterFailureMs(failures: number): number {
  return Math.min(failedPauseMs.first * 2 ** Math.min(failures, 20), failedPauseMs.most)
}
