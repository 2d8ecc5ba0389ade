// Every secret sealed under the master key, wherever it is stored, to count and reseal them. A test compares the
// places with the catalog.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { columnsOf, plainSql, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../audit/store/audit.ts'

export type SealedSecretStore = ReturnType<typeof makeSealedSecretStore>

export type SecretKind =
  | 'merchant_key'
  | 'platform_key'
  | 'operator_totp'
  | 'operator_password'
  | 'member_totp'
  | 'member_password'
  | 'wallet_pin'
  | 'rail_secret'
  | 'endpoint_secret'
  | 'dispute_evidence'
  | 'email_link'
  | 'approval_half'

/** `owner` is the merchant's or the rail's id, or an operator's login; empty for the gateway's own secrets. */
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
  readonly live: number
  readonly ended: number
}

interface Place {
  readonly table: string
  /** The column of the sealed bytes, or the expression that reads them. */
  readonly column: string
  /** Where that is no column: what writes `k.sealed` back. */
  readonly assignment?: string
  /** Undefined: the gateway owns the secret. */
  readonly owner?: string
  readonly id: string
  readonly isLive: string
  /** Joins a row of `t` with a row of `k`. */
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
    id: 'key_id::text',
    isLive: 'retired_at is null',
    match: 't.key_id = k.id::uuid',
  },
  operator_totp: {
    table: 'operator_totp',
    column: 'sealed_secret',
    id: 'login',
    isLive: 'true',
    match: 't.login = k.id',
  },
  operator_password: {
    table: 'operators',
    column: 'sealed_password',
    id: 'login',
    isLive: 'true',
    match: 't.login = k.id',
  },
  member_totp: {
    table: 'member_totp',
    column: 'sealed_secret',
    id: 'login',
    isLive: 'true',
    match: 't.login = k.id',
  },
  member_password: {
    table: 'member_accounts',
    column: 'sealed_password',
    id: 'login',
    isLive: 'true',
    match: 't.login = k.id',
  },
  wallet_pin: {
    table: 'wallets',
    column: 'sealed_pin',
    id: 'wallet_id',
    isLive: 'true',
    match: 't.wallet_id = k.id',
  },
  rail_secret: {
    table: 'rail_secrets',
    column: 'sealed_secret',
    owner: 'rail_id',
    id: 'secret_id::text',
    isLive: 'ended_at is null',
    match: 't.rail_id = k.owner and t.secret_id = k.id::uuid',
  },
  endpoint_secret: {
    table: 'callback_endpoint_secrets',
    column: 'sealed_secret',
    owner: 'merchant_id',
    id: 'secret_id::text',
    isLive: 'ended_at is null',
    match: 't.merchant_id = k.owner and t.secret_id = k.id::uuid',
  },
  dispute_evidence: {
    table: 'disputes',
    column: 'sealed_file',
    owner: 'merchant_id',
    id: 'dispute_id',
    isLive: 'true',
    match: 't.merchant_id = k.owner and t.dispute_id = k.id',
  },
  email_link: {
    table: 'emails',
    column: 'sealed_link',
    id: 'email_id::text',
    isLive: 'true',
    match: 't.email_id = k.id::uuid',
  },
  // Half of a password, in the input of a request that waits.
  approval_half: {
    table: 'approvals',
    column: `decode(input ->> 'firstHalf', 'base64')`,
    assignment: `input = jsonb_set(input, '{firstHalf}', to_jsonb(translate(encode(k.sealed, 'base64'), E'\\n', '')))`,
    owner: `coalesce(params ->> 'login', input ->> 'login', '')`,
    id: 'approval_id::text',
    isLive: `status = 'waiting'`,
    match: 't.approval_id = k.id::uuid',
  },
}

// Safe: these are its own keys.
export const secretKinds = Object.keys(sealedPlaces) as readonly SecretKind[]

export function makeSealedSecretStore(database: Pool) {
  return {
    countByMasterKey: () => countByMasterKey(database),
    listNotUnder: (options: ListOptions) => listNotUnder(database, options),
    /** Updates only secrets that did not change since they were read, and records the action. Returns the count. */
    reseal: (secrets: readonly Resealed[], entry?: AuditEntry) => reseal(database, secrets, entry),
  }
}

const underShape = rowShape<SecretsUnder>('under', {
  // Bytes 2 to 9 of a sealed secret are the id of its master key (see vault.ts).
  masterKeyId: 'substring(sealed from 2 for 8)',
  live: number('count(*) filter (where is_live)'),
  ended: number('count(*) filter (where not is_live)'),
})

const sealedSql = Object.entries(sealedPlaces)
  .map(
    ([kind, { table, column, owner = `''`, id, isLive }]) =>
      `select '${kind}' as kind, ${owner} as owner, ${id} as id, ${column} as sealed, ${isLive} as is_live
  from ${table} where ${column} is not null`,
  )
  .join('\n union all\n')

async function countByMasterKey(database: Queryable): Promise<SecretsUnder[]> {
  const { rows } = await database.query(sql`
select ${underShape.columns} from (${plainSql(sealedSql)}) as secrets group by 1 order by 1`)
  return rows.map(underShape.read)
}

interface ListOptions {
  readonly kind: SecretKind
  readonly masterKeyId: Buffer
  readonly after: SecretKey | undefined
  readonly limit: number
}

/** Pages one place by its primary key, because a million wallets may each have a PIN. */
async function listNotUnder(
  database: Queryable,
  { kind, masterKeyId, after, limit }: ListOptions,
): Promise<SealedSecret[]> {
  const { table, column, owner, id } = sealedPlaces[kind]
  const keys = owner === undefined ? [id] : [owner, id]
  const given = [...(owner === undefined ? [] : [after?.owner ?? '']), after?.id ?? '']
  const { rows } = await database.query<SealedSecret>({
    text: `
select '${kind}' as kind, ${owner ?? `''`} as owner, ${id} as id, ${column} as sealed
  from ${table}
 where substring(${column} from 2 for 8) <> $1 and (${keys}) > (${keys.map((_, index) => `$${index + 3}`)})
 order by ${keys}
 limit $2`,
    values: [masterKeyId, limit, ...given],
  })
  return rows
}

function reseal(
  database: Pool,
  secrets: readonly Resealed[],
  entry: AuditEntry | undefined,
): Promise<number> {
  return database.transaction(async (transaction) => {
    let resealed = 0
    for (const [kind, place] of Object.entries(sealedPlaces)) {
      const { table, column, match, assignment = `${column} = k.sealed` } = place
      const some = secrets.filter((secret) => secret.kind === kind)
      if (some.length === 0) continue
      const { rowCount } = await transaction.query({
        text: `
update ${table} t set ${assignment}
  from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) as k (owner, id, before, sealed)
 where ${match} and ${column} = k.before`,
        values: columnsOf(some, 'owner', 'id', 'before', 'sealed'),
      })
      resealed += rowCount
    }
    if (entry && resealed > 0) await insertAuditEntry(transaction, entry)
    return resealed
  })
}
