// Orders of the past and their callbacks, put straight into the tables many at a time: for pages that are about a week,
// or about a million. No money moved for them.
import { randomBytes } from 'node:crypto'
import {
  type EventName,
  makeCallbackId,
  makePaymentId,
  makeTransactionId,
  type OrderStatus,
} from '@tillgate/protocol'
import type { Pool } from '../../src/platform/database/pool.ts'

export interface PastOrder {
  readonly merchantId: string
  readonly createdAtMs: number
  readonly status: OrderStatus
  readonly currency?: string
  readonly amountMinor?: bigint
  /** From creation to its end. */
  readonly tookMs?: number
  readonly callback?: PastCallback
}

export interface PastCallback {
  readonly eventName?: EventName
  readonly host?: string
  /** Undefined: it waits, beside the queue. */
  readonly deliveredAfterMs?: number
  readonly isExhausted?: boolean
}

/** Their paymentIds, in the same order. */
export async function insertPastOrders(pool: Pool, orders: readonly PastOrder[]): Promise<string[]> {
  const rows = orders.map((order) => {
    const { merchantId, createdAtMs, status, currency = 'USD', amountMinor = 1250n, tookMs = 20_000 } = order
    const isPaid = ['success', 'failed', 'confirming'].includes(status)
    return {
      merchantId,
      paymentId: makePaymentId(createdAtMs, randomBytes),
      status,
      createdAtMs,
      currency,
      amountMinor,
      transactionId: isPaid ? makeTransactionId(createdAtMs, randomBytes) : null,
      completedAtMs: ['pending', 'confirming'].includes(status) ? null : createdAtMs + tookMs,
    }
  })
  const column = <K extends keyof (typeof rows)[number]>(name: K) => rows.map((row) => row[name])
  await pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency,
                         payment_time, expires_at, content, created_at, transaction_id, wallet_id,
                         completed_at)
     select m, p, 'order-' || p, s, 'WEB', a, c, t + 86400000, t + 2 * 86400000, $9, t, x,
            case when x is not null then 'a wallet' end, e
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::text[], $8::bigint[])
         as o (m, p, s, t, c, a, x, e)`,
    [
      column('merchantId'),
      column('paymentId'),
      column('status'),
      column('createdAtMs'),
      column('currency'),
      column('amountMinor'),
      column('transactionId'),
      column('completedAtMs'),
      JSON.stringify({
        orderNo: 'x',
        orderAmountMinor: '1250',
        goods: [{ goodsName: 'Tea', goodsQuantity: 1 }],
      }),
    ],
  )
  await insertCallbacks(pool, orders, column('paymentId'))
  return column('paymentId')
}

async function insertCallbacks(
  pool: Pool,
  orders: readonly PastOrder[],
  paymentIds: readonly string[],
): Promise<void> {
  const told = orders.flatMap(({ merchantId, createdAtMs, tookMs = 20_000, callback }, index) => {
    if (!callback) return []
    const madeAtMs = createdAtMs + tookMs
    const {
      eventName = 'payment.order.success',
      host = 'shop.example',
      deliveredAfterMs,
      isExhausted,
    } = callback
    return [
      {
        merchantId,
        callbackId: makeCallbackId(madeAtMs, randomBytes),
        paymentId: paymentIds[index],
        eventName,
        host,
        madeAtMs,
        deliveredAtMs: deliveredAfterMs === undefined ? null : madeAtMs + deliveredAfterMs,
        exhaustedAtMs: isExhausted ? madeAtMs : null,
      },
    ]
  })
  if (told.length === 0) return
  const column = <K extends keyof (typeof told)[number]>(name: K) => told.map((row) => row[name])
  await pool.query(
    `insert into callbacks (merchant_id, callback_id, payment_id, event_name, callback_url, host, body, created_at,
                            attempts_made, first_attempt_at, last_attempt_at, last_outcome, last_http_status,
                            delivered_at, exhausted_at)
     select m, c, p, e, 'https://' || h || '/callbacks', h, '{}', t, 1, t, coalesce(d, x, t),
            case when d is null then 'refused' else 'acknowledged' end, case when d is null then 503 else 200 end, d, x
       from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
         as o (m, c, p, e, h, t, d, x)`,
    [
      column('merchantId'),
      column('callbackId'),
      column('paymentId'),
      column('eventName'),
      column('host'),
      column('madeAtMs'),
      column('deliveredAtMs'),
      column('exhaustedAtMs'),
    ],
  )
}
