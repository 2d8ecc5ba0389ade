// What must be true of callbacks at the end: each event has exactly one, each was delivered or is exhausted by the ladder,
// and what reached a merchant was its own, under one id, as it was written.

import { maxRetries } from '../../../packages/gateway/src/core/callbacks/rules/retry-schedule.ts'
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import type { Arrival, SimulatedNetwork } from '../network.ts'

interface CallbackRow {
  merchant_id: string
  callback_id: string
  event_name: string
  callback_url: string
  host: string
  body: string
  delivered_at: string | null
  exhausted_at: string | null
  attempts_made: number
  attempts: string
  ladder_attempts: string
}

export async function checkCallbacks({
  pool,
  network,
}: {
  pool: Pool
  network: SimulatedNetwork
}): Promise<string[]> {
  const { rows } = await pool.query<CallbackRow>(`
select c.*, a.attempts, a.ladder_attempts
  from callbacks_with_progress c
 cross join lateral (select count(*) as attempts, count(*) filter (where not is_resend) as ladder_attempts
                       from callback_attempts a
                      where a.merchant_id = c.merchant_id and a.callback_id = c.callback_id) as a`)
  const callbacks = new Map(rows.map((row) => [row.callback_id, row]))
  const acknowledged = new Set(
    network.arrivals.filter(({ isAcknowledged }) => isAcknowledged).map(({ callbackId }) => callbackId),
  )
  return [
    ...(await checkEvents(pool)),
    ...rows.flatMap((row) => checkEnd(row, acknowledged.has(row.callback_id), network)),
    ...network.arrivals.flatMap((arrival) => checkArrival(arrival, callbacks.get(arrival.callbackId))),
  ]
}

/**
 * Every change that is an event has its callback, one for each endpoint that wants it, and there is no other. Endpoints
 * are there before the first order, whatever the clocks said then: they jump.
 */
export async function checkEvents(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(`
with events as (
  select h.merchant_id, h.payment_id, '' as refund_id, o.callback_url,
         'payment.order.' || replace(h.to_status, 'cancelled', 'failed') as event_name
    from order_history h join orders o using (merchant_id, payment_id)
   where h.to_status <> 'cancelled' or h.actor <> 'merchant'
   union all
  select r.merchant_id, r.payment_id, r.refund_id, o.callback_url, 'payment.refund.' || substr(r.status, 8)
    from refunds r join orders o using (merchant_id, payment_id)
   where r.status <> 'refunding'
), expected as (
  select merchant_id, payment_id, refund_id, event_name, '' as endpoint_id from events where callback_url is not null
   union all
  select v.merchant_id, v.payment_id, v.refund_id, v.event_name, n.endpoint_id
    from events v join callback_endpoints n using (merchant_id)
   where n.events is null or v.event_name = any (n.events)
)
select coalesce(e.payment_id, c.payment_id) || ' ' || coalesce(e.event_name, c.event_name) || ': ' ||
       case when c.payment_id is null then 'the event has no callback' else 'the callback has no event' end ||
       case when coalesce(e.endpoint_id, c.endpoint_id) = '' then '' else ' for its endpoint' end as what
  from expected e
  full join callbacks_with_progress c using (merchant_id, payment_id, refund_id, event_name, endpoint_id)
 where e.payment_id is null or c.payment_id is null`)
  return rows.map(({ what }) => what)
}

function checkEnd(row: CallbackRow, isAcknowledged: boolean, network: SimulatedNetwork): string[] {
  const name = `callback ${row.callback_id} (${row.event_name}, ${network.mannerOf(row.host)})`
  const isDelivered = row.delivered_at !== null
  const violations: string[] = []
  if (isDelivered === (row.exhausted_at !== null))
    violations.push(`${name} is neither delivered nor exhausted`)
  if (isDelivered && !isAcknowledged) violations.push(`${name} is delivered, and nobody acknowledged it`)
  if (!isDelivered && network.mannerOf(row.host) === 'honest')
    violations.push(`${name} was not delivered to an honest listener`)
  if (Number(row.attempts) !== row.attempts_made)
    violations.push(`${name} has attempts that are not written down`)
  if (Number(row.ladder_attempts) > 1 + maxRetries)
    violations.push(`${name} was tried ${row.ladder_attempts} times`)
  if (row.exhausted_at !== null && row.attempts_made === 0)
    violations.push(`${name} is exhausted and was never tried`)
  return violations
}

function checkArrival(arrival: Arrival, row: CallbackRow | undefined): string[] {
  const name = `an arrival of ${arrival.eventName} at ${arrival.url}`
  // Each listener's path ends in the merchant that it belongs to.
  if (!arrival.url.endsWith(`/${arrival.merchantId}`)) return [`${name} was for ${arrival.merchantId}`]
  if (!row) return [`${name} had the id ${arrival.callbackId}, which no callback has`]
  if (row.merchant_id !== arrival.merchantId || row.callback_url !== arrival.url)
    return [`${name} was somebody else's`]
  if (row.body !== arrival.body || row.event_name !== arrival.eventName)
    return [`${name} said something else`]
  return []
}
