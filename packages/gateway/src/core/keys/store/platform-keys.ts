// The gateway's own RSA key pairs, with sealed private keys.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { type Sql, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited } from '../../audit/store/audit.ts'

export type PlatformKeyStore = ReturnType<typeof makePlatformKeyStore>

export interface PlatformKeyRow {
  readonly keyId: string
  readonly publicKey: string
  readonly sealedKey: Buffer
  readonly createdAtMs: number
  /** The key is published earlier and signs from this time. */
  readonly signsFromMs: number
  readonly retiredAtMs: number | undefined
}

export type NewPlatformKey = Omit<PlatformKeyRow, 'retiredAtMs'>

export function makePlatformKeyStore(database: Pool) {
  return {
    /** If several gateways start at once, only one inserts its key. */
    insertFirstKey: (key: NewPlatformKey) =>
      insertKey(database, key, sql`not exists (select 1 from platform_keys where retired_at is null)`),
    /** False if two keys that are not retired exist already. */
    insertKey: (key: NewPlatformKey, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertKey(transaction, key)),
    /** False if the key does not exist or no other signing key would remain. */
    retireKey: (key: { keyId: string; nowMs: number }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => retireKey(transaction, key)),
    listKeys: () => listKeys(database, sql`retired_at is null`),
    listAllKeys: () => listKeys(database, sql`true`),
  }
}

const shape = rowShape<PlatformKeyRow>('key', {
  keyId: 'key_id',
  publicKey: 'public_key',
  sealedKey: 'sealed_key',
  createdAtMs: number('created_at'),
  signsFromMs: number('signs_from'),
  retiredAtMs: number('retired_at'),
})

const isFree = sql`not exists (select 1 from platform_keys k where k.slot = free.slot and k.retired_at is null)`

/** The unique slot lets only one of two concurrent inserts succeed. */
async function insertKey(
  database: Queryable,
  { keyId, publicKey, sealedKey, createdAtMs, signsFromMs }: NewPlatformKey,
  condition = isFree,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
insert into platform_keys (key_id, slot, public_key, sealed_key, created_at, signs_from)
select ${keyId}, free.slot, ${publicKey}, ${sealedKey}, ${createdAtMs}, ${signsFromMs}
  from (values (1), (2)) as free (slot)
 where ${condition}
 order by free.slot
 limit 1
    on conflict (slot) where retired_at is null do nothing`)
  return rowCount === 1
}

async function retireKey(
  transaction: Queryable,
  { keyId, nowMs }: { keyId: string; nowMs: number },
): Promise<boolean> {
  // Locked, so that of two concurrent retirements only the first succeeds.
  await transaction.query('select from platform_keys where retired_at is null order by key_id for update')
  const { rowCount } = await transaction.query(sql`
update platform_keys set retired_at = ${nowMs}
 where key_id = ${keyId} and retired_at is null
   and exists (select 1 from platform_keys o
                where o.key_id <> ${keyId} and o.retired_at is null and o.signs_from <= ${nowMs})`)
  return rowCount === 1
}

async function listKeys(database: Queryable, wanted: Sql): Promise<PlatformKeyRow[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from platform_keys where ${wanted} order by created_at desc, key_id desc`)
  return rows.map(shape.read)
}
