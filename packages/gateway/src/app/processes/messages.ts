// The messages between the parent and its processes.
import type { Snapshot } from '../../platform/observability/metrics/registry.ts'

/** Set for a process that joins others: their public address. It accepts connections only when it is ready. */
export const joinVariable = 'TILLGATE_JOINS'

export type ToParent =
  | { readonly kind: 'ready'; readonly publicUrl: string; readonly adminUrl: string }
  | { readonly kind: 'snapshot'; readonly askId: number; readonly snapshot: Snapshot }
  /** A request for the metrics of the whole gateway. */
  | { readonly kind: 'gather'; readonly gatherId: number; readonly snapshot: Snapshot }

export type ToProcess =
  | { readonly kind: 'stop'; readonly isPatient: boolean }
  | { readonly kind: 'ask'; readonly askId: number }
  | { readonly kind: 'gathered'; readonly gatherId: number; readonly snapshot: Snapshot }
  | { readonly kind: 'shop'; readonly shopUrl: string }
