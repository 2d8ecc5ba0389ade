// Refunds: full or partial, several for one payment.
import {
  isFinalRefundStatus,
  type RefundAnswer,
  type RefundInQuery,
  type RefundOrder,
} from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import type { Caller } from './call.ts'
import { UnexpectedAnswerError } from './errors.ts'
import type { CallOptions, Settings } from './options.ts'
import type { Orders } from './orders.ts'
import { pollUntil, type WaitOptions } from './poll.ts'
import { serialise } from './serialise.ts'

/** The amount is a number or a decimal string, sent unchanged and never rounded. */
export type NewRefund = RefundOrder

export interface Refunds {
  /**
   * Refunds a payment. The response has the status `refunding`; the result arrives by callback, or from
   * `waitUntilFinal`. The same `referRefundNo` with the same content returns the existing refund, so repeating is safe.
   *
   * @example
   * const { refundId } = await tillgate.refunds.create({
   *   paymentId,
   *   referRefundNo: 'A-1001-R1',
   *   refundAmount: '5.00',
   *   refundReason: 'one shirt came back',
   * })
   */
  create(refund: NewRefund, options?: CallOptions): Promise<RefundAnswer>

  /**
   * One refund's current state.
   *
   * @example
   * const { status } = await tillgate.refunds.query(refundId)
   */
  query(refundId: string, options?: CallOptions): Promise<RefundInQuery>

  /**
   * Queries until the refund has ended: `refund_success`, or `refund_failed` with the reason in `msg`.
   *
   * @example
   * const { status, msg } = await tillgate.refunds.waitUntilFinal(refundId)
   */
  waitUntilFinal(refundId: string, options?: WaitOptions): Promise<RefundInQuery>
}

export function makeRefunds({ call }: Caller, orders: Orders, settings: Settings): Refunds {
  const query: Refunds['query'] = async (refundId, options) => {
    const { refunds } = await orders.query({ refundId }, options)
    const refund = refunds?.find((each) => each.refundId === refundId)
    if (!refund) throw new UnexpectedAnswerError('The gateway answered a query without the refund asked for.')
    return refund
  }
  return {
    async create(refund, options) {
      const data = await call('service.trade.refund', () => serialise(refund), options)
      return expectTexts<RefundAnswer>(data, ['refundId', 'paymentId', 'status'])
    },
    query,
    waitUntilFinal: (refundId, options) =>
      pollUntil(
        async (callOptions) => {
          const refund = await query(refundId, callOptions)
          return { value: refund, isFinal: isFinalRefundStatus(refund.status), status: refund.status }
        },
        settings,
        options,
      ),
  }
}
