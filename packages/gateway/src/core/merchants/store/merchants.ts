// Merchants, their keys, and their recent callback hosts.

import { batched } from '../../../platform/database/batching.ts'
import { isDataError } from '../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, columnsOf, prepared, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../audit/store/audit.ts'
import type { UsedKey } from '../rules/key-use.ts'
import type { Logo } from '../rules/logo.ts'
import type { Merchant, MerchantKey } from '../rules/merchant.ts'
import {
  chooseCallbackKey,
  type EntryForKeys,
  insertFurtherKey,
  insertKey,
  type KeyInJson,
  type KeyInUse,
  type KeyName,
  type KeysInUse,
  keyFromJson,
  listKeys,
  type RecordedUse,
  recordKeyUse,
  revokeKey,
  setKeyInUse,
} from './merchant-keys.ts'

export type MerchantStore = ReturnType<typeof makeMerchantStore>

/** Live keys, oldest first. */
export interface MerchantWithKeys {
  readonly merchant: Merchant
  readonly keys: readonly UsedKey[]
  /** As stored: the id of a key that may be revoked. */
  readonly aesKeyInUse: string | undefined
}

const batching = { maxItems: 200, maxFlights: 2, isItemError: isDataError } as const

export interface MerchantPage {
  /** A lowercase part of the id or the name. */
  readonly sought?: string
  readonly before?: string | undefined
  readonly limit: number
}

export function makeMerchantStore(database: Pool) {
  return {
    /** False if the merchantId is taken. */
    insertMerchant: (merchant: Merchant, keys: readonly MerchantKey[], entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertMerchantWithKeys(transaction, merchant, keys)),
    findMerchant: batched((ids: readonly string[]) => findMerchants(database, ids), batching),
    listMerchants: (page: MerchantPage) => listMerchants(database, page),
    /** Undefined if the merchant does not exist. If `entryFor` returns undefined, nothing changes. */
    changeMerchant: (merchantId: string, changes: MerchantChanges, entryFor: EntryFor) =>
      changeMerchant(database, { merchantId, changes, entryFor }),
    /** False if both slots of its kind are taken. */
    insertKey: (key: MerchantKey, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertFurtherKey(transaction, key)),
    listKeys: (merchantId: string) => listKeys(database, merchantId),
    /** False if there is no such live key. */
    revokeKey: (key: KeyName & { readonly nowMs: number }, entryFor: EntryForKeys) =>
      revokeKey(database, key, entryFor),
    /** False if the key is not a live AES key, or if `entryFor` returned undefined. */
    chooseCallbackKey: (key: KeyName, entryFor: EntryForKeys) => chooseCallbackKey(database, key, entryFor),
    recordKeyUse: (use: RecordedUse) => recordKeyUse(database, use),
    /** With an action it is a change. False if another process recorded one since the key in use was read. */
    setKeyInUse: (inUse: KeyInUse, entry: AuditEntry | undefined) => setKeyInUse(database, inUse, entry),
    findLogo: (merchantId: string) => findLogo(database, merchantId),
    /** Undefined removes it. False if the merchant does not exist. */
    setLogo: (merchantId: string, logo: Logo | undefined, entry: AuditEntry) =>
      audited(database, entry, (transaction) => setLogo(transaction, merchantId, logo)),
    useCallbackHost: (use: HostUse) => useCallbackHost(database, use),
    /** Deletes at most `limit` hosts that no limit counts anymore, and returns the count. */
    deleteUnusedHosts: (options: UnusedHosts) => deleteUnusedHosts(database, options),
  }
}

const merchantShape = rowShape<Merchant>('merchant', {
  merchantId: 'm.merchant_id',
  name: 'm.name',
  status: 'm.status',
  requestsPerSecond: number('m.requests_per_second'),
  callbackHosts: 'm.callback_hosts',
  accentColour: 'm.accent_colour',
  // Empty instead of null means that it was removed.
  defaultCallbackUrl: "nullif(m.default_callback_url, '')",
  hasHadDefaultCallback: 'm.default_callback_url is not null',
  logoHash: 'm.logo_hash',
  contactEmails: 'm.contact_emails',
  contactLanguage: 'm.contact_language',
  isSelfRegistered: 'm.is_self_registered',
  createdAtMs: number('m.created_at'),
})

const keysInUseShape = rowShape<KeysInUse>('keys', {
  aesKeyInUse: 'm.aes_key_in_use',
  inUseSinceMs: number('m.aes_key_in_use_since'),
  callbackKeyId: 'm.callback_key_id',
})

const logoShape = rowShape<Logo>('logo', { image: 'logo', type: 'logo_type', hash: 'logo_hash' })

export async function insertMerchantWithKeys(
  transaction: Queryable,
  merchant: Merchant,
  keys: readonly MerchantKey[],
): Promise<boolean> {
  if (!(await insertMerchant(transaction, merchant))) return false
  for (const key of keys) await insertKey(transaction, key)
  return true
}

async function insertMerchant(database: Queryable, merchant: Merchant): Promise<boolean> {
  const { merchantId, name, status, requestsPerSecond, callbackHosts, accentColour } = merchant
  const { rowCount } = await database.query(sql`
insert into merchants (merchant_id, name, status, requests_per_second, callback_hosts, accent_colour, contact_emails,
                       contact_language, default_callback_url, is_self_registered, created_at)
values (${merchantId}, ${name}, ${status}, ${requestsPerSecond}, ${callbackHosts}, ${accentColour},
        ${merchant.contactEmails}, ${merchant.contactLanguage}, ${merchant.defaultCallbackUrl},
        ${merchant.isSelfRegistered}, ${merchant.createdAtMs})
    on conflict do nothing`)
  return rowCount === 1
}

async function findMerchants(
  database: Queryable,
  ids: readonly string[],
): Promise<(MerchantWithKeys | undefined)[]> {
  const { rows } = await database.query<{ keys: KeyInJson[] | null }>(prepared('find-merchants')`
select ${merchantShape.columns}, ${keysInUseShape.columns},
       (select json_agg(json_build_object(
                 'merchantId', k.merchant_id, 'keyId', k.key_id, 'kind', k.kind, 'publicKey', k.public_key,
                 'sealedKey', encode(k.sealed_key, 'base64'), 'createdAtMs', k.created_at, 'usedAtMs', k.used_at)
                 order by k.created_at, k.key_id)
          from merchant_keys k
         where k.merchant_id = m.merchant_id and k.merchant_id = any (${ids}::text[]) and k.revoked_at is null) as keys
  from merchants m
 where m.merchant_id = any (${ids}::text[])`)
  const found = new Map(
    rows.map((row) => {
      const merchant = merchantShape.read(row)
      const inUse = keysInUseShape.read(row)
      const keys = (row.keys ?? []).map((key) => keyFromJson(key, inUse))
      return [merchant.merchantId, { merchant, keys, aesKeyInUse: inUse.aesKeyInUse }]
    }),
  )
  return ids.map((id) => found.get(id))
}

async function listMerchants(
  database: Queryable,
  { sought = '', before, limit }: MerchantPage,
): Promise<Merchant[]> {
  const wanted = allOf([
    sought !== '' && sql`(strpos(lower(m.name), ${sought}) > 0 or strpos(m.merchant_id, ${sought}) > 0)`,
    before !== undefined &&
      sql`(m.created_at, m.merchant_id) < (select created_at, merchant_id from merchants where merchant_id = ${before})`,
  ])
  const { rows } = await database.query(sql`
select ${merchantShape.columns}
  from merchants m
 where ${wanted}
 order by m.created_at desc, m.merchant_id desc
 limit ${limit}`)
  return rows.map(merchantShape.read)
}

/** Changes only the given fields, so that concurrent changes of others survive. */
export type MerchantChanges = Partial<
  Omit<Merchant, 'merchantId' | 'hasHadDefaultCallback' | 'isSelfRegistered' | 'logoHash' | 'createdAtMs'>
>

type EntryFor = (before: Merchant) => AuditEntry | undefined

async function changeMerchant(
  database: Pool,
  { merchantId, changes, entryFor }: { merchantId: string; changes: MerchantChanges; entryFor: EntryFor },
): Promise<Merchant | undefined> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query(sql`
select ${merchantShape.columns} from merchants m where merchant_id = ${merchantId} for no key update`)
    const before = rows[0] && merchantShape.read(rows[0])
    const entry = before && entryFor(before)
    if (!entry) return before
    const changed = { ...before, ...changes }
    await updateMerchant(transaction, changed)
    await insertAuditEntry(transaction, entry)
    return changed
  })
}

async function updateMerchant(database: Queryable, merchant: Merchant): Promise<void> {
  const { merchantId, name, status, requestsPerSecond, callbackHosts, accentColour } = merchant
  await database.query(sql`
update merchants
   set name = ${name}, status = ${status}, requests_per_second = ${requestsPerSecond},
       callback_hosts = ${callbackHosts}, accent_colour = ${accentColour},
       default_callback_url = coalesce(${merchant.defaultCallbackUrl}, left(default_callback_url, 0)),
       contact_emails = ${merchant.contactEmails}, contact_language = ${merchant.contactLanguage}
 where merchant_id = ${merchantId}`)
}

async function findLogo(database: Queryable, merchantId: string): Promise<Logo | undefined> {
  const { rows } = await database.query(sql`
select ${logoShape.columns} from merchants where merchant_id = ${merchantId} and logo is not null`)
  return rows[0] && logoShape.read(rows[0])
}

async function setLogo(transaction: Queryable, merchantId: string, logo: Logo | undefined): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update merchants set logo = ${logo?.image}, logo_type = ${logo?.type}, logo_hash = ${logo?.hash}
 where merchant_id = ${merchantId}`)
  return rowCount === 1
}

interface HostUse {
  readonly merchantId: string
  readonly host: string
  readonly nowMs: number
  readonly sinceMs: number
  readonly maxHosts: number
}

/**
 * Records the host unless it exceeds the limit since `sinceMs`; then returns false. The merchant's row is locked, so
 * that concurrent requests cannot add one host each.
 */
function useCallbackHost(
  database: Pool,
  { merchantId, host, nowMs, sinceMs, maxHosts }: HostUse,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`select from merchants where merchant_id = ${merchantId} for no key update`)
    await transaction.query(sql`
delete from merchant_callback_hosts where merchant_id = ${merchantId} and last_used_at <= ${sinceMs}`)
    const { rowCount } = await transaction.query(sql`
insert into merchant_callback_hosts as used (merchant_id, host, last_used_at)
select ${merchantId}, ${host}, ${nowMs}
 where (select count(*) from merchant_callback_hosts
         where merchant_id = ${merchantId} and host <> ${host} and last_used_at > ${sinceMs}) < ${maxHosts}
    on conflict (merchant_id, host) do update set last_used_at = greatest(used.last_used_at, excluded.last_used_at)`)
    return rowCount === 1
  })
}

interface UnusedHosts {
  readonly usedBeforeMs: number
  readonly limit: number
}

/** Finds candidates first and deletes by key, because the table may be distributed. */
async function deleteUnusedHosts(database: Queryable, { usedBeforeMs, limit }: UnusedHosts): Promise<number> {
  const { rows } = await database.query<{ merchant_id: string; host: string }>(sql`
select merchant_id, host from merchant_callback_hosts where last_used_at <= ${usedBeforeMs} limit ${limit}`)
  const [merchantIds, hosts] = columnsOf(rows, 'merchant_id', 'host')
  const { rowCount } = await database.query(sql`
delete from merchant_callback_hosts h
 using unnest(${merchantIds}::text[], ${hosts}::text[]) as k (merchant_id, host)
 where h.merchant_id = k.merchant_id and h.host = k.host and h.last_used_at <= ${usedBeforeMs}
   and h.merchant_id = any (${merchantIds}::text[])`)
  return rowCount
}
