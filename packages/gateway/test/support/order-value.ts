// An order as the domain knows it, to be bent by tests that need no database.
import type { OrderContent } from '@tillgate/protocol'
import { makeOrder, type Order } from '../../src/core/orders/rules/order.ts'

export const nowMs = 1_800_000_000_000
export const minuteMs = 60_000
export const content: OrderContent = {
  orderNo: 'n1',
  orderAmountMinor: 1250n,
  goods: [{ referenceGoodsId: 'g', goodsName: 'Tea', goodsAmountMinor: 1250n, goodsQuantity: 1 }],
}

export function order(changes: Partial<Order> = {}): Order {
  const create = {
    order: content,
    channel: 'WEB',
    paymentAmountMinor: 1250n,
    currency: 'USD',
    paymentTimeMs: nowMs,
    paymentExpiryTimeMs: nowMs + 30 * minuteMs,
    callbackUrl: 'https://shop.example/cb',
  } as const
  return { ...makeOrder(create, { merchantId: 'm', paymentId: 'P1', nowMs }), ...changes }
}

/** One that is paid from a wallet. */
export function paidOrder(changes: Partial<Order> = {}): Order {
  return order({
    status: 'success',
    walletId: 'w',
    transactionId: 'T1',
    completedAtMs: nowMs,
    ...changes,
  })
}
