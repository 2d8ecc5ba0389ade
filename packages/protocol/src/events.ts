// The events that callbacks report, with their statuses. A status without an event is never reported by callback, and
// neither is a cancel by the merchant.
import type { DisputeStatus } from './rail/disputes.ts'
import type { OrderStatus, RefundStatus } from './statuses.ts'

export const orderEvents = {
  'payment.order.confirming': {
    statuses: ['confirming'],
    meaning: 'The consumer submitted the payment; it is being processed.',
  },
  'payment.order.timeout': { statuses: ['timeout'], meaning: 'The order was not paid in time.' },
  'payment.order.success': { statuses: ['success'], meaning: 'The order is paid.' },
  'payment.order.failed': {
    statuses: ['failed', 'cancelled'],
    meaning:
      'The payment failed, or the gateway’s operator cancelled the order; `status` says which, `msg` has the reason.',
  },
} as const satisfies Record<string, { readonly statuses: readonly OrderStatus[]; readonly meaning: string }>

export const refundEvents = {
  'payment.refund.success': { statuses: ['refund_success'], meaning: 'The refund is complete.' },
  'payment.refund.failed': {
    statuses: ['refund_failed'],
    meaning: 'The refund failed; `msg` has the reason.',
  },
} as const satisfies Record<string, { readonly statuses: readonly RefundStatus[]; readonly meaning: string }>

/** Sent only to webhook endpoints that select them, never to a callbackUrl. */
export const disputeEvents = {
  'payment.dispute.opened': {
    statuses: ['open'],
    meaning: 'The consumer’s bank took a payment back; the amount left the merchant’s balance.',
  },
  'payment.dispute.won': { statuses: ['won'], meaning: 'The dispute was won; the amount was returned.' },
  'payment.dispute.lost': { statuses: ['lost'], meaning: 'The dispute was lost.' },
} as const satisfies Record<string, { readonly statuses: readonly DisputeStatus[]; readonly meaning: string }>

export type OrderEventName = keyof typeof orderEvents
export type RefundEventName = keyof typeof refundEvents
export type EventName = OrderEventName | RefundEventName
export type DisputeEventName = keyof typeof disputeEvents
export type WebhookEventName = EventName | DisputeEventName

export const eventNames: readonly EventName[] = [
  ...(Object.keys(orderEvents) as OrderEventName[]),
  ...(Object.keys(refundEvents) as RefundEventName[]),
]

export const webhookEventNames: readonly WebhookEventName[] = [
  ...eventNames,
  ...(Object.keys(disputeEvents) as DisputeEventName[]),
]

const eventByStatus: ReadonlyMap<string, EventName> = new Map(
  Object.entries({ ...orderEvents, ...refundEvents }).flatMap(([name, { statuses }]) =>
    statuses.map((status) => [status, name as EventName] as const),
  ),
)

/** The event that reports a change to this status; undefined for pending and refunding. */
export function eventOfStatus(status: OrderStatus | RefundStatus): EventName | undefined {
  return eventByStatus.get(status)
}

export function isEventName(name: string): name is EventName {
  return isOrderEventName(name) || isRefundEventName(name)
}

export function isDisputeEventName(name: string): name is DisputeEventName {
  return Object.hasOwn(disputeEvents, name)
}

export function isOrderEventName(name: string): name is OrderEventName {
  return Object.hasOwn(orderEvents, name)
}

export function isRefundEventName(name: string): name is RefundEventName {
  return Object.hasOwn(refundEvents, name)
}
