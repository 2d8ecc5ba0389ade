// Callbacks: a row of history for each, and a row in the small queue of those still to be delivered. Both are
// written in the transaction that makes the event true; who waits for callbacks is told once it has committed.

import type { Pool, Queryable } from '../../database/pool.ts'
import { hostOf } from '../../platform/ssrf-guard.ts'
import type { Callback } from '../rules/callback.ts'
import type { Lane } from '../rules/delivery-lanes.ts'

/** A commit queued callbacks in these lanes. A hint that saves the waiting: what is never told is found by looking. */
export type OnQueued = (lanes: readonly Lane[]) => void

/** Answers in which lanes they are queued. */
export async function insertCallbacks(
  transaction: Queryable,
  callbacks: readonly Callback[],
): Promise<readonly Lane[]> {
  if (callbacks.length === 0) return []
  const callbackIds = callbacks.map(({ callbackId }) => callbackId)
  const merchantIds = callbacks.map(({ merchantId }) => merchantId)
  const hosts = callbacks.map(({ callbackUrl }) => hostOf(callbackUrl))
  const createdAts = callbacks.map(({ createdAtMs }) => createdAtMs)
  await transaction.query({
    name: 'insert-callbacks',
    text: `
insert into callbacks (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body,
                       created_at, next_attempt_at)
select *, c.created_at
  from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::bigint[])
    as c (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body, created_at)`,
    values: [
      merchantIds,
      callbackIds,
      callbacks.map(({ paymentId }) => paymentId),
      callbacks.map(({ refundId }) => refundId ?? ''),
      callbacks.map(({ eventName }) => eventName),
      callbacks.map(({ callbackUrl }) => callbackUrl),
      hosts,
      callbacks.map(({ body }) => body),
      createdAts,
    ],
  })
  await transaction.query({
    name: 'queue-callbacks',
    text: `
insert into callback_queue (callback_id, merchant_id, host, due_at)
select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])`,
    values: [callbackIds, merchantIds, hosts, createdAts],
  })
  return callbacks.map(({ merchantId }, index) => ({ merchantId, host: hosts[index] ?? '' }))
}

/** Commits the work, and tells afterwards in which lanes it queued callbacks. */
export async function commitQueueing<Result>(
  database: Pool,
  onQueued: OnQueued,
  work: (transaction: Queryable) => Promise<{ readonly result: Result; readonly queued: readonly Lane[] }>,
): Promise<Result> {
  const { result, queued } = await database.transaction(work)
  if (queued.length > 0) onQueued(queued)
  return result
}
