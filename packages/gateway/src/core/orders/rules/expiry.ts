// When a payment order expires, and its status from then on.
import type { Order } from './order.ts'

/** An order counts as expired from its expiry time on, even if the store has not recorded it yet. */
export function orderAt(order: Order, nowMs: number): Order {
  return isOverdue(order, nowMs) ? timedOut(order) : order
}

export function isOverdue(order: Pick<Order, 'status' | 'expiresAtMs'>, nowMs: number): boolean {
  return order.status === 'pending' && nowMs >= order.expiresAtMs
}

export function timedOut(order: Order): Order {
  return {
    ...order,
    status: 'timeout',
    completedAtMs: order.expiresAtMs,
    message: 'The order was not paid in time.',
  }
}
