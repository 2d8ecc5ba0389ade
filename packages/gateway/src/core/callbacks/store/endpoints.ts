// Merchants' webhook endpoints and their secrets. Every statement names the merchant.
import type { WebhookEventName } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import type { MadeBefore } from '../../audit/rules/shown-once.ts'
import { audited } from '../../audit/store/audit.ts'
import { type Publish, unpublished } from '../../changes/rules/change.ts'
import { type Endpoint, type EndpointKey, type EndpointSecret, maxEndpoints } from '../rules/endpoint.ts'
import { lastAttemptWithinMs } from '../rules/retry-schedule.ts'
import { healthOf, type MerchantHealth } from './callback-health.ts'

export type EndpointStore = ReturnType<typeof makeEndpointStore>

export interface SecretDates {
  readonly secretId: string
  readonly createdAtMs: number
}

type StoredSecret = MadeBefore & Pick<EndpointSecret, 'sealedSecret'>

export function makeEndpointStore(database: Pool, publish: Publish = unpublished) {
  return {
    listEndpoints: (merchantId: string) => listEndpoints(database, merchantId),
    /** Includes removed endpoints. */
    findEndpoint: (key: EndpointKey) => findEndpoint(database, key),
    /** With its live secrets. Includes removed endpoints. */
    findForDelivery: async ({ merchantId, endpointId }: EndpointKey) =>
      (await loadEndpoints(database, [{ merchant_id: merchantId, endpoint_id: endpointId }])).get(
        `${merchantId} ${endpointId}`,
      ),
    /** Stores only the audit entry, because a test changes nothing else. */
    recordTest: (_key: EndpointKey, entry: AuditEntry) => audited(database, entry, async () => true),
    /** What currently fails for the merchant and for these hosts. */
    healthOf: (merchantId: string, hosts: readonly string[]): Promise<MerchantHealth> =>
      healthOf(database, { merchantId, hosts }),
    listSecrets: (key: EndpointKey) => listSecrets(database, key),
    /** Includes ended secrets. */
    findSecret: (key: EndpointKey & { readonly secretId: string }) => findSecret(database, key),
    /** False if the merchant has the maximum number. */
    insertEndpoint: (endpoint: Endpoint, secret: EndpointSecret | undefined, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        if (!(await insertEndpoint(transaction, endpoint))) return false
        if (secret) await insertSecret(transaction, secret)
        return true
      }),
    setEvents: (key: EndpointKey, events: readonly WebhookEventName[] | undefined, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update callback_endpoints set events = ${events ?? null}::text[] where ${isLive(key)}`)
        return rowCount === 1
      }),
    /** False if it is paused or removed. */
    pauseEndpoint: (key: EndpointKey, nowMs: number, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update callback_endpoints set paused_at = ${nowMs} where ${isLive(key)} and paused_at is null`)
        return rowCount === 1
      }),
    /** Makes waiting callbacks due. False if it is not paused or removed. */
    async resumeEndpoint(endpoint: Endpoint, nowMs: number, entry: AuditEntry): Promise<boolean> {
      const isDone = await audited(database, entry, (transaction) => resume(transaction, endpoint, nowMs))
      const { merchantId, host, endpointId: destinationId } = endpoint
      if (isDone) publish([{ kind: 'callbacks', lanes: [{ merchantId, host, destinationId }] }])
      return isDone
    },
    /** The next purge exhausts its waiting callbacks. */
    removeEndpoint: (key: EndpointKey, nowMs: number, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update callback_endpoints set removed_at = ${nowMs} where ${isLive(key)}`)
        await transaction.query(sql`
update callback_endpoint_secrets set ended_at = ${nowMs} where ${isIt(key)} and ended_at is null`)
        return rowCount === 1
      }),
    /** Keeps the newest other secret, or none. False if this secret exists already. */
    replaceSecret: (secret: EndpointSecret, options: { readonly endsOthers: boolean }, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        // Locks first, so that concurrent rotations take turns.
        await transaction.query(sql`select from callback_endpoints where ${isIt(secret)} for no key update`)
        if (await findSecret(transaction, secret)) return false
        await endSecrets(transaction, secret, options)
        await insertSecret(transaction, secret)
        return true
      }),
  }
}

const isIt = ({ merchantId, endpointId }: EndpointKey) =>
  sql`merchant_id = ${merchantId} and endpoint_id = ${endpointId}`
const isLive = (key: EndpointKey) => sql`${isIt(key)} and removed_at is null`

const shape = rowShape<Endpoint>('endpoint', {
  merchantId: 'merchant_id',
  endpointId: 'endpoint_id',
  url: 'url',
  host: 'host',
  format: 'format',
  events: 'events',
  createdAtMs: number('created_at'),
  pausedAtMs: number('paused_at'),
  removedAtMs: number('removed_at'),
})

async function listEndpoints(database: Queryable, merchantId: string): Promise<Endpoint[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from callback_endpoints
 where merchant_id = ${merchantId} and removed_at is null
 order by created_at, endpoint_id`)
  return rows.map(shape.read)
}

async function findEndpoint(database: Queryable, key: EndpointKey): Promise<Endpoint | undefined> {
  const { rows } = await database.query(
    sql`select ${shape.columns} from callback_endpoints where ${isIt(key)}`,
  )
  return rows[0] && shape.read(rows[0])
}

const datesShape = rowShape<SecretDates>('secret', {
  secretId: 'secret_id',
  createdAtMs: number('created_at'),
})

const storedShape = rowShape<StoredSecret>('secret', {
  sealedSecret: 'sealed_secret',
  createdAtMs: number('created_at'),
  isOver: 'ended_at is not null',
})

async function listSecrets(database: Queryable, key: EndpointKey): Promise<SecretDates[]> {
  const { rows } = await database.query(sql`
select ${datesShape.columns}
  from callback_endpoint_secrets
 where ${isIt(key)} and ended_at is null
 order by created_at desc, secret_id desc`)
  return rows.map(datesShape.read)
}

/** Concurrent inserts may compete for a slot: the second gets none. */
async function insertEndpoint(transaction: Queryable, endpoint: Endpoint): Promise<boolean> {
  const { merchantId, endpointId, url, host, format, events, createdAtMs } = endpoint
  const { rowCount } = await transaction.query(sql`
insert into callback_endpoints (merchant_id, endpoint_id, slot, url, host, format, events, created_at)
select ${merchantId}, ${endpointId}, slot, ${url}, ${host}, ${format}, ${events ?? null}::text[], ${createdAtMs}
  from generate_series(1, ${maxEndpoints}::integer) as free (slot)
 where not exists (select 1 from callback_endpoints e
                    where e.merchant_id = ${merchantId} and e.slot = free.slot and e.removed_at is null)
 order by slot
 limit 1
    on conflict do nothing`)
  return rowCount === 1
}

/** Locks the endpoint first, as does holding a callback, so that the later of the two sees the earlier. */
async function resume(transaction: Queryable, key: EndpointKey, nowMs: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update callback_endpoints set paused_at = null where ${isLive(key)} and paused_at is not null`)
  if (rowCount === 0) return false
  const { rows: held } = await transaction.query<{ callback_id: string }>(sql`
select callback_id from callbacks where ${isIt(key)} and held_reason = 'endpoint_paused'`)
  const { rows: due } = await transaction.query<{ callback_id: string; is_resend: boolean }>(sql`
update callback_queue set due_at = ${nowMs}
 where ${isIt(key)} and callback_id = any (${held.map((row) => row.callback_id)}::uuid[])
returning callback_id, is_resend`)
  const resends = due.filter((row) => row.is_resend).map((row) => row.callback_id)
  // A resent callback keeps its scheduled retry. Holding sets a time after the last scheduled retry, which is replaced.
  await transaction.query(sql`
update callbacks set next_attempt_at = ${nowMs}
 where ${isIt(key)} and callback_id = any (${due.map((row) => row.callback_id)}::uuid[])
   and delivered_at is null and exhausted_at is null
   and (callback_id <> all (${resends}::uuid[]) or next_attempt_at > first_attempt_at + ${lastAttemptWithinMs})`)
  return true
}

async function findSecret(
  database: Queryable,
  key: Pick<EndpointSecret, 'merchantId' | 'endpointId' | 'secretId'>,
): Promise<StoredSecret | undefined> {
  const { rows } = await database.query(sql`
select ${storedShape.columns} from callback_endpoint_secrets where ${isIt(key)} and secret_id = ${key.secretId}`)
  return rows[0] && storedShape.read(rows[0])
}

async function endSecrets(
  transaction: Queryable,
  secret: EndpointSecret,
  { endsOthers }: { readonly endsOthers: boolean },
): Promise<void> {
  await transaction.query(sql`
update callback_endpoint_secrets
   set ended_at = ${secret.createdAtMs}
 where ${isIt(secret)} and ended_at is null
   and secret_id not in (select secret_id
                           from callback_endpoint_secrets
                          where ${isIt(secret)} and ended_at is null
                          order by created_at desc, secret_id desc
                          limit ${endsOthers ? 0 : 1})`)
}

async function insertSecret(transaction: Queryable, secret: EndpointSecret): Promise<void> {
  const { merchantId, endpointId, secretId, sealedSecret, createdAtMs } = secret
  const { rowCount } = await transaction.query(sql`
insert into callback_endpoint_secrets (merchant_id, endpoint_id, secret_id, slot, sealed_secret, created_at)
select ${merchantId}, ${endpointId}, ${secretId}, free.slot, ${sealedSecret}, ${createdAtMs}
  from (values (1), (2)) as free (slot)
 where not exists (select 1 from callback_endpoint_secrets s
                    where s.merchant_id = ${merchantId} and s.endpoint_id = ${endpointId} and s.slot = free.slot
                      and s.ended_at is null)
 order by free.slot
 limit 1`)
  if (rowCount !== 1) throw new Error('an endpoint has two live secrets at most')
}

/** An endpoint as of the claim, for delivery. */
export interface DeliveryEndpoint extends Endpoint {
  /** Live ones, newest first. */
  readonly secrets: readonly Pick<EndpointSecret, 'secretId' | 'sealedSecret'>[]
}

interface SecretRow {
  secret_id: string
  sealed: string
}

/** Keyed by `merchantId endpointId`. */
export async function loadEndpoints(
  database: Queryable,
  keys: readonly { readonly merchant_id: string; readonly endpoint_id: string }[],
): Promise<ReadonlyMap<string, DeliveryEndpoint>> {
  if (keys.length === 0) return new Map()
  const { rows } = await database.query<{ secrets: SecretRow[] | null }>(prepared('load-endpoints')`
select ${shape.columns},
       (select json_agg(json_build_object('secret_id', s.secret_id, 'sealed', encode(s.sealed_secret, 'base64'))
                        order by s.created_at desc, s.secret_id desc)
          from callback_endpoint_secrets s
         where s.merchant_id = e.merchant_id and s.endpoint_id = e.endpoint_id and s.ended_at is null) as secrets
  from callback_endpoints e
 where (e.merchant_id, e.endpoint_id) in (select * from unnest(${keys.map((key) => key.merchant_id)}::text[],
                                                             ${keys.map((key) => key.endpoint_id)}::text[]))`)
  const endpoints = rows.map((row) => ({
    ...shape.read(row),
    secrets: (row.secrets ?? []).map(({ secret_id, sealed }) => ({
      secretId: secret_id,
      sealedSecret: Buffer.from(sealed, 'base64'),
    })),
  }))
  return new Map(endpoints.map((each) => [`${each.merchantId} ${each.endpointId}`, each]))
}
