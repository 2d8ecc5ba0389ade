// Tokens of the admin API by the hash of each, and what an Idempotency-Key stands for.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { ApiToken, Scope } from '../rules/api-token.ts'
import type { Act } from '../rules/audit.ts'
import type { Access, Operator } from '../rules/operator.ts'
import { audited } from './audit.ts'
import { holdAccess, type OperatorRow, operatorColumns, toOperator } from './operators.ts'

export type ApiTokenStore = ReturnType<typeof makeApiTokenStore>

export interface KnownToken {
  readonly token: ApiToken
  readonly operator: Operator
}

export interface IdempotencyKey {
  readonly login: string
  readonly key: string
  readonly actId: string
  readonly contentHash: Buffer
  readonly nowMs: number
}

export function makeApiTokenStore(database: Pool) {
  return {
    /** False: the operator has as many live ones as one may have. Throws where the access was ended meanwhile. */
    insertToken: (token: NewToken, act: Act) =>
      audited(database, act, (transaction) => insertToken(transaction, token)),
    /** Live, and of an operator who is active. */
    findToken: (tokenHash: Buffer, nowMs: number) => findToken(database, tokenHash, nowMs),
    touchToken: (use: TokenUse) => touchToken(database, use),
    /** Of one operator or of all; those that ended are left out. */
    listTokens: (login: string | undefined, nowMs: number) => listTokens(database, login, nowMs),
    /** False: there is no such live token, or it is another's. */
    revokeToken: (token: TokenToRevoke, act: Act) =>
      audited(database, act, (transaction) => revokeToken(transaction, token)),
    /** What the key stands for: what was given, or what was given with it before. */
    keepIdempotencyKey: (key: IdempotencyKey) => keepIdempotencyKey(database, key),
  }
}

interface NewToken extends ApiToken, Access {
  readonly tokenHash: Buffer
  readonly maxLive: number
}

interface TokenRow {
  token_id: string
  login: string
  name: string
  scopes: Scope[]
  token_created_at: string
  expires_at: string
  last_used_at: string | null
  last_used_from: string | null
  revoked_at: string | null
}

const columns = `k.token_id, k.login, k.name, k.scopes, k.created_at as token_created_at, k.expires_at, k.last_used_at,
       k.last_used_from, k.revoked_at`

async function insertToken(transaction: Queryable, token: NewToken): Promise<boolean> {
  // Also so that two at once do not both take the last place.
  await holdAccess(transaction, token)
  const { rowCount } = await transaction.query({
    text: `
insert into api_tokens (token_id, token_hash, login, name, scopes, created_at, expires_at)
select $1, $2, $3, $4, $5, $6, $7
 where $8 > (select count(*) from api_tokens where login = $3 and revoked_at is null and expires_at > $6)`,
    values: [
      token.tokenId,
      token.tokenHash,
      token.login,
      token.name,
      token.scopes,
      token.createdAtMs,
      token.expiresAtMs,
      token.maxLive,
    ],
  })
  return rowCount === 1
}

async function findToken(
  database: Queryable,
  tokenHash: Buffer,
  nowMs: number,
): Promise<KnownToken | undefined> {
  const { rows } = await database.query<TokenRow & OperatorRow>({
    name: 'find-api-token',
    text: `
select ${columns}, ${operatorColumns('o')}
  from api_tokens k join operators o on o.login = k.login
 where k.token_hash = $1 and k.revoked_at is null and k.expires_at > $2 and o.status = 'active'`,
    values: [tokenHash, nowMs],
  })
  const row = rows[0]
  return row && { token: toToken(row), operator: toOperator(row) }
}

interface TokenUse {
  readonly tokenId: string
  readonly nowMs: number
  readonly from: string
}

async function touchToken(database: Queryable, { tokenId, nowMs, from }: TokenUse): Promise<void> {
  await database.query({
    text: 'update api_tokens set last_used_at = $2, last_used_from = $3 where token_id = $1',
    values: [tokenId, nowMs, from],
  })
}

async function listTokens(
  database: Queryable,
  login: string | undefined,
  nowMs: number,
): Promise<ApiToken[]> {
  const { rows } = await database.query<TokenRow>({
    text: `
select ${columns}
  from api_tokens k
 where ($1::text is null or k.login = $1) and k.revoked_at is null and k.expires_at > $2
 order by k.login, k.token_id desc`,
    values: [login ?? null, nowMs],
  })
  return rows.map(toToken)
}

interface TokenToRevoke {
  readonly tokenId: string
  /** Undefined: whosever it is. */
  readonly login: string | undefined
  readonly nowMs: number
}

async function revokeToken(
  transaction: Queryable,
  { tokenId, login, nowMs }: TokenToRevoke,
): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
update api_tokens set revoked_at = $3
 where token_id = $1 and ($2::text is null or login = $2) and revoked_at is null`,
    values: [tokenId, login ?? null, nowMs],
  })
  return rowCount === 1
}

async function keepIdempotencyKey(
  database: Queryable,
  { login, key, actId, contentHash, nowMs }: IdempotencyKey,
): Promise<{ actId: string; contentHash: Buffer }> {
  await database.query({
    text: `
insert into idempotency_keys (login, key, act_id, content_hash, created_at)
values ($1, $2, $3, $4, $5)
    on conflict do nothing`,
    values: [login, key, actId, contentHash, nowMs],
  })
  const { rows } = await database.query<{ act_id: string; content_hash: Buffer }>({
    text: 'select act_id, content_hash from idempotency_keys where login = $1 and key = $2',
    values: [login, key],
  })
  if (!rows[0]) throw new Error('a key that was kept is there')
  return { actId: rows[0].act_id, contentHash: rows[0].content_hash }
}

function toToken(row: TokenRow): ApiToken {
  return {
    tokenId: row.token_id,
    login: row.login,
    name: row.name,
    scopes: row.scopes,
    createdAtMs: Number(row.token_created_at),
    expiresAtMs: Number(row.expires_at),
    lastUsedAtMs: row.last_used_at === null ? undefined : Number(row.last_used_at),
    lastUsedFrom: row.last_used_from ?? undefined,
    revokedAtMs: row.revoked_at === null ? undefined : Number(row.revoked_at),
  }
}
