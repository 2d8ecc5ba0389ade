// Sessions of one kind of account, and access as a whole: held during a transaction, and revoked.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import { accessEnded } from '../../../core/authority/rules/roles.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, type RowShape, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import type { Access, Account, Session } from '../rules/account.ts'
import type { AccountTables } from './account-tables.ts'

export type AccountSessionStore<Person extends Account> = ReturnType<typeof makeAccountSessionStore<Person>>

/** `shape` reads the accounts table with the alias `o`. */
export function makeAccountSessionStore<Person extends Account>(
  database: Pool,
  { tables, shape }: { readonly tables: AccountTables; readonly shape: RowShape<Person> },
) {
  return {
    findAccount: (login: string) => findAccount(database, login, { tables, shape }),
    /** False if the access ended after the check. */
    insertSession: (session: Session & Access, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertSession(transaction, session, tables)),
    findSession: (sought: SoughtSession) => findSession(database, sought, { tables, shape }),
    touchSession: (tokenHash: Buffer, nowMs: number) =>
      database.query(sql`
update ${tables.sessions} set last_seen_at = greatest(last_seen_at, ${nowMs}) where token_hash = ${tokenHash}`),
    /** Active sessions. */
    listSessions: (sought: Omit<SoughtSession, 'tokenHash'> & { readonly login: string }) =>
      listSessions(database, sought, tables),
    /** Only if the session belongs to the login. */
    deleteSession: ({ login, tokenHash }: Pick<Session, 'login' | 'tokenHash'>) =>
      database.query(
        sql`delete from ${tables.sessions} where token_hash = ${tokenHash} and login = ${login}`,
      ),
    /** False if the account is disabled. */
    setName: ({ login, name }: Pick<Account, 'login' | 'name'>, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update ${tables.accounts} set name = ${name} where login = ${login} and status = 'active'`)
        return rowCount === 1
      }),
    /** Ends sessions and revokes tokens. */
    endAccess: (login: string, entry: AuditEntry) =>
      audited(database, entry, (transaction) =>
        endAccess(transaction, { login, nowMs: entry.actedAtMs }, tables),
      ),
    /** Returns the number of deleted sessions. */
    deleteEndedSessions: (nowMs: number) => deleteEndedSessions(database, nowMs, tables),
  }
}

const sessionShape = rowShape<Session>('session', {
  tokenHash: 's.token_hash',
  login: 's.login',
  address: 's.address',
  createdAtMs: number('s.created_at'),
  lastSeenAtMs: number('s.last_seen_at'),
  endsAtMs: number('s.ends_at'),
})

interface Kept<Person> {
  readonly tables: AccountTables
  readonly shape: RowShape<Person>
}

async function findAccount<Person>(
  database: Queryable,
  login: string,
  { tables, shape }: Kept<Person>,
): Promise<Person | undefined> {
  const { rows } = await database.query(
    sql`select ${shape.columns} from ${tables.accounts} o where login = ${login}`,
  )
  return rows[0] && shape.read(rows[0])
}

/** Locks the access until the end of the transaction. Throws if it ended after the check. */
export async function holdAccess(
  transaction: Queryable,
  access: Access,
  tables: Pick<AccountTables, 'accounts'>,
): Promise<void> {
  if (!(await hasAccess(transaction, access, tables))) throw accessEnded(access.login)
}

export async function hasAccess(
  transaction: Queryable,
  { login, accessVersion }: Access,
  { accounts }: Pick<AccountTables, 'accounts'>,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
select 1 from ${accounts}
 where login = ${login} and access_version = ${accessVersion} and status = 'active' for no key update`)
  return rowCount === 1
}

/** Ends everything that acts for the account without the password, including confirmations that are in progress. */
export async function endAccess(
  transaction: Queryable,
  { login, nowMs }: { login: string; nowMs: number },
  { accounts, sessions, tokens, requests }: AccountTables,
): Promise<true> {
  await transaction.query(
    sql`update ${accounts} set access_version = access_version + 1 where login = ${login}`,
  )
  await transaction.query(sql`delete from ${sessions} where login = ${login}`)
  if (tokens)
    await transaction.query(
      sql`update ${tokens} set revoked_at = ${nowMs} where login = ${login} and revoked_at is null`,
    )
  if (requests)
    await transaction.query(sql`
update ${requests} set status = 'expired', decided_at = ${nowMs} where requested_by = ${login} and status = 'waiting'`)
  return true
}

async function insertSession(
  transaction: Queryable,
  session: Session & Access,
  tables: AccountTables,
): Promise<boolean> {
  if (!(await hasAccess(transaction, session, tables))) return false
  const { tokenHash, login, address, createdAtMs, lastSeenAtMs, endsAtMs } = session
  // Sessions start rarely, so deleting ended ones here keeps the table small.
  await deleteEndedSessions(transaction, createdAtMs, tables)
  await transaction.query(sql`
insert into ${tables.sessions} (token_hash, login, address, created_at, last_seen_at, ends_at)
values (${tokenHash}, ${login}, ${address}, ${createdAtMs}, ${lastSeenAtMs}, ${endsAtMs})`)
  return true
}

interface SoughtSession {
  readonly tokenHash: Buffer
  readonly nowMs: number
  /** A session that was not seen since this time has ended. */
  readonly seenSinceMs: number
}

async function findSession<Person>(
  database: Queryable,
  { tokenHash, nowMs, seenSinceMs }: SoughtSession,
  { tables, shape }: Kept<Person>,
): Promise<{ session: Session; account: Person } | undefined> {
  const { rows } = await database.query(prepared(`find-${tables.kind}-session`)`
select ${sessionShape.columns}, ${shape.columns}
  from ${tables.sessions} s join ${tables.accounts} o on o.login = s.login
 where s.token_hash = ${tokenHash} and s.ends_at > ${nowMs} and s.last_seen_at > ${seenSinceMs}
   and o.status = 'active'`)
  return rows[0] && { session: sessionShape.read(rows[0]), account: shape.read(rows[0]) }
}

async function listSessions(
  database: Queryable,
  { login, nowMs, seenSinceMs }: Omit<SoughtSession, 'tokenHash'> & { readonly login: string },
  { sessions }: AccountTables,
): Promise<Session[]> {
  const { rows } = await database.query(sql`
select ${sessionShape.columns}
  from ${sessions} s
 where login = ${login} and ends_at > ${nowMs} and last_seen_at > ${seenSinceMs}
 order by created_at desc`)
  return rows.map(sessionShape.read)
}

async function deleteEndedSessions(
  database: Queryable,
  nowMs: number,
  { sessions }: AccountTables,
): Promise<number> {
  return (await database.query(sql`delete from ${sessions} where ends_at <= ${nowMs}`)).rowCount
}
