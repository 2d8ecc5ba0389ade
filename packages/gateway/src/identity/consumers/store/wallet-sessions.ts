// Sessions of consumers who signed in to their wallet, and access as a whole, which ends them all. A locked or closed
// wallet has no valid session, whatever is stored here.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import { endAccess } from '../../../core/wallets/store/wallet-access.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, prepared, sql } from '../../../platform/database/sql.ts'
import type { Access } from '../../accounts/rules/account.ts'
import { hasAccess } from '../../accounts/store/account-sessions.ts'
import type { AccountTables } from '../../accounts/store/account-tables.ts'

export interface WalletSession {
  readonly tokenHash: Buffer
  /** Identifies the session to its owner, who can end it. It does not authenticate. */
  readonly sessionId: string
  readonly walletId: string
  readonly address: string
  /** The browser's user agent, shortened. */
  readonly device: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly endsAtMs: number
}

/** Consumers' accounts have a PIN instead of a password. */
export const walletTables: Pick<AccountTables, 'kind' | 'accounts'> = {
  kind: 'wallet',
  accounts: plainSql('wallets'),
}

export interface OpenedSession {
  readonly session: WalletSession
  readonly access: Access
  readonly emails: readonly NewEmail[]
}

export type WalletSessionStore = ReturnType<typeof makeWalletSessionStore>

export function makeWalletSessionStore(database: Pool) {
  return {
    /** False if the access ended after the check. */
    insert: ({ session, access, emails }: OpenedSession): Promise<boolean> =>
      database.transaction(async (transaction) => {
        if (!(await hasAccess(transaction, access, walletTables))) return false
        await insertSession(transaction, session)
        await queueEmails(transaction, emails)
        return true
      }),
    find: (sought: SoughtSession) => findSession(database, sought),
    touch: async (tokenHash: Buffer, nowMs: number): Promise<void> => {
      await database.query(sql`
update wallet_sessions set last_seen_at = greatest(last_seen_at, ${nowMs}) where token_hash = ${tokenHash}`)
    },
    /** Active sessions, last seen first. */
    list: (walletId: string, at: SeenSince) => listSessions(database, walletId, at),
    /** Only if the session belongs to this wallet. */
    end: async (walletId: string, sessionId: string): Promise<void> => {
      await database.query(sql`
delete from wallet_sessions where wallet_id = ${walletId} and session_id = ${sessionId}`)
    },
    endAll: (walletId: string, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        await endAccess(transaction, walletId)
        return true
      }),
    /** Returns the number of deleted sessions. */
    deleteEnded: async (nowMs: number): Promise<number> =>
      (await database.query(sql`delete from wallet_sessions where ends_at <= ${nowMs}`)).rowCount,
  }
}

interface SeenSince {
  readonly nowMs: number
  /** A session that was not seen since this time has ended. */
  readonly seenSinceMs: number
}

interface SoughtSession extends SeenSince {
  readonly tokenHash: Buffer
}

const shape = rowShape<WalletSession>('session', {
  tokenHash: 's.token_hash',
  sessionId: 's.session_id',
  walletId: 's.wallet_id',
  address: 's.address',
  device: 's.device',
  createdAtMs: number('s.created_at'),
  lastSeenAtMs: number('s.last_seen_at'),
  endsAtMs: number('s.ends_at'),
})

/** Beyond this number, the sessions unseen for longest are deleted. */
const mostSessions = 20

/** Runs in the transaction that authenticates the owner. */
export async function insertSession(transaction: Queryable, session: WalletSession): Promise<void> {
  const { walletId } = session
  await transaction.query(sql`
insert into wallet_sessions (token_hash, session_id, wallet_id, address, device, created_at, last_seen_at, ends_at)
values (${session.tokenHash}, ${session.sessionId}, ${walletId}, ${session.address}, ${session.device},
        ${session.createdAtMs}, ${session.lastSeenAtMs}, ${session.endsAtMs})`)
  await transaction.query(sql`
delete from wallet_sessions
 where wallet_id = ${walletId}
   and token_hash in (select token_hash from wallet_sessions where wallet_id = ${walletId}
                       order by last_seen_at desc, token_hash offset ${mostSessions})`)
}

async function findSession(
  database: Queryable,
  { tokenHash, nowMs, seenSinceMs }: SoughtSession,
): Promise<WalletSession | undefined> {
  const { rows } = await database.query(prepared('find-wallet-session')`
select ${shape.columns}
  from wallet_sessions s join wallets w on w.wallet_id = s.wallet_id and w.status = 'active'
 where s.token_hash = ${tokenHash} and s.ends_at > ${nowMs} and s.last_seen_at > ${seenSinceMs}`)
  return rows[0] && shape.read(rows[0])
}

async function listSessions(
  database: Queryable,
  walletId: string,
  { nowMs, seenSinceMs }: SeenSince,
): Promise<WalletSession[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from wallet_sessions s
 where s.wallet_id = ${walletId} and s.ends_at > ${nowMs} and s.last_seen_at > ${seenSinceMs}
 order by s.last_seen_at desc, s.token_hash`)
  return rows.map(shape.read)
}
