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
  readonly merchantId: string
  /** When this attempt was made, in milliseconds since 1970. */
  readonly timestampMs: number
}

/**
 * An order moved: `result.status` is confirming, success, failed or timeout, or cancelled where the gateway's operator
 * cancelled it (`payment.order.failed`).
 */
export interface OrderEvent extends EventBase {
  readonly kind: 'order'
  readonly eventName: OrderEventName
  readonly result: PaymentResult
}

/** A refund ended: `result.status` is refund_success or refund_failed. */
export interface RefundEvent extends EventBase {
  readonly kind: 'refund'
  readonly eventName: RefundEventName
  readonly result: RefundResult
}

/** Genuine, but of a name that came after this version of the SDK. */
export interface UnknownEvent extends EventBase {
  readonly kind: 'unknown'
  readonly eventName: string
  readonly result: JsonObject
}

export type CallbackEvent = OrderEvent | RefundEvent | UnknownEvent
