// What commits change, as values, for the parts that react: jobs, live pages, waiting requests, metrics, other processes.
// Nothing depends on a change for correctness: a lost one is found by looking.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'

export type Change =
  /** An order or one of its refunds has this status; undefined: its page may show something else. */
  | (OrderRef & { readonly kind: 'order'; readonly status?: OrderStatus | RefundStatus })
  /** `dueAtMs`: when it expires. */
  | { readonly kind: 'order created'; readonly dueAtMs: number }
  /** The times of an order were moved. */
  | { readonly kind: 'order advanced' }
  /** A payment or a refund waits for its wallet. */
  | { readonly kind: 'payment submitted' }
  | { readonly kind: 'rail task' }
  | { readonly kind: 'payouts' }
  | { readonly kind: 'callbacks'; readonly lanes: readonly CallbackLane[] }
  /** Callbacks of this merchant are sealed with another key from now on. */
  | { readonly kind: 'key in use'; readonly merchantId: string }
  | { readonly kind: 'email'; readonly state: string }

interface OrderRef {
  readonly merchantId: string
  readonly paymentId: string
}

interface CallbackLane {
  readonly merchantId: string
  readonly host: string
  readonly destinationId: string
}

export type Publish = (changes: readonly Change[]) => void

export const unpublished: Publish = () => {}
