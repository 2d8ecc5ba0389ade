// Checks in the transaction of a change that the person may still make it.
import { Failure } from '@tillgate/protocol'
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { ActorAccess } from '../rules/approval.ts'
import type { Authority } from '../rules/authority.ts'
import { accessEnded, mayAct, type Role } from '../rules/roles.ts'

/** Throws if the account, role, membership or token has ended. */
export async function checkAccess(
  transaction: Queryable,
  authority: Authority,
  nowMs: number,
): Promise<void> {
  if (authority.kind === 'operator') return checkOperator(transaction, authority, nowMs)
  if (authority.kind === 'member') return checkMember(transaction, authority)
}

export async function checkOperator(
  transaction: Queryable,
  { login, needs, accessVersion, tokenId }: ActorAccess,
  nowMs: number,
): Promise<void> {
  const { rows } = await transaction.query<{ role: Role }>(sql`
select role
  from operators
 where login = ${login} and status = 'active'
   and (${accessVersion}::int is null or access_version = ${accessVersion})
   and (${tokenId}::uuid is null
        or exists (select 1
                     from api_tokens
                    where token_id = ${tokenId} and revoked_at is null and expires_at > ${nowMs}))`)
  if (!rows[0]) throw accessEnded(login)
  if (!mayAct(rows[0].role, needs))
    throw new Failure('not_allowed', {
      message: `This needs the role ${needs}; ${login} is ${rows[0].role} now.`,
    })
}

async function checkMember(
  transaction: Queryable,
  { login, merchantId, roles }: Extract<Authority, { kind: 'member' }>,
): Promise<void> {
  const { rowCount } = await transaction.query(sql`
select 1
  from members m
  join member_accounts a on a.login = m.login
 where m.merchant_id = ${merchantId} and m.login = ${login} and m.role = any (${roles}) and a.status = 'active'`)
  if (rowCount !== 1) throw accessEnded(login)
}
