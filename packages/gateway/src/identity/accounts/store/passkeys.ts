// Passkeys of one kind of account. The time of the challenge and the signature count only increase, so that each
// response is accepted once.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Access } from '../rules/account.ts'
import { maxPasskeys, type Passkey } from '../rules/passkey-site.ts'
import { holdAccess } from './account-sessions.ts'
import type { AccountTables } from './account-tables.ts'

type PasskeyTables = Pick<AccountTables, 'kind' | 'accounts'>

export type PasskeyStore = ReturnType<typeof makePasskeyStore>

export interface NewPasskey extends Pick<Passkey, 'credentialId' | 'name' | 'createdAtMs'> {
  readonly publicKey: Buffer
  readonly signCount: number
  /** The time of the first challenge that it answered. */
  readonly challengeAtMs: number
}

/** What is needed to verify a response, and the account. */
export interface KnownPasskey {
  readonly publicKey: Buffer
  readonly signCount: number
  readonly access: Access
}

export interface PasskeyUse {
  readonly credentialId: Buffer
  readonly signCount: number
  readonly challengeAtMs: number
  readonly nowMs: number
}

/** Changes by the account's owner throw if the access ended in between. */
export function makePasskeyStore(database: Pool, tables: PasskeyTables) {
  return {
    /** Oldest first. */
    listPasskeys: (login: string) => listPasskeys(database, login, tables),
    /** False if the limit is reached, the passkey exists, or the challenge was used. */
    insertPasskey: (passkey: NewPasskey, access: Access, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        await holdAccess(transaction, access, tables)
        return insertPasskey(transaction, { ...passkey, account: access.login }, tables)
      }),
    /** Undefined unless the account is active. */
    findPasskey: (credentialId: Buffer) => findPasskey(database, credentialId, tables),
    /** False if this challenge or a later one was used, or if the signature count shows a copy. */
    usePasskey: (use: PasskeyUse) => usePasskey(database, use),
    /** False if the account has no such passkey. */
    removePasskey: (credentialId: Buffer, access: Access, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        await holdAccess(transaction, access, tables)
        const { rowCount } = await transaction.query(sql`
delete from passkeys
 where credential_id = ${credentialId} and account_kind = ${tables.kind} and account = ${access.login}`)
        return rowCount === 1
      }),
  }
}

/** Used when an account is taken back from a person who may have added passkeys. */
export async function removePasskeys(
  transaction: Queryable,
  login: string,
  { kind }: PasskeyTables,
): Promise<void> {
  await transaction.query(sql`delete from passkeys where account_kind = ${kind} and account = ${login}`)
}

const shape = rowShape<Passkey>('passkey', {
  credentialId: 'p.credential_id',
  name: 'p.name',
  createdAtMs: number('p.created_at'),
  lastUsedAtMs: number('p.last_used_at'),
})

async function listPasskeys(database: Queryable, login: string, { kind }: PasskeyTables): Promise<Passkey[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from passkeys p
 where p.account_kind = ${kind} and p.account = ${login}
 order by p.created_at, p.credential_id`)
  return rows.map(shape.read)
}

async function insertPasskey(
  transaction: Queryable,
  passkey: NewPasskey & { readonly account: string },
  { kind }: PasskeyTables,
): Promise<boolean> {
  const { credentialId, account, name, publicKey, signCount, challengeAtMs, createdAtMs } = passkey
  const { rowCount } = await transaction.query(sql`
insert into passkeys (credential_id, account_kind, account, name, public_key, sign_count, last_challenge_at, created_at)
select ${credentialId}, ${kind}, ${account}, ${name}, ${publicKey}, ${signCount}, ${challengeAtMs}, ${createdAtMs}
  from (select count(*) as count, max(last_challenge_at) as last_challenge_at
          from passkeys where account_kind = ${kind} and account = ${account}) had
 where had.count < ${maxPasskeys} and coalesce(had.last_challenge_at < ${challengeAtMs}, true)
    on conflict do nothing`)
  return rowCount === 1
}

async function findPasskey(
  database: Queryable,
  credentialId: Buffer,
  { kind, accounts }: PasskeyTables,
): Promise<KnownPasskey | undefined> {
  const { rows } = await database.query<{
    public_key: Buffer
    sign_count: string
    login: string
    access_version: number
  }>(sql`
select p.public_key, p.sign_count, o.login, o.access_version
  from passkeys p join ${accounts} o on o.login = p.account
 where p.credential_id = ${credentialId} and p.account_kind = ${kind} and o.status = 'active'`)
  const [row] = rows
  return (
    row && {
      publicKey: row.public_key,
      signCount: Number(row.sign_count),
      access: { login: row.login, accessVersion: row.access_version },
    }
  )
}

/** Many authenticators do not count signatures. Their count stays 0, and the challenge alone decides. */
async function usePasskey(database: Queryable, use: PasskeyUse): Promise<boolean> {
  const { credentialId, signCount, challengeAtMs, nowMs } = use
  const { rowCount } = await database.query(sql`
update passkeys set sign_count = ${signCount}, last_challenge_at = ${challengeAtMs}, last_used_at = ${nowMs}
 where credential_id = ${credentialId} and last_challenge_at < ${challengeAtMs}
   and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))`)
  return rowCount === 1
}
