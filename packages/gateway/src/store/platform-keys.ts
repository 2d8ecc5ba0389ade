// The gateway's own RSA pairs, the private halves sealed.
import type { Pool, Queryable } from '../database/pool.ts'

export type PlatformKeyStore = ReturnType<typeof makePlatformKeyStore>

export interface PlatformKeyRow {
  readonly keyId: string
  readonly publicKey: string
  readonly sealedKey: Buffer
  readonly createdAtMs: number
}

export function makePlatformKeyStore(database: Pool) {
  return {
    /** Only if there is none: of many gateways that start at once, one key stays. */
    insertFirstKey: (key: PlatformKeyRow) => insertFirstKey(database, key),
    /** Those that are not retired, the newest first. */
    listKeys: () => listKeys(database),
    /** The ids of the master keys under which they are sealed: bytes 2 to 9 of each (vault.ts). */
    listMasterKeyIds: () => listMasterKeyIds(database),
  }
}

/** The unique slot decides between two that insert at the same moment. */
async function insertFirstKey(database: Queryable, key: PlatformKeyRow): Promise<void> {
  await database.query({
    text: `
insert into platform_keys (key_id, slot, public_key, sealed_key, created_at)
select $1, 1, $2, $3, $4
 where not exists (select from platform_keys where retired_at is null)
    on conflict (slot) where retired_at is null do nothing`,
    values: [key.keyId, key.publicKey, key.sealedKey, key.createdAtMs],
  })
}

async function listKeys(database: Queryable): Promise<PlatformKeyRow[]> {
  const { rows } = await database.query<{
    key_id: string
    public_key: string
    sealed_key: Buffer
    created_at: string
  }>({
    text: `
select key_id, public_key, sealed_key, created_at
  from platform_keys
 where retired_at is null
 order by created_at desc, key_id desc`,
  })
  return rows.map((row) => ({
    keyId: row.key_id,
    publicKey: row.public_key,
    sealedKey: row.sealed_key,
    createdAtMs: Number(row.created_at),
  }))
}

async function listMasterKeyIds(database: Queryable): Promise<Buffer[]> {
  const { rows } = await database.query<{ id: Buffer }>({
    text: 'select distinct substring(sealed_key from 2 for 8) as id from platform_keys where retired_at is null',
  })
  return rows.map(({ id }) => id)
}
