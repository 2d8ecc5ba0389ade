// Tokens of the admin API by their hash.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import type { Access } from '../../accounts/rules/account.ts'
import { holdAccess } from '../../accounts/store/account-sessions.ts'
import { operatorTables } from '../../accounts/store/account-tables.ts'
import type { ApiToken } from '../rules/api-token.ts'
import type { Operator } from '../rules/operator.ts'
import { operatorShape } from './operators.ts'

export type ApiTokenStore = ReturnType<typeof makeApiTokenStore>

export interface KnownToken {
  readonly token: ApiToken
  readonly operator: Operator
}

export function makeApiTokenStore(database: Pool) {
  return {
    /** False if the operator has the maximum number of live tokens. Throws if the access ended in between. */
    insertToken: (token: NewToken, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertToken(transaction, token)),
    /** Only live tokens of active operators. */
    findToken: (tokenHash: Buffer, nowMs: number) => findToken(database, tokenHash, nowMs),
    touchToken: ({ tokenId, nowMs, from }: { tokenId: string; nowMs: number; from: string }) =>
      database.query(sql`
update api_tokens set last_used_at = ${nowMs}, last_used_from = ${from} where token_id = ${tokenId}`),
    /** Lists the live tokens of one operator, or all live tokens. */
    listTokens: (login: string | undefined, nowMs: number) => listTokens(database, login, nowMs),
    /** False if no such live token exists, or it belongs to another operator. */
    revokeToken: (token: TokenToRevoke, entry: AuditEntry) =>
      audited(database, entry, (transaction) => revokeToken(transaction, token)),
  }
}

const tokenShape = rowShape<ApiToken>('token', {
  tokenId: 'k.token_id',
  login: 'k.login',
  name: 'k.name',
  scopes: 'k.scopes',
  createdAtMs: number('k.created_at'),
  expiresAtMs: number('k.expires_at'),
  lastUsedAtMs: number('k.last_used_at'),
  lastUsedFrom: 'k.last_used_from',
  revokedAtMs: number('k.revoked_at'),
})

interface NewToken extends ApiToken, Access {
  readonly tokenHash: Buffer
  readonly maxLive: number
}

async function insertToken(transaction: Queryable, token: NewToken): Promise<boolean> {
  const { login, createdAtMs } = token
  // Serializes inserts, so that two at once do not both take the last place.
  await holdAccess(transaction, token, operatorTables)
  const { rowCount } = await transaction.query(sql`
insert into api_tokens (token_id, token_hash, login, name, scopes, created_at, expires_at)
select ${token.tokenId}, ${token.tokenHash}, ${login}, ${token.name}, ${token.scopes}, ${createdAtMs}, ${token.expiresAtMs}
 where ${token.maxLive} > (select count(*)
                             from api_tokens
                            where login = ${login} and revoked_at is null and expires_at > ${createdAtMs})`)
  return rowCount === 1
}

async function findToken(
  database: Queryable,
  tokenHash: Buffer,
  nowMs: number,
): Promise<KnownToken | undefined> {
  const { rows } = await database.query(prepared('find-api-token')`
select ${tokenShape.columns}, ${operatorShape.columns}
  from api_tokens k join operators o on o.login = k.login
 where k.token_hash = ${tokenHash} and k.revoked_at is null and k.expires_at > ${nowMs} and o.status = 'active'`)
  return rows[0] && { token: tokenShape.read(rows[0]), operator: operatorShape.read(rows[0]) }
}

async function listTokens(
  database: Queryable,
  login: string | undefined,
  nowMs: number,
): Promise<ApiToken[]> {
  const { rows } = await database.query(sql`
select ${tokenShape.columns}
  from api_tokens k
 where (${login}::text is null or k.login = ${login}) and k.revoked_at is null and k.expires_at > ${nowMs}
 order by k.login, k.token_id desc`)
  return rows.map(tokenShape.read)
}

interface TokenToRevoke {
  readonly tokenId: string
  /** Undefined for any operator. */
  readonly login: string | undefined
  readonly nowMs: number
}

async function revokeToken(
  transaction: Queryable,
  { tokenId, login, nowMs }: TokenToRevoke,
): Promise<boolean> {
  const { rows } = await transaction.query<{ login: string; name: string }>(sql`
update api_tokens set revoked_at = ${nowMs}
 where token_id = ${tokenId} and (${login}::text is null or login = ${login}) and revoked_at is null
returning login, name`)
  const [revoked] = rows
  if (!revoked) return false
  // A token may be revoked because it was stolen, so nothing that it requested is approved any more.
  await transaction.query(sql`
update approvals set status = 'expired', decided_at = ${nowMs}
 where requested_by = ${revoked.login} and status = 'waiting'
   and starts_with(requested_as, ${`api:${revoked.login}/${revoked.name}@`})`)
  return true
}
