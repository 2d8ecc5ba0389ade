// Everything in the database that is sealed under the master key, wherever it rests: to see under which key, and to
// put it under another. A test holds the list of places against the catalog.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { insertAct } from '../../operators/store/audit.ts'

export type SealedSecretStore = ReturnType<typeof makeSealedSecretStore>

export type SecretKind = 'merchant_key' | 'platform_key' | 'operator_totp'

/** `owner` is the merchant's id, and empty for what belongs to the gateway. */
export interface SecretKey {
  readonly kind: SecretKind
  readonly owner: string
  readonly id: string
}

export interface SealedSecret extends SecretKey {
  readonly sealed: Buffer
}

export interface Resealed extends SealedSecret {
  readonly before: Buffer
}

export interface SecretsUnder {
  readonly masterKeyId: Buffer
  /** Of keys in use. */
  readonly live: number
  /** Of revoked and retired ones. */
  readonly ended: number
}

interface Place {
  readonly table: string
  readonly column: string
  readonly owner: string
  readonly id: string
  readonly isLive: string
  /** How a row of `t` is found by a row of `k`. */
  readonly match: string
}

export const sealedPlaces: Readonly<Record<SecretKind, Place>> = {
  merchant_key: {
    table: 'merchant_keys',
    column: 'sealed_key',
    owner: 'merchant_id',
    id: 'key_id',
    isLive: 'revoked_at is null',
    match: 't.merchant_id = k.owner and t.key_id = k.id',
  },
  platform_key: {
    table: 'platform_keys',
    column: 'sealed_key',
    owner: `''`,
    id: 'key_id::text',
    isLive: 'retired_at is null',
    match: 't.key_id = k.id::uuid',
  },
  operator_totp: {
    table: 'operator_totp',
    column: 'sealed_secret',
    owner: `''`,
    id: 'login',
    isLive: 'true',
    match: 't.login = k.id',
  },
}

export function makeSealedSecretStore(database: Pool) {
  return {
    /** How many secrets rest under which master key. */
    countByMasterKey: () => countByMasterKey(database),
    /** Secrets under any other master key, in the order of their keys. */
    listNotUnder: (options: ListOptions) => listNotUnder(database, options),
    /** Only where the secret is still the one that was read; how many. */
    reseal: (secrets: readonly Resealed[]) => reseal(database, secrets),
    record: (act: Act) => database.transaction((transaction) => insertAct(transaction, act)),
  }
}

// Bytes 2 to 9 of a sealed secret are the id of its master key (vault.ts).
const masterKeyIdSql = 'substring(sealed from 2 for 8)'

const sealedSql = Object.entries(sealedPlaces)
  .map(
    ([kind, { table, column, owner, id, isLive }]) =>
      `select '${kind}' as kind, ${owner} as owner, ${id} as id, ${column} as sealed, ${isLive} as is_live
  from ${table} where ${column} is not null`,
  )
  .join('\n union all\n')

async function countByMasterKey(database: Queryable): Promise<SecretsUnder[]> {
  const { rows } = await database.query<{ master_key_id: Buffer; live: string; ended: string }>({
    text: `
select ${masterKeyIdSql} as master_key_id,
       count(*) filter (where is_live) as live, count(*) filter (where not is_live) as ended
  from (${sealedSql}) as secrets
 group by 1
 order by 1`,
  })
  return rows.map(({ master_key_id, live, ended }) => ({
    masterKeyId: master_key_id,
    live: Number(live),
    ended: Number(ended),
  }))
}

interface ListOptions {
  readonly masterKeyId: Buffer
  readonly after: SecretKey | undefined
  readonly limit: number
}

async function listNotUnder(
  database: Queryable,
  { masterKeyId, after, limit }: ListOptions,
): Promise<SealedSecret[]> {
  const { rows } = await database.query<SealedSecret>({
    text: `
select kind, owner, id, sealed
  from (${sealedSql}) as secrets
 where ${masterKeyIdSql} <> $1 and (kind, owner, id) > ($2, $3, $4)
 order by kind, owner, id
 limit $5`,
    values: [masterKeyId, after?.kind ?? '', after?.owner ?? '', after?.id ?? '', limit],
  })
  return rows
}

function reseal(database: Pool, secrets: readonly Resealed[]): Promise<number> {
  return database.transaction(async (transaction) => {
    let resealed = 0
    for (const [kind, { table, column, match }] of Object.entries(sealedPlaces)) {
      const some = secrets.filter((secret) => secret.kind === kind)
      if (some.length === 0) continue
      const { rowCount } = await transaction.query({
        text: `
update ${table} t set ${column} = k.sealed
  from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) as k (owner, id, before, sealed)
 where ${match} and t.${column} = k.before`,
        values: [
          some.map(({ owner }) => owner),
          some.map(({ id }) => id),
          some.map(({ before }) => before),
          some.map(({ sealed }) => sealed),
        ],
      })
      resealed += rowCount
    }
    return resealed
  })
}
