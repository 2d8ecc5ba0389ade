// Callbacks: a history row for each, and a queue row until it is delivered. Both are written in the transaction of
// the event.

import type { Queryable } from '../../../platform/database/pool.ts'
import { columnsOf } from '../../../platform/database/sql.ts'
import type { Change } from '../../changes/rules/change.ts'
import { insertEvents } from '../events/store/events.ts'
import type { Callback } from '../rules/callback.ts'
import type { Lane } from '../rules/delivery-lanes.ts'
import {
  type AddressedCallback,
  type ListeningEndpoint,
  toEndpoints,
  toOwnAddress,
} from '../rules/endpoint.ts'
import { destinationIdOf } from './destination-id.ts'

/**
 * Writes one callback for the order's callbackUrl, one per webhook endpoint that wants the event, and the event for
 * the operator's feed if it is on. The queueing statement also reads the endpoints, so merchants without endpoints
 * pay no extra round trip. Returns the queued lanes.
 */
export async function insertCallbacks(
  transaction: Queryable,
  callbacks: readonly Callback[],
): Promise<readonly Lane[]> {
  if (callbacks.length === 0) return []
  const own = callbacks.flatMap((callback) => toOwnAddress(callback) ?? [])
  await writeCallbacks(transaction, own)
  const { endpoints, isFeedKept } = await queueCallbacks(transaction, own, callbacks)
  if (isFeedKept) await insertEvents(transaction, callbacks)
  const others = toEndpoints(callbacks, endpoints)
  if (others.length > 0) {
    await writeCallbacks(transaction, others)
    await queueCallbacks(transaction, others, [])
  }
  return [...own, ...others].map(laneOf)
}

function laneOf(callback: AddressedCallback): Lane {
  const { merchantId, host } = callback
  return { merchantId, host, destinationId: destinationIdOf(callback) }
}

async function writeCallbacks(
  transaction: Queryable,
  callbacks: readonly AddressedCallback[],
): Promise<void> {
  if (callbacks.length === 0) return
  await transaction.query({
    name: 'insert-callbacks',
    text: `
insert into callbacks (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body,
                       created_at, endpoint_id, next_attempt_at)
select *, c.created_at
  from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::bigint[], $10::text[])
    as c (merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body, created_at, endpoint_id)`,
    values: columnsOf(
      callbacks.map((each) => ({ ...each, refundId: each.refundId ?? '' })),
      ...(['merchantId', 'callbackId', 'paymentId', 'refundId', 'eventName'] as const),
      ...(['callbackUrl', 'host', 'body', 'createdAtMs', 'endpointId'] as const),
    ),
  })
}

/** Returns the subscribers of `events`, including paused endpoints, whose callbacks wait. */
async function queueCallbacks(
  transaction: Queryable,
  callbacks: readonly AddressedCallback[],
  events: readonly Callback[],
): Promise<Listeners> {
  const { rows } = await transaction.query<ListeningRow>({
    name: 'queue-callbacks',
    text: `
with queued as (
  insert into callback_queue (callback_id, merchant_id, host, due_at, endpoint_id, destination_id)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $7::uuid[])
)
select merchant_id, endpoint_id, url, host, events
  from callback_endpoints
 where merchant_id = any ($6::text[]) and removed_at is null
 union all
select null, null, null, null, null from event_feed where is_kept
 order by endpoint_id`,
    values: [
      ...columnsOf(callbacks, 'callbackId', 'merchantId', 'host', 'createdAtMs', 'endpointId'),
      events.map(({ merchantId }) => merchantId),
      callbacks.map(destinationIdOf),
    ],
  })
  const listening = rows.filter((row): row is EndpointRow => row.merchant_id !== null)
  return {
    endpoints: listening.map(({ merchant_id, endpoint_id, ...row }) => ({
      ...row,
      merchantId: merchant_id,
      endpointId: endpoint_id,
      events: row.events ?? undefined,
    })),
    isFeedKept: listening.length < rows.length,
  }
}

interface Listeners {
  readonly endpoints: readonly ListeningEndpoint[]
  readonly isFeedKept: boolean
}

/** The row without a merchant is the feed. */
type ListeningRow = EndpointRow | { merchant_id: null }

interface EndpointRow extends Pick<ListeningEndpoint, 'url' | 'host'> {
  merchant_id: string
  endpoint_id: string
  events: NonNullable<ListeningEndpoint['events']> | null
}

export function callbacksQueued(lanes: readonly Lane[]): readonly Change[] {
  return lanes.length === 0 ? [] : [{ kind: 'callbacks', lanes }]
}
