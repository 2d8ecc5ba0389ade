// Help against callbacks that come twice, late or out of order. A status only ever moves forward, so what you have
// stored decides; remembering ids only saves work.
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
 * Whether the event tells nothing new, given the status that you have stored for this order (or, for a refund
 * event, for this refund). Undefined stands for "nothing stored yet". Two processes may ask at the same moment:
 * make the check and the change in one transaction, or let the database do both
 * (`update … where status not in ('success', 'failed', 'timeout', 'cancelled')`).
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

/** A payment may be reported as success without confirming having come: only forward or not forward counts. */
function rank(status: OrderStatus | RefundStatus): number {
  const isFinal =
    status in orderStatuses
      ? isFinalOrderStatus(status as OrderStatus)
      : isFinalRefundStatus(status as RefundStatus)
  if (isFinal) return 2
  return status === 'confirming' ? 1 : 0
}

/** Remembers the ids of callbacks that were handled. Bring one over your database to share it among processes. */
export interface SeenCallbacks {
  /** Asked before the handler runs. */
  has(id: string): boolean | Promise<boolean>
  /** Called once the handler has succeeded. */
  add(id: string): void | Promise<void>
}

/**
 * Remembers the newest ids in this process. It forgets on restart, and another process does not know of it: enough
 * to save work, not to rely on. Note that a resend which you ask for has the same id and is not handled again
 * either, as long as its id is remembered.
 */
export function rememberInMemory({ max = 10_000 }: { max?: number } = {}): SeenCallbacks {
  // A Set keeps the order in which ids were added, so its first one is the oldest.
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
