// Callbacks: a row of history for each, and a row in the small queue of those still to be delivered. Both are
// written in the transaction that makes the event true.

import type { Queryable } from '../database/pool.ts'
import type { Callback } from '../domain/callback.ts'

export async function insertCallbacks(transaction: Queryable, callbacks: readonly Callback[]): Promise<void> {
  if (callbacks.length === 0) return
  const callbackIds = callbacks.map(({ callbackId }) => callbackId)
  const merchantIds = callbacks.map(({ merchantId }) => merchantId)
  const createdAts = callbacks.map(({ createdAtMs }) => createdAtMs)
  await transaction.query({
    name: 'insert-callbacks',
    text: `
insert into callbacks (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, body, created_at)
select *
  from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])`,
    values: [
      merchantIds,
      callbackIds,
      callbacks.map(({ paymentId }) => paymentId),
      callbacks.map(({ refundId }) => refundId ?? ''),
      callbacks.map(({ eventName }) => eventName),
      callbacks.map(({ callbackUrl }) => callbackUrl),
      callbacks.map(({ body }) => body),
      createdAts,
    ],
  })
  await transaction.query({
    name: 'queue-callbacks',
    text: `
insert into callback_queue (callback_id, merchant_id, host, due_at)
select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])`,
    values: [
      callbackIds,
      merchantIds,
      callbacks.map(({ callbackUrl }) => new URL(callbackUrl).host),
      createdAts,
    ],
  })
}
