// The operators' idempotency keys: the id of each key and the hash of the content that it was first used with.
import type { Pool } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'

export type IdempotencyKeyStore = ReturnType<typeof makeIdempotencyKeyStore>

export interface GivenKey {
  readonly login: string
  readonly key: string
  readonly idempotencyKey: string
  readonly contentHash: Buffer
}

export function makeIdempotencyKeyStore(database: Pool) {
  return {
    /** Returns what is stored with the key, which may be from an earlier request. */
    async keep({
      login,
      key,
      idempotencyKey,
      contentHash,
    }: GivenKey): Promise<Pick<GivenKey, 'idempotencyKey' | 'contentHash'>> {
      await database.query(sql`
insert into idempotency_keys (login, key, action_id, content_hash)
values (${login}, ${key}, ${idempotencyKey}, ${contentHash})
    on conflict do nothing`)
      const { rows } = await database.query<Pick<GivenKey, 'idempotencyKey' | 'contentHash'>>(sql`
select action_id as "idempotencyKey", content_hash as "contentHash"
  from idempotency_keys where login = ${login} and key = ${key}`)
      if (!rows[0]) throw new Error('a key that was kept is there')
      return rows[0]
    },
  }
}
