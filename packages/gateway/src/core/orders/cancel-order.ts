// service.trade.cancel: cancels an order that is not being paid.
import {
  type CancelAnswer,
  type Ignoring,
  ignoring,
  makeCallbackId,
  parseCancelBody,
} from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { CurrentOrder } from './current-order.ts'
import type { ExplainMissingOrder } from './explain-missing-order.ts'
import type { Order } from './rules/order.ts'
import { cancelOrder } from './rules/status-change.ts'
import type { OrderStore } from './store/orders.ts'

export interface CancelOrderParts extends ClockAndRandom {
  readonly orders: Pick<OrderStore, 'findOrder' | 'commitStatusChanges'>
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  /** Defaults to the merchant. */
  readonly by?: CancelledBy
}

type CancelledBy =
  | { readonly actor: 'merchant' }
  | { readonly actor: 'operator' | 'member'; readonly reason: string }

export function makeCancelOrder({
  orders,
  currentOrder,
  explainMissingOrder,
  clock,
  random,
  by = { actor: 'merchant' },
}: CancelOrderParts) {
  return async ({ merchantId }: Merchant, body: string): Promise<CancelAnswer> => {
    const asked = parseCancelBody(body)
    const { paymentId } = asked
    // A lost race leaves the order in a status with no way back, so this loop ends.
    for (;;) {
      const stored = await orders.findOrder({ merchantId, paymentId })
      if (!stored) throw await explainMissingOrder(merchantId, { field: 'paymentId', number: paymentId })
      const nowMs = clock.now()
      const order = await currentOrder(stored, nowMs)
      const change = cancelOrder(order, { nowMs, callbackId: makeCallbackId(nowMs, random), ...by })
      if (!change) return answer(order, asked)
      const [won] = await orders.commitStatusChanges([change])
      if (won) return answer(won.order, asked)
    }
  }
}

function answer({ paymentId, orderNo: referOrderNo }: Order, asked: Ignoring): CancelAnswer {
  return { paymentId, referOrderNo, status: 'cancelled', ...ignoring(asked) }
}
