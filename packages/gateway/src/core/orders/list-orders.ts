// service.order.list: a merchant's orders, newest first, in pages.
import { ignoring, type OrderListAnswer, parseOrderListBody } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { CaptureStore } from './captures/store/captures.ts'
import type { CurrentOrder } from './current-order.ts'
import { capturesOf, queryAnswer } from './query-order.ts'
import type { RefundStore } from './refunds/store/refunds.ts'

export interface ListOrdersParts {
  readonly refunds: Pick<RefundStore, 'listOrdersWithRefunds'>
  readonly captures: Pick<CaptureStore, 'listCaptures'>
  readonly currentOrder: CurrentOrder
  readonly clock: Clock
}

export function makeListOrders({ refunds: store, captures, currentOrder, clock }: ListOrdersParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<OrderListAnswer> => {
    const asked = parseOrderListBody(body)
    const { found, next } = await store.listOrdersWithRefunds(merchantId, asked)
    const nowMs = clock.now()
    const orders = await Promise.all(
      found.map(async ({ order, refunds }) =>
        queryAnswer(
          { order: await currentOrder(order, nowMs), refunds, captures: await capturesOf(order, captures) },
          refunds.at(-1),
        ),
      ),
    )
    return {
      // An order read as pending may have expired meanwhile.
      orders: orders.filter(({ paymentStatus }) => paymentStatus === (asked.status ?? paymentStatus)),
      ...(next !== undefined && { cursor: next }),
      ...ignoring(asked),
    }
  }
}
