// An event of the feed: what happened to an order or a refund, at a position that never changes.
import { type EventName, isRefundEventName } from '@tillgate/protocol'

export interface FeedEvent {
  readonly position: number
  readonly eventId: string
  readonly eventName: EventName
  readonly merchantId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  /** The result object as JSON text, as callbacks carry it. */
  readonly body: string
  readonly createdAtMs: number
}

export interface FeedState {
  readonly isKept: boolean
  readonly lastPosition: number
  readonly prunedPosition: number
}

/**
 * Which of an order's events comes first, whatever the clocks of two processes say: an order is paid after it was
 * submitted and refunded after it was paid, and each is committed before the next is decided.
 */
export function stepOf(eventName: EventName): number {
  if (eventName === 'payment.order.confirming') return 1
  return isRefundEventName(eventName) ? 3 : 2
}
