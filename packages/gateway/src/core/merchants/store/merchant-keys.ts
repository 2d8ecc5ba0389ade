// Merchants' keys and the record of their use. The merchant's row holds the keys in use and for callbacks: a change
// locks that row before the keys, so that changes never deadlock.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../audit/store/audit.ts'
import { recordedEveryMs, type UsedKey } from '../rules/key-use.ts'
import type { MerchantKey } from '../rules/merchant.ts'

export interface KeyName {
  readonly merchantId: string
  readonly keyId: string
}

/** Decides on the merchant's current keys. Throws to reject; undefined leaves everything unchanged. */
export type EntryForKeys = (keys: readonly UsedKey[]) => AuditEntry | undefined

/** The column of the other kind is empty. */
interface StoredKey extends KeyName {
  readonly kind: MerchantKey['kind']
  readonly publicKey: string | undefined
  readonly sealedKey: Buffer | undefined
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
  readonly usedAtMs: number | undefined
  readonly inUseSinceMs: number | undefined
  readonly isChosen: boolean
}

const keyShape = rowShape<StoredKey>('key', {
  merchantId: 'k.merchant_id',
  keyId: 'k.key_id',
  kind: 'k.kind',
  publicKey: 'k.public_key',
  sealedKey: 'k.sealed_key',
  createdAtMs: number('k.created_at'),
  revokedAtMs: number('k.revoked_at'),
  usedAtMs: number('k.used_at'),
  inUseSinceMs: number('case when k.key_id = m.aes_key_in_use then m.aes_key_in_use_since end'),
  isChosen: 'coalesce(k.key_id = m.callback_key_id, false)',
})

/** json_agg can only carry a bytea as text. */
export interface KeyInJson extends Pick<StoredKey, 'merchantId' | 'keyId' | 'kind' | 'createdAtMs'> {
  readonly publicKey: string | null
  readonly sealedKey: string | null
  readonly usedAtMs: number | null
}

export interface KeysInUse {
  readonly aesKeyInUse: string | undefined
  readonly inUseSinceMs: number | undefined
  readonly callbackKeyId: string | undefined
}

export function keyFromJson(
  { publicKey, sealedKey, usedAtMs, ...key }: KeyInJson,
  { aesKeyInUse, inUseSinceMs, callbackKeyId }: KeysInUse,
): UsedKey {
  return toKey({
    ...key,
    publicKey: publicKey ?? undefined,
    sealedKey: sealedKey === null ? undefined : Buffer.from(sealedKey, 'base64'),
    revokedAtMs: undefined,
    usedAtMs: usedAtMs ?? undefined,
    inUseSinceMs: key.keyId === aesKeyInUse ? inUseSinceMs : undefined,
    isChosen: key.keyId === callbackKeyId,
  })
}

export async function insertKey(database: Queryable, key: MerchantKey): Promise<boolean> {
  const { merchantId, keyId, kind, createdAtMs } = key
  const publicKey = kind === 'rsa' ? key.publicKey : undefined
  const sealedKey = kind === 'aes' ? key.sealedKey : undefined
  const { rowCount } = await database.query(sql`
insert into merchant_keys (merchant_id, key_id, kind, slot, public_key, sealed_key, created_at)
select ${merchantId}, ${keyId}, ${kind}, free.slot, ${publicKey}, ${sealedKey}, ${createdAtMs}
  from (values (1), (2)) as free (slot)
 where not exists (select 1 from merchant_keys k
                    where k.merchant_id = ${merchantId} and k.kind = ${kind} and k.slot = free.slot
                      and k.revoked_at is null)
 order by free.slot
 limit 1
    on conflict (merchant_id, kind, slot) where revoked_at is null do nothing`)
  return rowCount === 1
}

/**
 * Adds a key beside the live one, which stays in use regardless of clocks. False if both slots of the kind are taken.
 */
export async function insertFurtherKey(transaction: Queryable, key: MerchantKey): Promise<boolean> {
  if (!(await insertKey(transaction, key))) return false
  const { merchantId, keyId } = key
  if (key.kind === 'aes')
    await transaction.query(sql`
update merchants m
   set aes_key_in_use = k.key_id, aes_key_in_use_since = k.created_at
  from merchant_keys k
 where m.merchant_id = ${merchantId} and m.aes_key_in_use is null
   and k.merchant_id = ${merchantId} and k.kind = 'aes' and k.revoked_at is null and k.key_id <> ${keyId}`)
  return true
}

/** Oldest first, including revoked keys. */
export async function listKeys(database: Queryable, merchantId: string): Promise<UsedKey[]> {
  const { rows } = await database.query(sql`
select ${keyShape.columns}
  from merchant_keys k
  join merchants m on m.merchant_id = k.merchant_id
 where k.merchant_id = ${merchantId} and m.merchant_id = ${merchantId}
 order by k.created_at, k.key_id`)
  return rows.map((row) => toKey(keyShape.read(row)))
}

export function revokeKey(
  database: Pool,
  { merchantId, keyId, nowMs }: KeyName & { readonly nowMs: number },
  entryFor: EntryForKeys,
): Promise<boolean> {
  return changeKeys(database, merchantId, entryFor, async (transaction) => {
    await transaction.query(sql`
update merchants
   set aes_key_in_use_since = case when aes_key_in_use <> ${keyId} then aes_key_in_use_since end,
       aes_key_in_use = nullif(aes_key_in_use, ${keyId}), callback_key_id = nullif(callback_key_id, ${keyId})
 where merchant_id = ${merchantId} and ${keyId} in (aes_key_in_use, callback_key_id)`)
    const { rowCount } = await transaction.query(sql`
update merchant_keys set revoked_at = ${nowMs}
 where merchant_id = ${merchantId} and key_id = ${keyId} and revoked_at is null`)
    return rowCount === 1
  })
}

/** False if the key is not a live AES key, or if `entryFor` returned undefined. */
export function chooseCallbackKey(
  database: Pool,
  { merchantId, keyId }: KeyName,
  entryFor: EntryForKeys,
): Promise<boolean> {
  return changeKeys(database, merchantId, entryFor, async (transaction) => {
    const { rowCount } = await transaction.query(sql`
update merchants m set callback_key_id = ${keyId}
 where m.merchant_id = ${merchantId}
   and exists (select 1 from merchant_keys k
                where k.merchant_id = ${merchantId} and k.key_id = ${keyId} and k.kind = 'aes' and k.revoked_at is null)`)
    return rowCount === 1
  })
}

/** Holds the merchant's row lock, so that the keys in use cannot change meanwhile. */
function changeKeys(
  database: Pool,
  merchantId: string,
  entryFor: EntryForKeys,
  change: (transaction: Queryable) => Promise<boolean>,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`select from merchants where merchant_id = ${merchantId} for no key update`)
    const entry = entryFor(await listKeys(transaction, merchantId))
    if (!entry || !(await change(transaction))) return false
    await insertAuditEntry(transaction, entry)
    return true
  })
}

export interface RecordedUse extends KeyName {
  readonly nowMs: number
}

/** Several processes may see the same key; the first one records it. */
export async function recordKeyUse(
  database: Queryable,
  { merchantId, keyId, nowMs }: RecordedUse,
): Promise<void> {
  await database.query(sql`
update merchant_keys set used_at = ${nowMs}
 where merchant_id = ${merchantId} and key_id = ${keyId} and revoked_at is null
   and (used_at is null or abs(used_at - ${nowMs}) >= ${recordedEveryMs})`)
}

export interface KeyInUse extends RecordedUse {
  readonly fromKeyId: string | undefined
}

/**
 * With an action it is a change, which ends a choice made by hand. False if another process recorded one since the
 * key in use was read.
 */
export function setKeyInUse(
  database: Pool,
  { merchantId, keyId, fromKeyId, nowMs }: KeyInUse,
  entry: AuditEntry | undefined,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(sql`
update merchants m
   set aes_key_in_use = ${keyId}, aes_key_in_use_since = ${nowMs},
       callback_key_id = case when ${entry === undefined} then callback_key_id end
 where m.merchant_id = ${merchantId} and m.aes_key_in_use is not distinct from ${fromKeyId}::text
   and exists (select 1 from merchant_keys k
                where k.merchant_id = ${merchantId} and k.key_id = ${keyId} and k.kind = 'aes' and k.revoked_at is null)`)
    if (rowCount !== 1) return false
    await transaction.query(sql`
update merchant_keys set used_at = ${nowMs} where merchant_id = ${merchantId} and key_id = ${keyId}`)
    if (entry) await insertAuditEntry(transaction, entry)
    return true
  })
}

function toKey({ publicKey, sealedKey, kind, ...key }: StoredKey): UsedKey {
  if (kind === 'rsa' && publicKey !== undefined) return { ...key, kind, publicKey }
  if (kind === 'aes' && sealedKey !== undefined) return { ...key, kind, sealedKey }
  throw new Error('a merchant key holds neither a public nor a sealed key')
}
