// Committed changes as values, for jobs, live pages, waiting requests, metrics and other processes. Correctness never
// depends on them: polling finds what a lost change announced.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'

export type Change =
  /** Undefined status: the order's page may show something else. */
  | (OrderRef & { readonly kind: 'order'; readonly status?: OrderStatus | RefundStatus })
  /** `dueAtMs` is the expiry time. */
  | { readonly kind: 'order created'; readonly dueAtMs: number }
  | { readonly kind: 'order advanced' }
  | { readonly kind: 'payment submitted' }
  | { readonly kind: 'rail task' }
  | { readonly kind: 'payouts' }
  | { readonly kind: 'callbacks'; readonly lanes: readonly CallbackLane[] }
  /** From now on, this merchant's callbacks are sealed with another key. */
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
