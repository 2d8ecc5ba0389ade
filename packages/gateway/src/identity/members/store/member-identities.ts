// Members' accounts by their identity at a provider.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Access } from '../../accounts/rules/account.ts'

export type MemberIdentities = ReturnType<typeof makeMemberIdentities>

export interface NewIdentity {
  readonly login: string
  /** The invitation that creates the account; it stays open until they join. */
  readonly linkId: string
  readonly identity: string
  readonly nowMs: number
}

export function makeMemberIdentities(database: Pool) {
  return {
    /** Undefined unless the account is active. */
    async findAccess(identity: string): Promise<Access | undefined> {
      const { rows } = await database.query<Access>(sql`
select login, access_version as "accessVersion" from member_accounts
 where identity = ${identity} and status = 'active'`)
      return rows[0]
    },
    /** False if the invitation is used, or an account has this address or subject already. */
    insertAccount: (identity: NewIdentity, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertAccount(transaction, identity)),
  }
}

async function insertAccount(transaction: Queryable, given: NewIdentity): Promise<boolean> {
  const { login, linkId, identity, nowMs } = given
  const { rowCount } = await transaction.query(sql`
insert into member_accounts (login, name, status, identity, password_changed_at, created_at)
select login, name, 'active', ${identity}, ${nowMs}, ${nowMs} from member_links
 where link_id = ${linkId} and login = ${login} and kind = 'invitation' and used_at is null and expires_at > ${nowMs}
    on conflict do nothing`)
  return rowCount === 1
}
