// Reads failing hosts and destinations from the two small tables that update-health.ts writes.
import type { Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { columnsOf, sql } from '../../../platform/database/sql.ts'
import { type Lane, laneKey } from '../rules/delivery-lanes.ts'
import type { FailingDestination, FailingHost } from '../rules/host-health.ts'

export interface MerchantHealth {
  readonly destinations: readonly FailingDestination[]
  readonly hosts: readonly FailingHost[]
}

const failingSources = {
  failures: number('failures'),
  failingSinceMs: number('failing_since'),
  reason: 'reason',
  pauses: number('pauses'),
  pausedAtMs: number('paused_at'),
  pausedUntilMs: number('paused_until'),
} as const

export const hostShape = rowShape<FailingHost>('host', { host: 'host', ...failingSources })

export const destinationShape = rowShape<FailingDestination>('destination', {
  merchantId: 'merchant_id',
  host: 'host',
  destinationId: 'destination_id',
  endpointId: "nullif(endpoint_id, '')",
  url: 'url',
  failedAtMs: number('failed_at'),
  ...failingSources,
})

export async function listFailingHosts(database: Queryable): Promise<FailingHost[]> {
  const { rows } = await database.query(sql`
select ${hostShape.columns} from callback_hosts order by pauses desc, failures desc, host`)
  return rows.map(hostShape.read)
}

export async function listFailingDestinations(
  database: Queryable,
  { limit = 100 }: { readonly limit?: number } = {},
): Promise<FailingDestination[]> {
  const { rows } = await database.query(sql`
select ${destinationShape.columns}
  from callback_destinations
 order by pauses desc, failures desc, merchant_id, host, destination_id
 limit ${limit}`)
  return rows.map(destinationShape.read)
}

/**
 * The merchant's failing destinations, worst first, and the failing ones among `hosts` and the hosts of its waiting
 * callbacks.
 */
export async function healthOf(
  database: Queryable,
  { merchantId, hosts }: { merchantId: string; hosts: readonly string[] },
): Promise<MerchantHealth> {
  const { rows: destinations } = await database.query(sql`
select ${destinationShape.columns}
  from callback_destinations
 where merchant_id = ${merchantId}
 -- Endpoints first: of addresses that differ for every order there may be any number.
 order by endpoint_id = '', pauses desc, failures desc, host, destination_id
 limit 100`)
  const { rows: failing } = await database.query(sql`
select ${hostShape.columns}
  from callback_hosts h
 where host = any (${hosts}::text[])
    or exists (select from callback_queue q where q.merchant_id = ${merchantId} and q.host = h.host)
 order by host`)
  return { destinations: destinations.map(destinationShape.read), hosts: failing.map(hostShape.read) }
}

/**
 * Deletes entries with no waiting callbacks and no recent attempt: an address of a single order is never tried again.
 */
export async function forgetIdle(
  database: Queryable,
  { failedBeforeMs, limit }: { failedBeforeMs: number; limit: number },
): Promise<number> {
  const { rowCount } = await database.query(sql`
delete from callback_destinations
 where (merchant_id, host, destination_id) in
       (select merchant_id, host, destination_id
          from callback_destinations d
         where failed_at < ${failedBeforeMs}
           and not exists (select from callback_queue q
                            where q.merchant_id = d.merchant_id and q.host = d.host and q.destination_id = d.destination_id)
         order by failed_at
         limit ${limit}
           for update skip locked)`)
  return rowCount
}

/** Uses callback_queue_lines and stops counting at `atMost` in total. Keyed by `laneKey`. */
export async function countWaiting(
  database: Queryable,
  lanes: readonly Lane[],
  { atMost }: { readonly atMost?: number } = {},
): Promise<ReadonlyMap<string, number>> {
  if (lanes.length === 0) return new Map()
  const [merchantIds, hosts, destinationIds] = columnsOf(lanes, 'merchantId', 'host', 'destinationId')
  const { rows } = await database.query<
    Record<'merchantId' | 'host' | 'destinationId' | 'count', string>
  >(sql`
select merchant_id as "merchantId", host, destination_id as "destinationId", count(*) as count
  from (select q.merchant_id, q.host, q.destination_id
          from unnest(${merchantIds}::text[], ${hosts}::text[], ${destinationIds}::uuid[])
            as l (merchant_id, host, destination_id)
          join callback_queue q using (merchant_id, host, destination_id)
         limit ${atMost}) as q
 group by merchant_id, host, destination_id`)
  return new Map(rows.map((row) => [laneKey(row), Number(row.count)]))
}
