// A sample event for trying a webhook endpoint: it has the shape of a real one, about a payment that does not exist.
import {
  type DisputeEventName,
  type DisputeResult,
  disputeEvents,
  isDisputeEventName,
  isRefundEventName,
  makeDisputeId,
  makePaymentId,
  makeRefundId,
  makeTransactionId,
  type OrderEventName,
  orderEvents,
  type PaymentResult,
  type RandomBytes,
  type RefundEventName,
  type RefundResult,
  refundEvents,
  toWireAmount,
  type WebhookEventName,
} from '@tillgate/protocol'

interface TestEvent<Name extends WebhookEventName = WebhookEventName> {
  readonly merchantId: string
  readonly eventName: Name
  readonly nowMs: number
  readonly random: RandomBytes
}

const minuteMs = 60_000
const amountMinor = 1_250n
const currency = 'EUR'
/** Recognizable in the receiver's log. */
const number = 'test-event'

/** The body of the callback as JSON text. */
export function testEventBody({ eventName, ...rest }: TestEvent): string {
  if (isDisputeEventName(eventName)) return JSON.stringify(sampleDispute({ ...rest, eventName }))
  return JSON.stringify(
    isRefundEventName(eventName)
      ? sampleRefund({ ...rest, eventName })
      : samplePayment({ ...rest, eventName }),
  )
}

function samplePayment({ merchantId, eventName, nowMs, random }: TestEvent<OrderEventName>): PaymentResult {
  const [status] = orderEvents[eventName].statuses
  return {
    merchantId,
    paymentId: makePaymentId(nowMs, random),
    referOrderNo: number,
    outOrderNo: number,
    ...(status !== 'timeout' && { transactionId: makeTransactionId(nowMs, random) }),
    paymentAmount: toWireAmount(amountMinor, currency),
    currency,
    paymentTime: nowMs - minuteMs,
    ...(status !== 'confirming' && { completeTime: nowMs }),
    ...(status === 'success' && { paidTime: nowMs }),
    status,
    msg: status === 'failed' ? 'Test event' : '',
  }
}

function sampleRefund({ merchantId, eventName, nowMs, random }: TestEvent<RefundEventName>): RefundResult {
  const [status] = refundEvents[eventName].statuses
  return {
    merchantId,
    refundId: makeRefundId(nowMs, random),
    paymentId: makePaymentId(nowMs - minuteMs, random),
    referRefundNo: number,
    transactionId: makeTransactionId(nowMs, random),
    refundAmount: toWireAmount(amountMinor, currency),
    currency,
    refundTime: nowMs - minuteMs,
    completeTime: nowMs,
    status,
    msg: status === 'refund_failed' ? 'Test event' : '',
  }
}

function sampleDispute({ merchantId, eventName, nowMs, random }: TestEvent<DisputeEventName>): DisputeResult {
  const [status] = disputeEvents[eventName].statuses
  return {
    merchantId,
    disputeId: makeDisputeId(nowMs, random),
    paymentId: makePaymentId(nowMs - minuteMs, random),
    referOrderNo: number,
    disputeAmount: toWireAmount(amountMinor, currency),
    currency,
    status,
    reason: 'not_received',
    openedTime: nowMs - minuteMs,
    ...(status === 'open' ? { respondBy: nowMs + 7 * 24 * 60 * minuteMs } : { completeTime: nowMs }),
  }
}
