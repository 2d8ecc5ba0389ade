// A callback, created with its event. Delivery never changes it.
import type { WebhookEventName } from '@tillgate/protocol'

export interface Callback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  readonly eventName: WebhookEventName
  /** Undefined if the order has none; then only endpoints receive the event. */
  readonly callbackUrl: string | undefined
  /** The JSON text that is signed and encrypted at each attempt. */
  readonly body: string
  readonly createdAtMs: number
  /** The merchant already has the result as a response, so only the operator's event feed gets it. */
  readonly isAnswered?: boolean
}
