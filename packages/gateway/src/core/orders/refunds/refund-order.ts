// service.trade.refund: refunds a payment fully or partially, once per referRefundNo.
import {
  Failure,
  type Ignoring,
  ignoring,
  makeRefundId,
  makeTransactionId,
  parseRefundBody,
  type RandomBytes,
  type RefundAnswer,
  toPositiveMinorUnits,
  toWireAmount,
} from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { CurrentOrder } from '../current-order.ts'
import type { ExplainMissingOrder } from '../explain-missing-order.ts'
import type { Order } from '../rules/order.ts'
import type { OrderStore } from '../store/orders.ts'
import { differingRefundField, type Refund, requestRefund } from './rules/refund.ts'
import type { RefundStore } from './store/refunds.ts'

export interface RefundOrderParts {
  readonly orders: Pick<OrderStore, 'findOrder'>
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  readonly refunds: Pick<RefundStore, 'findRefundByNumber' | 'insertRefund'>
  readonly clock: Clock
  readonly random: RandomBytes
  /** Throws if this total needs an approval. */
  readonly check?: (order: Order, amountMinor: bigint) => void
}

/** Each lost race is another committed refund of this order, so tries are bounded. */
const maxTries = 100

export function makeRefundOrder(parts: RefundOrderParts) {
  const { orders, refunds, clock, random } = parts
  return async ({ merchantId }: Merchant, body: string): Promise<RefundAnswer> => {
    const wanted = parseRefundBody(body)
    const { paymentId, referRefundNo, refundAmount, refundReason: reason } = wanted
    for (let tries = 0; tries < maxTries; tries++) {
      const nowMs = clock.now()
      // Reads the refund first; the unique key catches one inserted later.
      const earlier = await refunds.findRefundByNumber({ merchantId, referRefundNo })
      const order = await orders.findOrder({ merchantId, paymentId })
      if (!order) throw await parts.explainMissingOrder(merchantId, { field: 'paymentId', number: paymentId })
      const amountMinor = toPositiveMinorUnits(refundAmount, order.currency, 'refundAmount')
      const asked = { paymentId, referRefundNo, amountMinor, reason }
      if (earlier) return answer(sameRefund(earlier, asked), wanted)
      const current = await parts.currentOrder(order, nowMs)
      const request = requestRefund(current, asked, {
        refundId: makeRefundId(nowMs, random),
        transactionId: makeTransactionId(nowMs, random),
        nowMs,
      })
      parts.check?.(current, amountMinor)
      const outcome = await refunds.insertRefund(request)
      if (outcome.kind === 'made') return answer(outcome.refund, wanted)
    }
    throw new Failure('unavailable', { retryAfterSeconds: 1 })
  }
}

function sameRefund(earlier: Refund, asked: Parameters<typeof differingRefundField>[1]): Refund {
  const field = differingRefundField(earlier, asked)
  if (field === undefined) return earlier
  throw new Failure('number_already_used', {
    field,
    message: `referRefundNo ${asked.referRefundNo} was already used for a refund with another ${field}. Repeat that refund as it was, or use a new referRefundNo.`,
  })
}

function answer(refund: Refund, wanted: Ignoring): RefundAnswer {
  return {
    refundId: refund.refundId,
    paymentId: refund.paymentId,
    referRefundNo: refund.referRefundNo,
    refundAmount: toWireAmount(refund.amountMinor, refund.currency),
    currency: refund.currency,
    status: refund.status,
    ...ignoring(wanted),
  }
}
