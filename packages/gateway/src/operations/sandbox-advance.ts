// service.sandbox.advance: moves all times of one order into the past, so that expiry and the ladder of retries can be
// watched in seconds. No other order notices.
import { Failure, parseSandboxAdvanceBody, type SandboxAnswer } from '@tillgate/protocol'
import type { Clock } from '../clock.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Order } from '../domain/order.ts'
import type { OrderStore } from '../store/orders.ts'
import type { SandboxStore } from '../store/sandbox.ts'
import type { CurrentOrder } from './current-order.ts'

export function makeSandboxAdvance(parts: {
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly sandbox: SandboxStore
  readonly clock: Clock
  /** Something of this order may be due now. */
  readonly onAdvanced: (order: Order) => void
}) {
  const { orders, sandbox, clock } = parts
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxAnswer> => {
    const { paymentId, milliseconds } = parseSandboxAdvanceBody(body)
    const advanced = await sandbox.advanceOrder({ merchantId, paymentId, milliseconds })
    const order = advanced ? await orders.findOrder({ merchantId, paymentId }) : undefined
    if (!order) throw new Failure('order_not_found')
    parts.onAdvanced(order)
    return { paymentId, status: (await parts.currentOrder(order, clock.now())).status }
  }
}
