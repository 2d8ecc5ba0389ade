// Captures an authorized order. The consumer's money is held; each capture posts a part of the hold to the merchant. The
// last capture, a release or the end of the authorization voids the rest and ends the order. Each decision is one value.
import assert from 'node:assert/strict'
import { type CaptureStatus, Failure, type OrderStatus, toDecimalText } from '@tillgate/protocol'
import { endHold, type Transfer } from '../../../ledger/rules/transfer.ts'
import { chargeFor } from '../../fees/rules/fee.ts'
import type { PriceBook } from '../../fees/rules/price.ts'
import { paymentHold } from '../../payments/rules/payment.ts'
import { isHeld, type Order, type OrderAuthorization } from '../../rules/order.ts'
import { type Actor, endPayment, type StatusChange } from '../../rules/status-change.ts'

/** Of one order. Their ids have one digit in base 36. */
export const maxCaptures = 32

export interface Capture {
  readonly referCaptureNo: string
  /** 1 is the order's first. */
  readonly ordinal: number
  readonly amountMinor: bigint
  /** The last one, which releases the rest. */
  readonly isFinal: boolean
  /** Undefined: the rail has not captured it. */
  readonly capturedAtMs: number | undefined
  /** Why the rail captured nothing. */
  readonly failure: string | undefined
}

/** The rail is asked until it captures the amount or declines. An order has at most one such capture. */
export function isUnderWay({ capturedAtMs, failure }: Capture): boolean {
  return capturedAtMs === undefined && failure === undefined
}

export function captureStatusOf({ capturedAtMs, failure }: Capture): CaptureStatus {
  if (failure !== undefined) return 'failed'
  return capturedAtMs === undefined ? 'capturing' : 'captured'
}

export interface AskedCapture {
  readonly referCaptureNo: string
  /** Undefined: all that remains. */
  readonly amountMinor: bigint | undefined
  readonly isFinal: boolean
}

/** A change of a held order: a capture, the end, or both. */
export interface HeldChange {
  /** As it will be. */
  readonly order: Order & { readonly authorization: OrderAuthorization }
  /** The change fails if another one came first. */
  readonly capturedBeforeMinor: bigint
  readonly capture: Capture | undefined
  readonly end: StatusChange | undefined
  readonly transfers: readonly Transfer[]
  readonly changedAtMs: number
}

interface Given {
  /** Of the transfer that voids the rest. */
  readonly transferId: string
  readonly callbackId: string
  readonly actor: Actor
  readonly nowMs: number
}

export function captureOrder(
  order: Order,
  asked: AskedCapture,
  given: Given & { readonly ordinal: number; readonly prices: PriceBook },
): HeldChange {
  return postCapture(order, planCapture(order, asked, given), given)
}

/** Not captured yet. */
export function planCapture(
  order: Order,
  { referCaptureNo, amountMinor: askedMinor, isFinal }: AskedCapture,
  { ordinal, nowMs }: { readonly ordinal: number; readonly nowMs: number },
): Capture {
  const { authorization, heldUntilMs } = heldMoney(order, nowMs)
  if (nowMs >= heldUntilMs) throw notAllowed('The authorization has expired. Nothing can be captured.')
  if (ordinal > maxCaptures)
    throw notAllowed(
      `An order has at most ${maxCaptures} captures. Release the rest with service.order.release.`,
    )
  const remainingMinor = authorization.authorizedMinor - authorization.capturedMinor
  const amountMinor = askedMinor ?? remainingMinor
  if (amountMinor > remainingMinor) throw moreThanLeft(remainingMinor, order.currency)
  const common = { referCaptureNo, ordinal, amountMinor, capturedAtMs: undefined, failure: undefined }
  return { ...common, isFinal: isFinal || amountMinor === remainingMinor }
}

/** Posts a planned capture, which the rail has made if one holds the money. */
export function postCapture(
  order: Order,
  planned: Capture,
  given: Given & { readonly prices: PriceBook },
): HeldChange {
  const { prices, nowMs } = given
  const { ordinal, amountMinor } = planned
  const { authorization, hold } = heldMoney(order, nowMs)
  const capturedMinor = authorization.capturedMinor + amountMinor
  const transferId = captureIdOf(hold.transferId, ordinal)
  const post = { ...endHold(hold, { transferId, phase: 'post', nowMs }), amountMinor }
  const charge = chargeFor(order, prices, nowMs, { transferId, amountMinor, capturedMinor })
  const captured = {
    ...order,
    fee: charge?.fee ?? order.fee,
    authorization: { ...authorization, capturedMinor },
  }
  const ended = planned.isFinal ? endHeldOrder(captured, hold, given) : undefined
  return {
    order: ended?.order ?? captured,
    capturedBeforeMinor: authorization.capturedMinor,
    capture: { ...planned, capturedAtMs: nowMs },
    end: ended?.end,
    transfers: [post, ...(charge ? [charge.transfer] : []), ...(ended?.transfers ?? [])],
    changedAtMs: nowMs,
  }
}

/** What was captured stays paid. Without a capture, the order fails with the reason. */
export function endAuthorization(order: Order, given: Given & { readonly reason: string }): HeldChange {
  const { authorization, hold } = heldMoney(order, given.nowMs)
  return {
    ...endHeldOrder({ ...order, authorization }, hold, given),
    capturedBeforeMinor: authorization.capturedMinor,
    capture: undefined,
    changedAtMs: given.nowMs,
  }
}

/** The transfer's id, which the table accepts once. */
export function captureIdOf(transactionId: string, ordinal: number): string {
  return `${transactionId}C${ordinal.toString(36).toUpperCase()}`
}

function endHeldOrder(
  order: HeldChange['order'],
  hold: Transfer,
  given: Given & { readonly reason?: string },
): Pick<HeldChange, 'order' | 'transfers'> & { readonly end: StatusChange } {
  const { authorizedMinor, capturedMinor } = order.authorization
  const restMinor = authorizedMinor - capturedMinor
  const paid = capturedMinor > 0n ? { ...order, paymentAmountMinor: capturedMinor } : order
  const end = endPayment(paid, {
    ...given,
    failure: capturedMinor > 0n ? undefined : given.reason,
    fee: order.fee,
  })
  return {
    order: { ...end.order, authorization: order.authorization },
    end,
    transfers:
      restMinor > 0n ? [{ ...endHold(hold, { ...given, phase: 'void' }), amountMinor: restMinor }] : [],
  }
}

function heldMoney(order: Order, nowMs: number) {
  const { authorization } = order
  if (!authorization)
    throw notAllowed('The order was not created with captureMode manual. It needs no capture and no release.')
  if (!isHeld(order)) throw notAllowed(whyNotHeld[order.status])
  assert(authorization.heldUntilMs, 'what is held ends')
  return { authorization, heldUntilMs: authorization.heldUntilMs, hold: paymentHold(order, nowMs) }
}

const whyNotHeld: Record<OrderStatus, string> = {
  pending: 'The consumer has not agreed to pay yet.',
  confirming:
    'The payment is being authorized. Query the order, and repeat the request once it has an expiresAt.',
  success: 'Nothing is held any more: the order is captured, and the rest was released.',
  failed: 'Nothing is held any more: the payment failed, was released, or expired.',
  timeout: 'The order was not paid in time. There is nothing to capture.',
  cancelled: 'The order was cancelled. There is nothing to capture.',
}

export function notAllowed(message: string): Failure {
  return new Failure('status_does_not_allow', { message })
}

function moreThanLeft(remainingMinor: bigint, currency: string): Failure {
  return new Failure('more_than_left_to_capture', {
    field: 'amount',
    message: `amount exceeds the remaining authorization: send at most ${toDecimalText(remainingMinor, currency)} ${currency}.`,
  })
}

/** The first field in which a repeated referCaptureNo differs; undefined if it is the same capture. */
export function differingCaptureField(
  earlier: Capture,
  { amountMinor, isFinal }: AskedCapture,
  { order, isLast }: { readonly order: Order; readonly isLast: boolean },
): 'amount' | 'final' | undefined {
  const { authorizedMinor = 0n, capturedMinor = 0n } = order.authorization ?? {}
  const takenMinor = capturedMinor + (earlier.capturedAtMs === undefined ? earlier.amountMinor : 0n)
  const isAll = isLast && takenMinor === authorizedMinor
  if (amountMinor === undefined ? !isAll : amountMinor !== earlier.amountMinor) return 'amount'
  // A capture of all that remains is the last one, whether it says so or not.
  const wasFinal = earlier.isFinal || (isLast && order.status === 'success')
  return isFinal && !wasFinal ? 'final' : undefined
}
