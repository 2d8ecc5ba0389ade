// A callback after it was opened, typed by what it reports.
import type {
  JsonObject,
  OrderEventName,
  PaymentResult,
  RefundEventName,
  RefundResult,
} from '@tillgate/protocol'

interface EventBase {
  /** The same on every attempt and every resend: what duplicates are known by. */
  readonly id: string
  /** Your own: a callback for another merchant is refused before. */
  readonly merchantId: string
  /** When this attempt was made, in milliseconds since 1970. */
  readonly timestampMs: number
}

/**
 * An order moved: `result.status` is confirming, success, failed or timeout, or cancelled where the gateway's operator
 * cancelled it (`payment.order.failed`).
 */
export interface OrderEvent extends EventBase {
  /** Tells the events apart: `if (event.kind === 'order')`. */
  readonly kind: 'order'
  /** The name on the envelope. */
  readonly eventName: OrderEventName
  /** The payment as it was when the event came to be. */
  readonly result: PaymentResult
}

/** A refund ended: `result.status` is refund_success or refund_failed. */
export interface RefundEvent extends EventBase {
  /** Tells the events apart: `if (event.kind === 'refund')`. */
  readonly kind: 'refund'
  /** The name on the envelope. */
  readonly eventName: RefundEventName
  /** The refund as it was when the event came to be. */
  readonly result: RefundResult
}

/** Genuine, but of a name that came after this version of the SDK. */
export interface UnknownEvent extends EventBase {
  /** Tells the events apart: `if (event.kind === 'unknown')`. */
  readonly kind: 'unknown'
  /** The name on the envelope. */
  readonly eventName: string
  /** The body as it came. */
  readonly result: JsonObject
}

export type CallbackEvent = OrderEvent | RefundEvent | UnknownEvent
