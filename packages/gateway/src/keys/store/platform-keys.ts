// The gateway's own RSA pairs, the private halves sealed.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'

export type PlatformKeyStore = ReturnType<typeof makePlatformKeyStore>

export interface PlatformKeyRow {
  readonly keyId: string
  readonly publicKey: string
  readonly sealedKey: Buffer
  readonly createdAtMs: number
  /** Published before, used for signing from here on. */
  readonly signsFromMs: number
  readonly retiredAtMs: number | undefined
}

export type NewPlatformKey = Omit<PlatformKeyRow, 'retiredAtMs'>

export function makePlatformKeyStore(database: Pool) {
  return {
    /** Only if there is none: of many gateways that start at once, one key stays. */
    insertFirstKey: (key: NewPlatformKey) => insertFirstKey(database, key),
    /** False when two are there already that are not retired. */
    insertKey: (key: NewPlatformKey, act: Act) =>
      audited(database, act, (transaction) => insertKey(transaction, key)),
    /** False when there is no such key, or no other that signs would be left. */
    retireKey: (key: { keyId: string; nowMs: number }, act: Act) =>
      audited(database, act, (transaction) => retireKey(transaction, key)),
    /** Those that are not retired, the newest first. */
    listKeys: () => listKeys(database, 'where retired_at is null'),
    /** The retired ones too. */
    listAllKeys: () => listKeys(database),
  }
}

const columns = 'key_id, slot, public_key, sealed_key, created_at, signs_from'

function valuesOf(key: NewPlatformKey): unknown[] {
  return [key.keyId, key.publicKey, key.sealedKey, key.createdAtMs, key.signsFromMs]
}

/** The unique slot decides between two that insert at the same moment. */
async function insertFirstKey(database: Queryable, key: NewPlatformKey): Promise<void> {
  await database.query({
    text: `
insert into platform_keys (${columns})
select $1, 1, $2, $3, $4, $5
 where not exists (select from platform_keys where retired_at is null)
    on conflict (slot) where retired_at is null do nothing`,
    values: valuesOf(key),
  })
}

async function insertKey(database: Queryable, key: NewPlatformKey): Promise<boolean> {
  const { rowCount } = await database.query({
    text: `
insert into platform_keys (${columns})
select $1, free.slot, $2, $3, $4, $5
  from (values (1), (2)) as free (slot)
 where not exists (select from platform_keys k where k.slot = free.slot and k.retired_at is null)
 order by free.slot
 limit 1
    on conflict (slot) where retired_at is null do nothing`,
    values: valuesOf(key),
  })
  return rowCount === 1
}

async function retireKey(
  transaction: Queryable,
  { keyId, nowMs }: { keyId: string; nowMs: number },
): Promise<boolean> {
  // Locked, so that of two who retire one key each, only the first succeeds.
  await transaction.query('select from platform_keys where retired_at is null order by key_id for update')
  const { rowCount } = await transaction.query({
    text: `
update platform_keys set retired_at = $2
 where key_id = $1 and retired_at is null
   and exists (select from platform_keys o where o.key_id <> $1 and o.retired_at is null and o.signs_from <= $2)`,
    values: [keyId, nowMs],
  })
  return rowCount === 1
}

async function listKeys(database: Queryable, where = ''): Promise<PlatformKeyRow[]> {
  const { rows } = await database.query<{
    key_id: string
    public_key: string
    sealed_key: Buffer
    created_at: string
    signs_from: string
    retired_at: string | null
  }>({
    text: `
select key_id, public_key, sealed_key, created_at, signs_from, retired_at
  from platform_keys ${where}
 order by created_at desc, key_id desc`,
  })
  return rows.map((row) => ({
    keyId: row.key_id,
    publicKey: row.public_key,
    sealedKey: row.sealed_key,
    createdAtMs: Number(row.created_at),
    signsFromMs: Number(row.signs_from),
    retiredAtMs: row.retired_at === null ? undefined : Number(row.retired_at),
  }))
}
