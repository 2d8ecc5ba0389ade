// Statuses of payment orders and refunds, and their transitions, as data: the gateway decides by these tables and the
// documentation is generated from them.

export const orderStatuses = {
  pending: {
    meaning: 'The order waits for the consumer to pay.',
    delivery: 'Response to create; query.',
  },
  confirming: {
    meaning: 'The consumer submitted the payment; the gateway is processing it.',
    delivery: 'Callback; query.',
  },
  success: { meaning: 'Paid.', delivery: 'Callback; query.' },
  failed: { meaning: 'The payment failed; `msg` has the reason.', delivery: 'Callback; query.' },
  timeout: { meaning: 'Not paid before paymentExpiryTime.', delivery: 'Callback; query.' },
  cancelled: {
    meaning: 'The merchant or the operator cancelled the order before it was paid.',
    delivery: 'Response to cancel, or callback if the operator cancelled; query.',
  },
} as const satisfies Record<string, { readonly meaning: string; readonly delivery: string }>

export type OrderStatus = keyof typeof orderStatuses

export const refundStatuses = {
  refunding: {
    meaning: 'The refund is accepted and being processed.',
    delivery: 'Response to refund; query.',
  },
  refund_success: { meaning: 'The money was returned to the consumer.', delivery: 'Callback; query.' },
  refund_failed: {
    meaning: 'The refund failed; `msg` has the reason. No money moved.',
    delivery: 'Callback; query.',
  },
} as const satisfies Record<string, { readonly meaning: string; readonly delivery: string }>

export type RefundStatus = keyof typeof refundStatuses

export const nextOrderStatuses = {
  pending: ['confirming', 'timeout', 'cancelled'],
  confirming: ['success', 'failed'],
  success: [],
  failed: [],
  timeout: [],
  cancelled: [],
} as const satisfies Record<OrderStatus, readonly OrderStatus[]>

export const nextRefundStatuses = {
  refunding: ['refund_success', 'refund_failed'],
  refund_success: [],
  refund_failed: [],
} as const satisfies Record<RefundStatus, readonly RefundStatus[]>

export function canOrderMove({ from, to }: { from: OrderStatus; to: OrderStatus }): boolean {
  return (nextOrderStatuses[from] as readonly OrderStatus[]).includes(to)
}

export function canRefundMove({ from, to }: { from: RefundStatus; to: RefundStatus }): boolean {
  return (nextRefundStatuses[from] as readonly RefundStatus[]).includes(to)
}

export function isFinalOrderStatus(status: OrderStatus): boolean {
  return nextOrderStatuses[status].length === 0
}

export function isFinalRefundStatus(status: RefundStatus): boolean {
  return nextRefundStatuses[status].length === 0
}
