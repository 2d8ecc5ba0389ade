// A decrypted callback, typed by its event.
import type {
  JsonObject,
  OrderEventName,
  PaymentResult,
  RefundEventName,
  RefundResult,
} from '@tillgate/protocol'

interface EventBase {
  /** The same on every attempt and every resend; use it to detect duplicates. */
  readonly id: string
  /** Your merchantId. A callback for another merchant is rejected before. */
  readonly merchantId: string
  /** The time of this attempt, in milliseconds since 1970. */
  readonly timestampMs: number
}

/**
 * An order changed: `result.status` is confirming, success, failed or timeout, or cancelled if the gateway's operator
 * cancelled it (`payment.order.failed`).
 */
export interface OrderEvent extends EventBase {
  /** Distinguishes the events: `if (event.kind === 'order')`. */
  readonly kind: 'order'
  /** The event's name in the envelope. */
  readonly eventName: OrderEventName
  /** The payment at the time of the event. */
  readonly result: PaymentResult
}

/** A refund ended: `result.status` is refund_success or refund_failed. */
export interface RefundEvent extends EventBase {
  /** Distinguishes the events: `if (event.kind === 'refund')`. */
  readonly kind: 'refund'
  /** The event's name in the envelope. */
  readonly eventName: RefundEventName
  /** The refund at the time of the event. */
  readonly result: RefundResult
}

/** A genuine event that this version of the SDK does not know. */
export interface UnknownEvent extends EventBase {
  /** Distinguishes the events: `if (event.kind === 'unknown')`. */
  readonly kind: 'unknown'
  /** The event's name in the envelope. */
  readonly eventName: string
  /** The body as received. */
  readonly result: JsonObject
}

export type CallbackEvent = OrderEvent | RefundEvent | UnknownEvent
