// The consequences for an order with captureMode `manual` that a rail authorized: reserved, captured in parts, and ended.
// The ledger holds the money of the rail's account meanwhile, so that no more is posted than was authorized.
import type { RailCaptureAnswer, RailPaymentAnswer } from '@tillgate/protocol'
import {
  type Capture,
  endAuthorization,
  type HeldChange,
  isUnderWay,
  postCapture,
} from '../../../core/orders/captures/rules/capture.ts'
import { paymentHold } from '../../../core/orders/payments/rules/payment.ts'
import { confirmOrder } from '../../../core/orders/rules/status-change.ts'
import {
  type Attempt,
  type Decision,
  type DecisionIds,
  type OrderAndAttempt,
  type Standing,
  unchanged,
} from './attempt.ts'

const day = 24 * 60 * 60_000
/** An operator may have removed the rail's days after the payment started. */
const usualDays = 7

export type AuthorizationIds = DecisionIds & { readonly authorizationDays?: number | undefined }

/** Also for a rail that captured at once: the next response then captures all of it. */
export function decideAuthorized(
  { order, attempt }: OrderAndAttempt,
  {
    reference,
    authorizedUntil = Infinity,
  }: { readonly reference: string; readonly authorizedUntil?: number },
  standing: Standing,
  { nowMs, authorizationDays = usualDays, callbackIds }: AuthorizationIds,
): Decision {
  if (standing === 'over' || attempt.status === 'authorized') return { ...unchanged, isOver: false }
  const authorized: Attempt = { ...attempt, status: 'authorized', nextAction: undefined, reference }
  const reserved = {
    attempt: authorized,
    heldUntilMs: Math.min(nowMs + authorizationDays * day, authorizedUntil),
    isOver: false,
  }
  if (standing === 'paying') return { ...unchanged, ...reserved }
  const { railId, transactionId } = attempt
  const change = confirmOrder(order, { railId, transactionId, callbackId: callbackIds[0], nowMs })
  return { ...reserved, changes: [change], transfers: [paymentHold(change.order, nowMs)] }
}

export function decideCapture(facts: OrderAndAttempt, answer: RailCaptureAnswer, ids: DecisionIds): Decision {
  const planned = facts.captures?.find(isUnderWay)
  if (!planned || answer.status === 'submitted') return { ...unchanged, isOver: false }
  if (answer.status === 'declined') return { ...unchanged, captureFailure: answer.reason, isOver: false }
  return decideHeld(facts, postCapture(facts.order, planned, given(ids)), ids)
}

/** The rail ended the authorization. */
export function decideHeldEnd(
  facts: OrderAndAttempt,
  answer: Pick<RailPaymentAnswer, 'status'> & { readonly reason?: string },
  ids: DecisionIds,
): Decision {
  const { order, attempt, captures = [] } = facts
  const { authorizedMinor = 0n, capturedMinor = 0n } = order.authorization ?? {}
  if (answer.status === 'approved' && capturedMinor === 0n) {
    const planned: Capture = {
      referCaptureNo: `${attempt.transactionId}-rail`,
      ordinal: captures.length + 1,
      amountMinor: authorizedMinor,
      isFinal: true,
      capturedAtMs: undefined,
      failure: undefined,
    }
    return {
      ...decideHeld(facts, postCapture(order, planned, given(ids)), ids),
      alert: 'the rail took the money of a payment that it was asked to reserve; the order is captured',
    }
  }
  const reason = answer.reason ?? whyEnded(facts, ids.nowMs)
  return decideHeld(facts, endAuthorization(order, { ...given(ids), reason }), ids)
}

function whyEnded({ order, attempt }: OrderAndAttempt, nowMs: number): string {
  if (attempt.cancelAskedAtMs !== undefined) return 'The authorization was released.'
  return nowMs >= (order.authorization?.heldUntilMs ?? 0)
    ? 'The authorization expired.'
    : 'The provider ended the authorization.'
}

function decideHeld({ attempt }: OrderAndAttempt, captured: HeldChange, { nowMs }: DecisionIds): Decision {
  const { end, transfers } = captured
  const status = end?.to === 'success' ? 'approved' : 'cancelled'
  return {
    ...(end && { attempt: { ...attempt, status, endedAtMs: nowMs } }),
    changes: end ? [end] : [],
    transfers,
    captured,
    isOver: end !== undefined,
  }
}

function given({ transferId, callbackIds, nowMs, prices }: DecisionIds) {
  return { transferId, callbackId: callbackIds[1], actor: 'gateway', nowMs, prices } as const
}
