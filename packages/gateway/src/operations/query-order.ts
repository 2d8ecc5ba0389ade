// service.trade.query: what became of an order, by its paymentId or, when the answer to create was lost, by its
// orderNo.
import { Failure, parseQueryBody, type QueryAnswer, toWireAmount } from '@tillgate/protocol'
import type { Clock } from '../clock.ts'
import type { Merchant } from '../domain/merchant.ts'
import { type Order, orderAt } from '../domain/order.ts'
import type { OrderStore } from '../store/orders.ts'

export interface QueryOrderParts {
  readonly orders: Pick<OrderStore, 'findOrder' | 'findOrderByNumber'>
  readonly clock: Clock
}

export function makeQueryOrder({ orders, clock }: QueryOrderParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<QueryAnswer> => {
    const query = parseQueryBody(body)
    const order =
      query.kind === 'paymentId'
        ? await orders.findOrder({ merchantId, paymentId: query.paymentId })
        : query.kind === 'orderNo'
          ? await orders.findOrderByNumber({ merchantId, orderNo: query.orderNo })
          : undefined
    if (!order) throw new Failure('order_not_found')
    return answer(orderAt(order, clock.now()))
  }
}

function answer(order: Order): QueryAnswer {
  const isPaid = order.status === 'success'
  const paymentAmount = toWireAmount(order.paymentAmountMinor, order.currency)
  return {
    status: order.status,
    ...(order.transactionId !== undefined && { transactionId: order.transactionId }),
    msg: order.message ?? '',
    merchantId: order.merchantId,
    referOrderNo: order.orderNo,
    ...(isPaid && { payAmount: paymentAmount }),
    currency: order.currency,
    paymentTime: order.paymentTimeMs,
    ...(isPaid && order.completedAtMs !== undefined && { paidTime: order.completedAtMs }),
    paymentId: order.paymentId,
    orderNo: order.orderNo,
    paymentStatus: order.status,
    paymentAmount,
    refunds: [],
  }
}
