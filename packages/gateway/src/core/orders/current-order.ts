// Returns an order as of now. An expired order is first stored as such, with its callback, because a payment decided
// just before the expiry may still be committing, and a reported final status must never change.
import { makeCallbackId, type RandomBytes } from '@tillgate/protocol'
import { isOverdue } from './rules/expiry.ts'
import type { Order } from './rules/order.ts'
import { expireOrder } from './rules/status-change.ts'
import type { OrderStore } from './store/orders.ts'

export interface CurrentOrderParts {
  readonly orders: Pick<OrderStore, 'findOrder' | 'commitStatusChanges'>
  readonly random: RandomBytes
}

export type CurrentOrder = (stored: Order, nowMs: number) => Promise<Order>

export function makeCurrentOrder({ orders, random }: CurrentOrderParts): CurrentOrder {
  return async (stored, nowMs) => {
    let order = stored
    // A lost race leaves the order not pending, so this loop ends.
    while (isOverdue(order, nowMs)) {
      const change = expireOrder(order, { nowMs, callbackId: makeCallbackId(nowMs, random) })
      const [won] = await orders.commitStatusChanges([change])
      if (won) return won.order
      const again = await orders.findOrder(order)
      if (!again) throw new Error('an order is never gone')
      order = again
    }
    return order
  }
}
