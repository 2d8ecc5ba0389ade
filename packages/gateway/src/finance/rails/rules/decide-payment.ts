// The consequence of a rail's response about a payment. Pure: status, money and callbacks are one value, which
// commits completely or not at all.
import type { NextAction, RailPaymentAnswer } from '@tillgate/protocol'
import { endHold } from '../../../core/ledger/rules/transfer.ts'
import { chargeFor } from '../../../core/orders/fees/rules/fee.ts'
import { paymentHold } from '../../../core/orders/payments/rules/payment.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import { confirmOrder, endPayment, type StatusChange } from '../../../core/orders/rules/status-change.ts'
import { creditOf } from '../../../core/orders/rules/top-up.ts'
import {
  type Attempt,
  type Decision,
  type DecisionIds,
  type OrderAndAttempt,
  type Standing,
  standingOf,
  unchanged,
} from './attempt.ts'
import { type AuthorizationIds, decideAuthorized, decideHeldEnd } from './decide-capture.ts'
import { decideLate, type LateMoney } from './late-money.ts'

export function decidePayment(
  facts: OrderAndAttempt,
  answer: RailPaymentAnswer,
  ids: AuthorizationIds & { readonly lateMoney: LateMoney },
): Decision {
  const standing = standingOf(facts)
  const { order, attempt } = facts
  switch (answer.status) {
    case 'pending':
      return decidePending(facts, answer.nextAction, standing, answer.reference)
    case 'submitted':
      return decideSubmitted(facts, standing, { ...ids, reference: answer.reference })
    case 'approved':
      if (standing === 'over') return decideLate(facts, answer.reference, ids)
      if (attempt.status === 'authorized') return decideHeldEnd(facts, answer, ids)
      if (order.authorization) return decideAuthorized(facts, answer, standing, ids)
      return decideApproved(facts, standing, { ...ids, reference: answer.reference })
    case 'authorized':
      return decideAuthorized(facts, answer, standing, ids)
    case 'declined':
      if (attempt.status === 'authorized') return decideHeldEnd(facts, answer, ids)
      return decideEnded(facts, standing, { ...ids, status: 'declined', reason: answer.reason })
    case 'cancelled':
    case 'unknown':
      if (attempt.status === 'authorized') return decideHeldEnd(facts, answer, ids)
      return decideEnded(facts, standing, { ...ids, status: 'cancelled', reason: undefined })
  }
}

function decidePending(
  { attempt }: OrderAndAttempt,
  nextAction: NextAction,
  standing: Standing,
  reference = attempt.reference,
): Decision {
  if (attempt.endedAtMs !== undefined) return { ...unchanged, isOver: true }
  // A submitted attempt never becomes pending again.
  if (standing !== 'open' || attempt.status === 'submitted') return { ...unchanged, isOver: false }
  return { ...unchanged, attempt: { ...attempt, status: 'pending', nextAction, reference }, isOver: false }
}

type Given = DecisionIds & { readonly reference: string | undefined }

function decideSubmitted(facts: OrderAndAttempt, standing: Standing, given: Given): Decision {
  const { order, attempt } = facts
  if (attempt.endedAtMs !== undefined) return { ...unchanged, isOver: true }
  if (attempt.status === 'submitted' || attempt.status === 'authorized')
    return { ...unchanged, isOver: false }
  const submitted = submittedOf(attempt, given)
  if (standing !== 'open') return { ...unchanged, attempt: submitted, isOver: false }
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

/** Through `confirming`, so that both events are sent in order. */
function decideApproved(facts: OrderAndAttempt, standing: 'open' | 'paying', given: Given): Decision {
  const { attempt } = facts
  const confirmed = standing === 'open' ? confirmByRail(facts.order, attempt, given) : undefined
  const order = confirmed?.order ?? facts.order
  const { transferId, nowMs } = given
  const hold = paymentHold(order, nowMs)
  const endedAtMs = confirmed ? nowMs + 1 : nowMs
  const charge = chargeFor(order, given.prices, endedAtMs)
  const credit = creditOf(order, endedAtMs)
  return {
    attempt: { ...submittedOf(attempt, given), status: 'approved', endedAtMs },
    changes: [
      ...(confirmed ? [confirmed] : []),
      endPayment(order, {
        failure: undefined,
        fee: charge?.fee,
        callbackId: given.callbackIds[1],
        nowMs: endedAtMs,
      }),
    ],
    transfers: [
      ...(confirmed ? [hold] : []),
      endHold(hold, { transferId, phase: 'post', nowMs: endedAtMs }),
      ...(charge ? [charge.transfer] : []),
      ...(credit ? [credit] : []),
    ],
    isOver: true,
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
    return { ...unchanged, isOver: true, ...(isTaken && { alert: `the rail reversed a payment: ${status}` }) }
  }
  const ended: Attempt = { ...attempt, status, reason, nextAction: undefined, endedAtMs: nowMs }
  if (standing === 'open') return { ...unchanged, attempt: ended, freesOrder: true, isOver: true }
  if (standing === 'over') return { ...unchanged, attempt: ended, isOver: true }
  const failure = reason ?? 'The payment was cancelled.'
  return {
    attempt: ended,
    changes: [endPayment(order, { failure, callbackId: given.callbackIds[1], nowMs })],
    transfers: [endHold(paymentHold(order, nowMs), { transferId, phase: 'void', nowMs })],
    isOver: true,
  }
}
