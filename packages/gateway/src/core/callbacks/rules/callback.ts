// What a merchant is told, made at the very moment it happens. Delivery comes later and changes nothing in it.
import type { EventName } from '@tillgate/protocol'

export interface Callback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  readonly eventName: EventName
  /** Of the order; undefined: it names none, and only endpoints hear of it. */
  readonly callbackUrl: string | undefined
  /** The plain result object as JSON text, the very text that is signed and encrypted at each attempt. */
  readonly body: string
  readonly createdAtMs: number
  /** The merchant asked for it and has the answer: only the operator's feed of events hears of it. */
  readonly isAnswered?: boolean
}
