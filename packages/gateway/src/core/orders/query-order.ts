// service.trade.query: an order and its refunds by paymentId, by orderNo after a lost response, or by refundId.
import {
  ignoring,
  parseQueryBody,
  type QueryAnswer,
  type QueryOrder,
  type RefundInQuery,
  toWireAmount,
} from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import { authorizedAmounts } from './captures/capture-order.ts'
import { type Capture, captureIdOf, captureStatusOf } from './captures/rules/capture.ts'
import type { CaptureStore } from './captures/store/captures.ts'
import type { CurrentOrder } from './current-order.ts'
import type { ExplainMissingOrder } from './explain-missing-order.ts'
import { walletRailId } from './payments/rules/rail.ts'
import type { Refund } from './refunds/rules/refund.ts'
import type { OrderWithRefunds, RefundStore } from './refunds/store/refunds.ts'
import type { Order } from './rules/order.ts'

export interface QueryOrderParts {
  readonly refunds: Pick<RefundStore, 'findOrderWithRefunds' | 'findOrderByNumberWithRefunds' | 'findRefund'>
  readonly captures: Pick<CaptureStore, 'listCaptures'>
  readonly currentOrder: CurrentOrder
  readonly explainMissingOrder: ExplainMissingOrder
  readonly clock: Clock
}

export function makeQueryOrder(parts: QueryOrderParts) {
  const { refunds: store, currentOrder, clock } = parts
  return async ({ merchantId }: Merchant, body: string): Promise<QueryAnswer> => {
    const query = parseQueryBody(body)
    const found = await find(merchantId, query)
    if (!found) throw await parts.explainMissingOrder(merchantId, query)
    const { order, refunds } = found
    const about =
      query.field === 'refundId' ? refunds.find(({ refundId }) => refundId === query.number) : refunds.at(-1)
    const current = await currentOrder(order, clock.now())
    return {
      ...queryAnswer({ order: current, refunds, captures: await capturesOf(order, parts.captures) }, about),
      ...ignoring(query),
    }
  }

  async function find(
    merchantId: string,
    { field, number }: QueryOrder,
  ): Promise<OrderWithRefunds | undefined> {
    switch (field) {
      case 'paymentId':
        return store.findOrderWithRefunds({ merchantId, paymentId: number })
      case 'orderNo':
        return store.findOrderByNumberWithRefunds({ merchantId, orderNo: number })
      case 'refundId': {
        const refund = await store.findRefund({ merchantId, refundId: number })
        return refund && store.findOrderWithRefunds(refund)
      }
    }
  }
}

/** For a refund, `status`, `msg` and `referOrderNo` describe the refund. */
export function queryAnswer(
  { order, refunds, captures }: OrderWithRefunds & { readonly captures: readonly Capture[] },
  about: Refund | undefined,
): QueryAnswer {
  const isPaid = order.status === 'success'
  const paymentAmount = toWireAmount(order.paymentAmountMinor, order.currency)
  return {
    status: about?.status ?? order.status,
    ...(order.transactionId !== undefined && { transactionId: order.transactionId }),
    msg: (about ?? order).message ?? '',
    merchantId: order.merchantId,
    referOrderNo: about?.referRefundNo ?? order.orderNo,
    ...(isPaid && { payAmount: paymentAmount }),
    ...(isPaid &&
      order.fee && {
        fee: toWireAmount(order.fee.amountMinor, order.currency),
        netAmount: toWireAmount(order.paymentAmountMinor - order.fee.amountMinor, order.currency),
      }),
    currency: order.currency,
    paymentTime: order.paymentTimeMs,
    ...(isPaid && order.completedAtMs !== undefined && { paidTime: order.completedAtMs }),
    paymentId: order.paymentId,
    orderNo: order.orderNo,
    paymentStatus: order.status,
    paymentAmount,
    ...(order.transactionId !== undefined && { payMethod: order.railId ?? walletRailId }),
    refunds: refunds.map(refundInQuery),
    ...(order.authorization && {
      authorization: {
        ...authorizedAmounts(order),
        ...(order.authorization.heldUntilMs !== undefined && { expiresAt: order.authorization.heldUntilMs }),
        captures: captures.map((capture) => ({
          referCaptureNo: capture.referCaptureNo,
          captureAmount: toWireAmount(capture.amountMinor, order.currency),
          transactionId: captureIdOf(order.transactionId ?? '', capture.ordinal),
          captureStatus: captureStatusOf(capture),
          ...(capture.capturedAtMs !== undefined && { captureTime: capture.capturedAtMs }),
          ...(capture.failure !== undefined && { msg: capture.failure }),
        })),
      },
    }),
    ...(order.attach !== undefined && { attach: order.attach }),
  }
}

/** One query for a whole page, and none for orders without captures. */
export async function capturesOf(
  order: Order,
  { listCaptures }: Pick<CaptureStore, 'listCaptures'>,
): Promise<readonly Capture[]> {
  return order.authorization?.heldUntilMs !== undefined ? listCaptures(order) : []
}

function refundInQuery(refund: Refund): RefundInQuery {
  return {
    refundId: refund.refundId,
    referRefundNo: refund.referRefundNo,
    refundAmount: toWireAmount(refund.amountMinor, refund.currency),
    status: refund.status,
    refundTime: refund.createdAtMs,
    ...(refund.completedAtMs !== undefined && { completeTime: refund.completedAtMs }),
    ...(refund.transactionId !== undefined && { transactionId: refund.transactionId }),
    msg: refund.message ?? '',
  }
}
