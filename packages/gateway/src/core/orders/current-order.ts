// Returns an order as of now. If the order has expired, the expiry is stored first, with its callback: a payment
// decided just before may still be committing, and a status that was once reported must not change.
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
