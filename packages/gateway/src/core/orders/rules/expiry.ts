// When a payment order expires, and what it is from then on.
import type { Order } from './order.ts'

/** The truth at this moment: an order is timed out from its expiry on, whether or not the store knows it yet. */
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
