// Builds the messages to a rail from the order, the attempt and the refund.
import {
  type CaptureMessageOf,
  captureVersion,
  type RailMessage,
  type RailMessageOf,
  toDecimalText,
} from '@tillgate/protocol'
import { type Capture, captureIdOf } from '../../../core/orders/captures/rules/capture.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import type { Attempt, OrderAndAttempt } from './attempt.ts'

export interface StartFacts extends OrderAndAttempt {
  readonly merchantName: string
  readonly returnUrl: string
  readonly notifyUrl: string
}

export function paymentStart(facts: StartFacts): RailMessageOf<'payment.start'> {
  const { order, attempt, merchantName, returnUrl, notifyUrl } = facts
  const description = descriptionOf(order)
  return {
    type: 'payment.start',
    transactionId: attempt.transactionId,
    paymentId: order.paymentId,
    merchantId: order.merchantId,
    merchantName,
    orderNo: order.orderNo,
    ...(description !== undefined && { description }),
    ...worth(attempt),
    createdAt: attempt.startedAtMs,
    expiresAt: order.expiresAtMs,
    returnUrl,
    notifyUrl,
    locale: attempt.locale,
    channel: order.channel,
    ...(order.authorization && { captureMode: 'manual' as const }),
  }
}

export function paymentCapture(
  { transactionId, currency }: Attempt,
  { ordinal, amountMinor, isFinal }: Capture,
): CaptureMessageOf<'payment.capture'> {
  return {
    type: 'payment.capture',
    version: captureVersion,
    captureId: captureIdOf(transactionId, ordinal),
    transactionId,
    ...worth({ amountMinor, currency }),
    final: isFinal,
  }
}

export interface RefundFacts {
  readonly refundId: string
  readonly attempt: Attempt
  readonly amountMinor: bigint
  readonly reason: string | undefined
}

export function refundStart(facts: RefundFacts): RailMessage {
  const { refundId, attempt, amountMinor, reason } = facts
  return {
    type: 'refund.start',
    refundId,
    transactionId: attempt.transactionId,
    ...(attempt.reference !== undefined && { reference: attempt.reference }),
    ...worth({ amountMinor, currency: attempt.currency }),
    ...(reason !== undefined && { reason }),
  }
}

function worth({ amountMinor, currency }: Pick<Attempt, 'amountMinor' | 'currency'>) {
  return { amount: toDecimalText(amountMinor, currency), amountMinor: amountMinor.toString(), currency }
}

function descriptionOf({ content }: Order): string | undefined {
  // Safe: the gateway wrote it.
  return (JSON.parse(content) as { orderDescription?: string }).orderDescription
}
