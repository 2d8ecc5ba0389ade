// The row of an order, and the order from it.
import type { LinkUses, OrderStatus } from '@tillgate/protocol'
import type { Order } from '../rules/order.ts'

export interface OrderRow {
  merchant_id: string
  payment_id: string
  order_no: string
  status: OrderStatus
  channel: 'WEB' | 'APP'
  payment_amount_minor: string
  currency: string
  payment_time: string
  expires_at: string
  advanced_ms: string
  callback_url: string | null
  redirect_url: string | null
  cancel_url: string | null
  attach: string | null
  content: string
  content_hash: string | null
  created_at: string
  transaction_id: string | null
  wallet_id: string | null
  rail_id: string | null
  open_attempt: string | null
  completed_at: string | null
  message: string | null
  refunded_minor: string
  refund_held_minor: string
  disputed_minor: string
  link_id: string | null
  link_uses: LinkUses | null
  tops_up: string | null
  refund_count: number
  fee_minor: string | null
  returns_fee: boolean | null
  authorized_minor: string | null
  captured_minor: string
  held_until: string | null
}

export const orderColumns = `o.merchant_id, o.payment_id, o.order_no, o.status, o.channel, o.payment_amount_minor, o.currency,
       o.payment_time, o.expires_at, o.advanced_ms, o.callback_url, o.redirect_url, o.cancel_url, o.attach, o.content, o.content_hash,
       o.created_at,
       o.transaction_id, o.wallet_id, o.rail_id, o.open_attempt, o.completed_at, o.message, o.refunded_minor,
       o.refund_held_minor, o.disputed_minor, o.link_id, o.link_uses, o.tops_up, o.refund_count, o.fee_minor, o.returns_fee,
       o.authorized_minor, o.captured_minor, o.held_until`

export function toOrder(row: OrderRow): Order {
  return {
    merchantId: row.merchant_id,
    paymentId: row.payment_id,
    orderNo: row.order_no,
    status: row.status,
    channel: row.channel,
    paymentAmountMinor: BigInt(row.payment_amount_minor),
    currency: row.currency,
    paymentTimeMs: Number(row.payment_time),
    paymentExpiryTimeMs: Number(row.expires_at) + Number(row.advanced_ms),
    expiresAtMs: Number(row.expires_at),
    callbackUrl: row.callback_url ?? undefined,
    redirectUrl: row.redirect_url ?? undefined,
    cancelUrl: row.cancel_url ?? undefined,
    attach: row.attach ?? undefined,
    content: row.content,
    contentHash: row.content_hash ?? undefined,
    createdAtMs: Number(row.created_at),
    transactionId: row.transaction_id ?? undefined,
    walletId: row.wallet_id ?? undefined,
    railId: row.rail_id ?? undefined,
    openAttempt: row.open_attempt ?? undefined,
    completedAtMs: row.completed_at === null ? undefined : Number(row.completed_at),
    message: row.message ?? undefined,
    refundedMinor: BigInt(row.refunded_minor),
    refundHeldMinor: BigInt(row.refund_held_minor),
    disputedMinor: BigInt(row.disputed_minor),
    link:
      row.link_id === null || row.link_uses === null
        ? undefined
        : { linkId: row.link_id, uses: row.link_uses },
    topsUp: row.tops_up ?? undefined,
    refundCount: row.refund_count,
    fee: feeFrom(row),
    authorization:
      row.authorized_minor === null
        ? undefined
        : {
            authorizedMinor: BigInt(row.authorized_minor),
            capturedMinor: BigInt(row.captured_minor),
            heldUntilMs: row.held_until === null ? undefined : Number(row.held_until),
          },
  }
}

export function feeFrom({
  fee_minor,
  returns_fee,
}: Pick<OrderRow, 'fee_minor' | 'returns_fee'>): Order['fee'] {
  return fee_minor === null ? undefined : { amountMinor: BigInt(fee_minor), isReturned: returns_fee === true }
}
