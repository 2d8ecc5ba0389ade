// The gateway's own RSA pairs, the private halves sealed.
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
  /** Published before, used for signing from here on. */
  readonly signsFromMs: number
  readonly retiredAtMs: number | undefined
}

export type NewPlatformKey = Omit<PlatformKeyRow, 'retiredAtMs'>

export function makePlatformKeyStore(database: Pool) {
  return {
    /** Only if there is none: of many gateways that start at once, one key stays. */
    insertFirstKey: (key: NewPlatformKey) =>
      insertKey(database, key, sql`not exists (select 1 from platform_keys where retired_at is null)`),
    /** False when two are there already that are not retired. */
    insertKey: (key: NewPlatformKey, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertKey(transaction, key)),
    /** False when there is no such key, or no other that signs would be left. */
    retireKey: (key: { keyId: string; nowMs: number }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => retireKey(transaction, key)),
    /** Those that are not retired, the newest first. */
    listKeys: () => listKeys(database, sql`retired_at is null`),
    /** The retired ones too. */
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

/** The unique slot decides between two that insert at the same moment. */
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
  // Locked, so that of two who retire one key each, only the first succeeds.
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
