// service.sandbox.advance: moves the gateway's times of one order into the past, so that expiry and the retry schedule
// can be watched in seconds. The merchant's own times and other orders do not change.
import { ignoring, parseSandboxAdvanceBody, type SandboxAnswer } from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { CurrentOrder } from '../core/orders/current-order.ts'
import type { ExplainMissingOrder } from '../core/orders/explain-missing-order.ts'
import type { OrderStore } from '../core/orders/store/orders.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import type { SandboxStore } from './store/sandbox.ts'

export function makeSandboxAdvance(parts: {
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  readonly sandbox: SandboxStore
  readonly clock: Clock
}) {
  const { orders, sandbox, clock } = parts
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxAnswer> => {
    const asked = parseSandboxAdvanceBody(body)
    const { paymentId, milliseconds } = asked
    const advanced = await sandbox.advanceOrder({ merchantId, paymentId, milliseconds })
    const order = advanced ? await orders.findOrder({ merchantId, paymentId }) : undefined
    if (!order) throw await parts.explainMissingOrder(merchantId, { field: 'paymentId', number: paymentId })
    const { status } = await parts.currentOrder(order, clock.now())
    return { paymentId, status, ...ignoring(asked) }
  }
}
