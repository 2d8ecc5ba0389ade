// An order as it is at this moment. One whose time is over is timed out in the store, with its callback, before
// anybody is told: a payment that was decided just before the expiry may still be on its way to the database, and
// whoever was once told a final status is never told another.
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
    // A race that is lost leaves the order in a status that is not pending, so this ends.
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
