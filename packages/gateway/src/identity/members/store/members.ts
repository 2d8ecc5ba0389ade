// Members of merchants and their accounts. Every query about one merchant names it.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, type Sql, sql } from '../../../platform/database/sql.ts'
import type { Account } from '../../accounts/rules/account.ts'
import { endAccess } from '../../accounts/store/account-sessions.ts'
import { accountSources, memberTables } from '../../accounts/store/account-tables.ts'
import { removePasskeys } from '../../accounts/store/passkeys.ts'
import type { ListedMember, Member, Membership } from '../rules/member.ts'

export type MemberStore = ReturnType<typeof makeMemberStore>

/** Reads `member_accounts` with the alias `o`. */
export const memberAccountShape = rowShape<Account>('account', accountSources(memberTables))

export interface NewAccount {
  readonly login: string
  readonly name: string | undefined
  readonly sealedPassword: Buffer
  readonly nowMs: number
}

export interface NewPassword extends Omit<NewAccount, 'name'> {
  /** The access that confirmed the change; undefined for a link. */
  readonly accessVersion?: number
}

type MemberKey = Pick<Member, 'merchantId' | 'login'>
/** `last_owner`: the change would leave no owner to manage members. */
type Changed = 'done' | 'missing' | 'last_owner'

export function makeMemberStore(database: Pool) {
  return {
    listMembers: ({ merchantId }: { merchantId: string }) => listMembers(database, merchantId),
    findMember: (key: MemberKey) => findMember(database, key),
    /** False for an account of an identity provider. */
    async hasPassword(login: string): Promise<boolean> {
      const { rowCount } = await database.query(sql`
select 1 from member_accounts where login = ${login} and identity is null`)
      return rowCount === 1
    },
    /** The merchants of a login, by name. */
    listMemberships: (login: string) => listMemberships(database, login),
    /** Ends all access and every lock. False if the account does not exist, or its access ended. */
    setPassword: (change: NewPassword, entry: AuditEntry) =>
      audited(database, entry, (transaction) => setPassword(transaction, change)),
    setRole: (member: MemberKey & Pick<Member, 'role'>, entry: AuditEntry) =>
      changeMember(database, member, entry, async (transaction) => {
        if (member.role !== 'owner') await endInvitations(transaction, member, isMadeBy(member))
        return transaction.query(sql`
update members set role = ${member.role} where merchant_id = ${member.merchantId} and login = ${member.login}`)
      }),
    /** Also ends open invitations, because one may have been made during the join, and password links. */
    removeMember: (key: MemberKey, entry: AuditEntry) =>
      changeMember(database, { ...key, role: undefined }, entry, async (transaction) => {
        await endInvitations(transaction, key, sql`(l.login = ${key.login} or ${isMadeBy(key)})`)
        await endRecoveries(transaction, key)
        return transaction.query(sql`
delete from members where merchant_id = ${key.merchantId} and login = ${key.login}`)
      }),
  }
}

const memberShape = rowShape<Member>('member', {
  merchantId: 'm.merchant_id',
  login: 'm.login',
  role: 'm.role',
  createdAtMs: number('m.created_at'),
})

async function listMembers(database: Queryable, merchantId: string): Promise<ListedMember[]> {
  const { rows } = await database.query<
    Pick<ListedMember, 'hasPassword' | 'hasSecondStep'> & { name: string | null }
  >(sql`
select ${memberShape.columns}, a.name, a.identity is null as "hasPassword", t.confirmed_at is not null as "hasSecondStep"
  from members m join member_accounts a on a.login = m.login left join member_totp t on t.login = m.login
 where m.merchant_id = ${merchantId}
 order by m.login`)
  return rows.map((row) => ({
    ...memberShape.read(row),
    name: row.name ?? undefined,
    hasPassword: row.hasPassword,
    hasSecondStep: row.hasSecondStep,
  }))
}

async function findMember(
  database: Queryable,
  { merchantId, login }: MemberKey,
): Promise<Member | undefined> {
  const { rows } = await database.query(sql`
select ${memberShape.columns} from members m where m.merchant_id = ${merchantId} and m.login = ${login}`)
  return rows[0] && memberShape.read(rows[0])
}

/** Two statements, because on Citus merchants and members lie on different nodes. */
async function listMemberships(database: Queryable, login: string): Promise<Membership[]> {
  const { rows } = await database.query(prepared('list-memberships')`
select ${memberShape.columns} from members m where m.login = ${login} order by m.created_at, m.merchant_id`)
  if (rows.length === 0) return []
  const members = rows.map(memberShape.read)
  const { rows: named } = await database.query<{ merchant_id: string; name: string }>(sql`
select merchant_id, name from merchants where merchant_id = any (${members.map((each) => each.merchantId)}::text[])`)
  const names = new Map(named.map((row) => [row.merchant_id, row.name]))
  return members.flatMap((member) => {
    const merchantName = names.get(member.merchantId)
    return merchantName === undefined ? [] : { ...member, merchantName }
  })
}

/** False if the account exists. */
export async function insertAccount(
  transaction: Queryable,
  { login, name, sealedPassword, nowMs }: NewAccount,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
insert into member_accounts (login, name, status, sealed_password, password_changed_at, created_at)
values (${login}, ${name}, 'active', ${sealedPassword}, ${nowMs}, ${nowMs})
    on conflict do nothing`)
  return rowCount === 1
}

/** An existing member keeps their role. */
export async function insertMember(
  transaction: Queryable,
  { merchantId, login, role, createdAtMs }: Member,
): Promise<true> {
  await transaction.query(sql`
insert into members (merchant_id, login, role, created_at)
values (${merchantId}, ${login}, ${role}, ${createdAtMs})
    on conflict do nothing`)
  return true
}

export async function setPassword(
  transaction: Queryable,
  { login, sealedPassword, nowMs, accessVersion }: NewPassword,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update member_accounts
   set sealed_password = ${sealedPassword}, password_changed_at = ${nowMs}, tries = 0, locked_until = null
 where login = ${login} and status = 'active' and identity is null
   and (${accessVersion}::integer is null or access_version = ${accessVersion})`)
  if (rowCount !== 1) return false
  // Ends other password links, which another person may hold. After the account is locked, in the same order as
  // everywhere.
  await transaction.query(sql`
delete from member_links where login = ${login} and kind = 'recovery' and used_at is null`)
  // The old password was not checked, so a passkey may belong to another person.
  if (accessVersion === undefined) await removePasskeys(transaction, login, memberTables)
  return endAccess(transaction, { login, nowMs }, memberTables)
}

/** Links made by this member as an owner, which may be for another address of theirs. */
function isMadeBy({ login }: MemberKey): Sql {
  return sql`starts_with(l.made_by, ${`member:${login}@`})`
}

/**
 * Ends unused invitations of an existing member. Runs before members are changed, in the same lock order as joining.
 */
async function endInvitations(
  transaction: Queryable,
  { merchantId, login }: MemberKey,
  condition: Sql,
): Promise<void> {
  await transaction.query(sql`
delete from member_links l
 where l.merchant_id = ${merchantId} and l.used_at is null and ${condition}
   and exists (select 1 from members m where m.merchant_id = ${merchantId} and m.login = ${login})`)
}

/** Ends all password links of the person. One who is still a member elsewhere can request another. */
async function endRecoveries(transaction: Queryable, { merchantId, login }: MemberKey): Promise<void> {
  await transaction.query(sql`
delete from member_links l
 where l.login = ${login} and l.kind = 'recovery' and l.used_at is null
   and exists (select 1 from members m where m.merchant_id = ${merchantId} and m.login = ${login})`)
}

async function changeMember(
  database: Pool,
  { merchantId, login, role }: MemberKey & { readonly role: Member['role'] | undefined },
  entry: AuditEntry,
  change: (transaction: Queryable) => Promise<{ rowCount: number }>,
): Promise<Changed> {
  let outcome: Changed = 'done'
  await audited(database, entry, async (transaction) => {
    // Locks the owners, so that two who remove each other do not both succeed.
    const { rows: owners } = await transaction.query<{ login: string }>(sql`
select login from members where merchant_id = ${merchantId} and role = 'owner' order by login for update`)
    if (role !== 'owner' && owners.length === 1 && owners[0]?.login === login) outcome = 'last_owner'
    else if ((await change(transaction)).rowCount === 0) outcome = 'missing'
    return outcome === 'done'
  })
  return outcome
}
