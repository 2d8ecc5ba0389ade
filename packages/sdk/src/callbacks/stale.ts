// Handles repeated, late and out-of-order callbacks. A status only moves forward, so your stored status decides;
// remembering ids only saves work.
import {
  isFinalOrderStatus,
  isFinalRefundStatus,
  type OrderStatus,
  orderStatuses,
  type RefundStatus,
  refundStatuses,
} from '@tillgate/protocol'
import type { OrderEvent, RefundEvent } from './event.ts'

/**
 * Whether the event contains nothing new, given the status that you stored for this order (or, for a refund event, for
 * this refund). Undefined means that nothing is stored. Two processes may check at the same moment: do the check and
 * the change in one transaction, or let the database do both (`update … where status not in ('success', 'failed',
 * 'timeout', 'cancelled')`).
 *
 * @example
 * if (event.kind === 'order' && !isStale(order.status, event)) order.status = event.result.status
 */
export function isStale(known: OrderStatus | undefined, event: OrderEvent): boolean
export function isStale(known: RefundStatus | undefined, event: RefundEvent): boolean
export function isStale(
  known: OrderStatus | RefundStatus | undefined,
  event: OrderEvent | RefundEvent,
): boolean {
  if (known === undefined) return false
  const statuses = event.kind === 'order' ? orderStatuses : refundStatuses
  if (!Object.hasOwn(statuses, known)) {
    throw new TypeError(`${known} is not a status of ${event.kind === 'order' ? 'an order' : 'a refund'}`)
  }
  return rank(event.result.status) <= rank(known)
}

/** A payment may be reported as success without confirming before it, so only the direction counts. */
function rank(status: OrderStatus | RefundStatus): number {
  const isFinal =
    status in orderStatuses
      ? isFinalOrderStatus(status as OrderStatus)
      : isFinalRefundStatus(status as RefundStatus)
  if (isFinal) return 2
  return status === 'confirming' ? 1 : 0
}

/** Remembers the ids of handled callbacks. Implement it with your database to share the ids among processes. */
export interface SeenCallbacks {
  /** Called before the handler runs. */
  has(id: string): boolean | Promise<boolean>
  /** Called after the handler has succeeded. */
  add(id: string): void | Promise<void>
}

/**
 * Remembers the newest ids in this process. They are lost on restart and not shared with other processes, so use this
 * only to save work. A resend that you request has the same id, so it is not handled again while its id is remembered.
 */
export function rememberInMemory({ max = 10_000 }: { max?: number } = {}): SeenCallbacks {
  // A Set keeps insertion order, so its first id is the oldest.
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id)
      if (ids.size <= max) return
      for (const oldest of ids) {
        ids.delete(oldest)
        break
      }
    },
  }
}
