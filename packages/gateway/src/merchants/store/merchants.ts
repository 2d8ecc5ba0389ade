// Merchants, their keys, and the callback hosts they used lately.

import { batched } from '../../database/batching.ts'
import { isDataError } from '../../database/data-error.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited, insertAct } from '../../operators/store/audit.ts'
import type { Merchant, MerchantKey } from '../rules/merchant.ts'

export type MerchantStore = ReturnType<typeof makeMerchantStore>

/** A merchant with the keys that are live. */
export interface MerchantWithKeys {
  readonly merchant: Merchant
  readonly keys: readonly MerchantKey[]
}

const batching = { maxItems: 200, maxFlights: 2, isItemError: isDataError } as const

export function makeMerchantStore(database: Pool) {
  return {
    /** False when its merchantId is taken. */
    insertMerchant: (merchant: Merchant, keys: readonly MerchantKey[], act: Act) =>
      audited(database, act, async (transaction) => {
        if (!(await insertMerchant(transaction, merchant))) return false
        for (const key of keys) await insertKey(transaction, key)
        return true
      }),
    findMerchant: batched((ids: readonly string[]) => findMerchants(database, ids), batching),
    listMerchants: () => listMerchants(database),
    /** The merchant as it is after the change; undefined when there is none. `actFor`: undefined leaves it as it is. */
    changeMerchant: (merchantId: string, changes: MerchantChanges, actFor: ActFor) =>
      changeMerchant(database, { merchantId, changes, actFor }),
    /** False when both slots of its kind are taken. */
    insertKey: (key: MerchantKey, act: Act) =>
      audited(database, act, (transaction) => insertKey(transaction, key)),
    listKeys: (merchantId: string) => listKeys(database, merchantId),
    /** False when there is no such live key. */
    revokeKey: (key: KeyToRevoke, act: Act) =>
      audited(database, act, (transaction) => revokeKey(transaction, key)),
    useCallbackHost: (use: HostUse) => useCallbackHost(database, use),
    /** Hosts that no limit counts any more; at most `limit`. How many went. */
    deleteUnusedHosts: (options: UnusedHosts) => deleteUnusedHosts(database, options),
  }
}

interface MerchantRow {
  merchant_id: string
  name: string
  status: Merchant['status']
  requests_per_second: number | null
  callback_hosts: string[] | null
  accent_colour: string | null
  is_self_registered: boolean
  created_at: string
}

interface KeyRow {
  merchant_id: string
  key_id: string
  kind: MerchantKey['kind']
  public_key: string | null
  sealed_key: Buffer | null
  created_at: string
  revoked_at: string | null
}

const merchantColumns =
  'merchant_id, name, status, requests_per_second, callback_hosts, accent_colour, is_self_registered, created_at'
const keyColumns = 'merchant_id, key_id, kind, public_key, sealed_key, created_at, revoked_at'

async function insertMerchant(database: Queryable, merchant: Merchant): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `insert into merchants (${merchantColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    values: [
      merchant.merchantId,
      merchant.name,
      merchant.status,
      merchant.requestsPerSecond ?? null,
      merchant.callbackHosts ?? null,
      merchant.accentColour ?? null,
      merchant.isSelfRegistered,
      merchant.createdAtMs,
    ],
  })
  return rowCount === 1
}

async function findMerchants(
  database: Queryable,
  ids: readonly string[],
): Promise<(MerchantWithKeys | undefined)[]> {
  const { rows } = await database.query<MerchantRow & { keys: KeyRow[] | null }>({
    name: 'find-merchants',
    text: `
select ${merchantColumns
      .split(', ')
      .map((column) => `m.${column}`)
      .join(', ')},
       (select json_agg(json_build_object(
                 'merchant_id', k.merchant_id, 'key_id', k.key_id, 'kind', k.kind, 'public_key', k.public_key,
                 'sealed_key', encode(k.sealed_key, 'base64'), 'created_at', k.created_at) order by k.key_id)
          from merchant_keys k
         where k.merchant_id = m.merchant_id and k.revoked_at is null) as keys
  from merchants m
 where m.merchant_id = any ($1::text[])`,
    values: [ids],
  })
  const found = new Map(
    rows.map((row) => [
      row.merchant_id,
      {
        merchant: toMerchant(row),
        keys: (row.keys ?? []).map((key) =>
          toKey({ ...key, revoked_at: null, sealed_key: fromBase64(key.sealed_key) }),
        ),
      },
    ]),
  )
  return ids.map((id) => found.get(id))
}

/** Within json_agg a bytea can only travel as text. */
function fromBase64(sealedKey: unknown): Buffer | null {
  return typeof sealedKey === 'string' ? Buffer.from(sealedKey, 'base64') : null
}

async function listMerchants(database: Queryable): Promise<Merchant[]> {
  const { rows } = await database.query<MerchantRow>({
    text: `select ${merchantColumns} from merchants order by created_at, merchant_id`,
  })
  return rows.map(toMerchant)
}

/** What is given is changed and the rest is left as it is, whoever else changes that at the same time. */
export type MerchantChanges = Partial<Omit<Merchant, 'merchantId' | 'isSelfRegistered' | 'createdAtMs'>>

type ActFor = (before: Merchant) => Act | undefined

async function changeMerchant(
  database: Pool,
  { merchantId, changes, actFor }: { merchantId: string; changes: MerchantChanges; actFor: ActFor },
): Promise<Merchant | undefined> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<MerchantRow>({
      text: `select ${merchantColumns} from merchants where merchant_id = $1 for no key update`,
      values: [merchantId],
    })
    const before = rows[0] && toMerchant(rows[0])
    const act = before && actFor(before)
    if (!act) return before
    const changed = { ...before, ...changes }
    await updateMerchant(transaction, changed)
    await insertAct(transaction, act)
    return changed
  })
}

async function updateMerchant(database: Queryable, merchant: Merchant): Promise<void> {
  await database.query({
    text: `
update merchants
   set name = $2, status = $3, requests_per_second = $4, callback_hosts = $5, accent_colour = $6
 where merchant_id = $1`,
    values: [
      merchant.merchantId,
      merchant.name,
      merchant.status,
      merchant.requestsPerSecond ?? null,
      merchant.callbackHosts ?? null,
      merchant.accentColour ?? null,
    ],
  })
}

async function insertKey(database: Queryable, key: MerchantKey): Promise<boolean> {
  const { rows } = await database.query({
    text: `
insert into merchant_keys (merchant_id, key_id, kind, slot, public_key, sealed_key, created_at)
select $1, $2, $3, free.slot, $4, $5, $6
  from (values (1), (2)) as free (slot)
 where not exists (select from merchant_keys k
                    where k.merchant_id = $1 and k.kind = $3 and k.slot = free.slot and k.revoked_at is null)
 order by free.slot
 limit 1
    on conflict (merchant_id, kind, slot) where revoked_at is null do nothing
returning key_id`,
    values: [
      key.merchantId,
      key.keyId,
      key.kind,
      key.kind === 'rsa' ? key.publicKey : null,
      key.kind === 'aes' ? key.sealedKey : null,
      key.createdAtMs,
    ],
  })
  return rows.length === 1
}

async function listKeys(database: Queryable, merchantId: string): Promise<MerchantKey[]> {
  const { rows } = await database.query<KeyRow>({
    text: `select ${keyColumns} from merchant_keys where merchant_id = $1 order by created_at, key_id`,
    values: [merchantId],
  })
  return rows.map(toKey)
}

async function revokeKey(database: Queryable, { merchantId, keyId, nowMs }: KeyToRevoke): Promise<boolean> {
  const { rows } = await database.query({
    text: `
update merchant_keys set revoked_at = $3
 where merchant_id = $1 and key_id = $2 and revoked_at is null
returning key_id`,
    values: [merchantId, keyId, nowMs],
  })
  return rows.length === 1
}

interface KeyToRevoke {
  readonly merchantId: string
  readonly keyId: string
  readonly nowMs: number
}

interface HostUse {
  readonly merchantId: string
  readonly host: string
  readonly nowMs: number
  readonly sinceMs: number
  readonly maxHosts: number
}

/**
 * Notes that the host is used, unless that would be one host too many since `sinceMs`; false then. The
 * merchant's row is locked, so that many requests at once cannot slip in one host each.
 */
function useCallbackHost(
  database: Pool,
  { merchantId, host, nowMs, sinceMs, maxHosts }: HostUse,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await transaction.query({
      text: 'select from merchants where merchant_id = $1 for no key update',
      values: [merchantId],
    })
    await transaction.query({
      text: 'delete from merchant_callback_hosts where merchant_id = $1 and last_used_at <= $2',
      values: [merchantId, sinceMs],
    })
    const { rows } = await transaction.query({
      text: `
insert into merchant_callback_hosts as used (merchant_id, host, last_used_at)
select $1, $2, $3
 where (select count(*) from merchant_callback_hosts
         where merchant_id = $1 and host <> $2 and last_used_at > $4) < $5
    on conflict (merchant_id, host) do update set last_used_at = greatest(used.last_used_at, $3)
returning host`,
      values: [merchantId, host, nowMs, sinceMs, maxHosts],
    })
    return rows.length === 1
  })
}

interface UnusedHosts {
  readonly usedBeforeMs: number
  readonly limit: number
}

/** Candidate keys first, then by key and still unused: the table may be spread. */
async function deleteUnusedHosts(database: Queryable, { usedBeforeMs, limit }: UnusedHosts): Promise<number> {
  const { rows } = await database.query<{ merchant_id: string; host: string }>({
    text: 'select merchant_id, host from merchant_callback_hosts where last_used_at <= $1 limit $2',
    values: [usedBeforeMs, limit],
  })
  const { rowCount } = await database.query({
    text: `
delete from merchant_callback_hosts h
 using unnest($1::text[], $2::text[]) as k (merchant_id, host)
 where h.merchant_id = k.merchant_id and h.host = k.host and h.last_used_at <= $3`,
    values: [rows.map((row) => row.merchant_id), rows.map((row) => row.host), usedBeforeMs],
  })
  return rowCount
}

function toMerchant(row: MerchantRow): Merchant {
  return {
    merchantId: row.merchant_id,
    name: row.name,
    status: row.status,
    requestsPerSecond: row.requests_per_second ?? undefined,
    callbackHosts: row.callback_hosts ?? undefined,
    accentColour: row.accent_colour ?? undefined,
    isSelfRegistered: row.is_self_registered,
    createdAtMs: Number(row.created_at),
  }
}

function toKey(row: KeyRow): MerchantKey {
  const base = {
    merchantId: row.merchant_id,
    keyId: row.key_id,
    createdAtMs: Number(row.created_at),
    revokedAtMs: row.revoked_at === null ? undefined : Number(row.revoked_at),
  }
  if (row.kind === 'rsa' && row.public_key !== null)
    return { ...base, kind: 'rsa', publicKey: row.public_key }
  if (row.kind === 'aes' && row.sealed_key !== null)
    return { ...base, kind: 'aes', sealedKey: row.sealed_key }
  throw new Error('a merchant key holds neither a public nor a sealed key')
}
