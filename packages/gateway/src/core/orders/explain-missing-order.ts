// The error for a number that names no order of the merchant. The usual mistake is a number of another kind, so this
// looks it up and names the number to send. Another merchant's numbers are never found.
import {
  Failure,
  paymentIdPattern,
  type QueryOrder,
  refundIdPattern,
  transactionIdPattern,
} from '@tillgate/protocol'
import type { RefundStore } from './refunds/store/refunds.ts'
import type { OrderStore } from './store/orders.ts'

export interface ExplainMissingOrderParts {
  readonly orders: Pick<OrderStore, 'findOrder' | 'findOrderByNumber'>
  readonly refunds: Pick<RefundStore, 'findRefund' | 'findRefundByNumber'>
}

type AskedNumber = Pick<QueryOrder, 'field' | 'number'>

/** A number of the merchant, found as another kind than it was sent as. */
interface Meant {
  readonly kind: string
  readonly paymentId: string
  readonly refundId?: string
}

export type ExplainMissingOrder = ReturnType<typeof makeExplainMissingOrder>

export function makeExplainMissingOrder({ orders, refunds }: ExplainMissingOrderParts) {
  return async (merchantId: string, { field, number }: AskedNumber): Promise<Failure> => {
    // Numbers of the right form get one error, so that another merchant's number is not distinguished from an unknown one.
    if (field !== 'orderNo' && forms[field].pattern.test(number))
      return new Failure('order_not_found', { field, message: elsewhere(field) })
    const meant = await find(merchantId, number)
    const message = meant ? misplaced({ field, number }, meant) : unknown({ field, number })
    return new Failure('order_not_found', { field, message })
  }

  async function find(merchantId: string, number: string): Promise<Meant | undefined> {
    const byPaymentId = paymentIdPattern.test(number)
      ? await orders.findOrder({ merchantId, paymentId: number })
      : undefined
    if (byPaymentId) return { kind: 'a paymentId', paymentId: number }
    const byRefundId = refundIdPattern.test(number)
      ? await refunds.findRefund({ merchantId, refundId: number })
      : undefined
    if (byRefundId) return { kind: 'a refundId', paymentId: byRefundId.paymentId, refundId: number }
    const byOrderNo = await orders.findOrderByNumber({ merchantId, orderNo: number })
    if (byOrderNo) return { kind: 'your orderNo', paymentId: byOrderNo.paymentId }
    const byRefundNo = await refunds.findRefundByNumber({ merchantId, referRefundNo: number })
    if (!byRefundNo) return undefined
    const { paymentId, refundId } = byRefundNo
    return { kind: 'your referRefundNo', paymentId, refundId }
  }
}

function misplaced({ field, number }: AskedNumber, { kind, paymentId, refundId }: Meant): string {
  const isRefundAsked = field === 'refundId' && refundId !== undefined
  const right = isRefundAsked ? `refundId ${refundId}` : `paymentId ${paymentId}`
  return `${field} ${number} is ${kind}. Send ${right} instead.`
}

const forms = {
  paymentId: { pattern: paymentIdPattern, text: 'P and 26 more characters, as create returned it' },
  refundId: { pattern: refundIdPattern, text: 'R and 26 more characters, as refund returned it' },
} as const

function elsewhere(field: AskedNumber['field']): string {
  return `You have no payment order with this ${field}. Check that it came from this gateway, for this merchantId.`
}

function unknown({ field, number }: AskedNumber): string {
  if (field === 'orderNo') return `You have no payment order with the orderNo ${number}.`
  const found = transactionIdPattern.test(number) ? ' This number is a transactionId.' : ''
  return `You have no payment order with the ${field} ${number}.${found} A ${field} is ${forms[field].text}.`
}
