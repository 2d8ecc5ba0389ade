// One-time links by their hash: created, found, used once. A link is used up in the transaction of its effect, so that
// one of two requests succeeds.
import { Failure } from '@tillgate/protocol'
import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Access } from '../../accounts/rules/account.ts'
import { hasAccess } from '../../accounts/store/account-sessions.ts'
import { memberTables } from '../../accounts/store/account-tables.ts'
import { type MemberLink, makerOf } from '../rules/member.ts'
import { insertAccount, insertMember, type NewAccount, type NewPassword, setPassword } from './members.ts'

export type MemberLinkStore = ReturnType<typeof makeMemberLinkStore>

export interface NewLink extends Omit<MemberLink, 'usedAtMs'> {
  readonly tokenHash: Buffer
  readonly madeBy: string
}

export interface Invitation {
  readonly linkId: string
  readonly merchantId: string
  readonly login: string
  readonly role: NonNullable<MemberLink['role']>
  readonly nowMs: number
}

export function makeMemberLinkStore(database: Pool) {
  return {
    /**
     * Replaces an earlier link for the same purpose. False if the merchant has reached the limit of members and
     * invitations.
     */
    insertLink: (link: NewLink, limit: { readonly most: number }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertLink(transaction, link, limit)),
    /** Uses audit_merchant, which also counts withdrawn and replaced invitations. */
    async countInvitations({
      merchantId,
      sinceMs,
    }: {
      merchantId: string
      sinceMs: number
    }): Promise<number> {
      const { rows } = await database.query<{ count: string }>(sql`
select count(*) from audit where merchant_id = ${merchantId} and act = 'member.invite' and acted_at > ${sinceMs}`)
      return Number(rows[0]?.count ?? 0)
    },
    /** Replaces an earlier link. False if one was made since that time, possibly by a concurrent request. */
    insertRecovery: (link: NewLink, { madeAfterMs }: { readonly madeAfterMs: number }, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        await lockLinks(transaction)
        const { login } = link
        return (
          !(await isRecoveryOpen(transaction, { login, madeAfterMs })) &&
          insertLink(transaction, link, { most: 0 })
        )
      }),
    /** Whether an unused link was made since that time. */
    isRecoveryOpen: (given: { readonly login: string; readonly madeAfterMs: number }) =>
      isRecoveryOpen(database, given),
    findLink: (tokenHash: Buffer) => findLink(database, tokenHash),
    /** Open invitations of one merchant, oldest first. */
    listInvitations: (of: { readonly merchantId: string; readonly nowMs: number }) =>
      listInvitations(database, of),
    /** False if this merchant has no such open invitation. */
    withdrawInvitation: (key: { readonly merchantId: string; readonly linkId: string }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => withdrawInvitation(transaction, key)),
    /** Creates the account and the member. False if the link is used or the account exists. */
    joinAnew: (invitation: Invitation, account: NewAccount, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        if (!(await useLink(transaction, invitation))) return false
        if (!(await insertAccount(transaction, account))) throw new AccountExists()
        return insertMember(transaction, { ...invitation, createdAtMs: invitation.nowMs })
      }),
    /** For an existing account. False if the link is used or the access ended after the check. */
    join: (invitation: Invitation, access: Access, entry: AuditEntry) =>
      audited(
        database,
        entry,
        async (transaction) =>
          // Checked first, so that a rejected request does not use the link.
          (await hasAccess(transaction, access, memberTables)) &&
          (await useLink(transaction, invitation)) &&
          insertMember(transaction, { ...invitation, createdAtMs: invitation.nowMs }),
      ),
    /** False if the link is used or the account no longer exists. */
    recover: (linkId: string, change: NewPassword, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        // Locks the account before the link, in the same order as everywhere, to avoid deadlocks.
        await transaction.query(sql`
select from member_accounts where login = ${change.login} for no key update`)
        return (
          (await useLink(transaction, { linkId, nowMs: change.nowMs })) && setPassword(transaction, change)
        )
      }),
    deleteEnded: (nowMs: number) =>
      database.query(sql`delete from member_links where expires_at <= ${nowMs}`),
  }
}

/** The account was created after the link was viewed. Its owner must sign in first. */
export class AccountExists extends Error {
  override readonly name = 'AccountExists'
}

const shape = rowShape<MemberLink>('link', {
  linkId: 'link_id',
  kind: 'kind',
  login: 'login',
  name: 'name',
  merchantId: 'merchant_id',
  role: 'role',
  createdAtMs: number('created_at'),
  expiresAtMs: number('expires_at'),
  usedAtMs: number('used_at'),
})

export async function insertLink(
  transaction: Queryable,
  link: NewLink,
  { most }: { readonly most: number },
): Promise<boolean> {
  const { linkId, tokenHash, kind, login, name, merchantId, role, madeBy, createdAtMs, expiresAtMs } = link
  // Locks the maker before the table, because a removal locks the member before it ends links.
  await checkMaker(transaction, link)
  await lockLinks(transaction)
  await transaction.query(sql`
delete from member_links
 where login = ${login} and kind = ${kind} and merchant_id is not distinct from ${merchantId} and used_at is null`)
  const { rowCount } = await transaction.query(sql`
insert into member_links (link_id, token_hash, kind, login, name, merchant_id, role, made_by, created_at, expires_at)
select ${linkId}, ${tokenHash}, ${kind}, ${login}, ${name}, ${merchantId}, ${role}, ${madeBy}, ${createdAtMs},
       ${expiresAtMs}
 where ${merchantId}::text is null
    or (select count(*) from members where merchant_id = ${merchantId})
     + (select count(*) from member_links
         where merchant_id = ${merchantId} and used_at is null and expires_at > ${createdAtMs}) < ${most}`)
  return rowCount === 1
}

/**
 * Rejects a link if its maker's access ended during the request, because the link could let them back in. The row stays
 * locked, so that a concurrent removal either comes first, or waits and ends this link too.
 */
async function checkMaker(transaction: Queryable, { madeBy, merchantId }: NewLink): Promise<void> {
  const maker = makerOf(madeBy)
  if (!maker) return
  const { rowCount } = await transaction.query(
    maker.kind === 'member'
      ? sql`
select from members where merchant_id = ${merchantId} and login = ${maker.login} and role = 'owner' for share`
      : sql`
select from operators where login = ${maker.login} and role = 'admin' and status = 'active' for share`,
  )
  if (rowCount === 0)
    throw new Failure('not_allowed', {
      message: `No link was created: ${maker.login} no longer has access.`,
    })
}

/**
 * Serializes the creation of links, so that the later of two invitations replaces the earlier, and both are counted.
 */
async function lockLinks(transaction: Queryable): Promise<void> {
  await transaction.query('lock table member_links in share row exclusive mode')
}

async function isRecoveryOpen(
  database: Queryable,
  { login, madeAfterMs }: { readonly login: string; readonly madeAfterMs: number },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
select 1 from member_links
 where login = ${login} and kind = 'recovery' and used_at is null and created_at > ${madeAfterMs}`)
  return rowCount > 0
}

async function findLink(database: Queryable, tokenHash: Buffer): Promise<MemberLink | undefined> {
  const { rows } = await database.query(sql`
select ${shape.columns} from member_links where token_hash = ${tokenHash}`)
  return rows[0] && shape.read(rows[0])
}

async function listInvitations(
  database: Queryable,
  { merchantId, nowMs }: { readonly merchantId: string; readonly nowMs: number },
): Promise<MemberLink[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from member_links
 where merchant_id = ${merchantId} and used_at is null and expires_at > ${nowMs}
 order by created_at, link_id`)
  return rows.map(shape.read)
}

async function withdrawInvitation(
  transaction: Queryable,
  { merchantId, linkId }: { readonly merchantId: string; readonly linkId: string },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
delete from member_links where link_id = ${linkId} and merchant_id = ${merchantId} and used_at is null`)
  return rowCount === 1
}

async function useLink(
  transaction: Queryable,
  { linkId, nowMs }: { readonly linkId: string; readonly nowMs: number },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update member_links set used_at = ${nowMs}
 where link_id = ${linkId} and used_at is null and expires_at > ${nowMs}`)
  return rowCount === 1
}
