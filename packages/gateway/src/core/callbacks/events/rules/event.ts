// An event of the feed: a change of an order or a refund at a permanent position.
import { isDisputeEventName, isRefundEventName, type WebhookEventName } from '@tillgate/protocol'

export interface FeedEvent {
  readonly position: number
  readonly eventId: string
  readonly eventName: WebhookEventName
  readonly merchantId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  /** The result object as JSON, as in callbacks. */
  readonly body: string
  readonly createdAtMs: number
}

export interface FeedState {
  readonly isKept: boolean
  readonly lastPosition: number
  readonly prunedPosition: number
}

/**
 * Orders the events of one order independently of the clocks of processes: each step is committed before the next is
 * decided.
 */
export function stepOf(eventName: WebhookEventName): number {
  if (eventName === 'payment.order.confirming') return 1
  if (isDisputeEventName(eventName)) return eventName === 'payment.dispute.opened' ? 4 : 5
  return isRefundEventName(eventName) ? 3 : 2
}
