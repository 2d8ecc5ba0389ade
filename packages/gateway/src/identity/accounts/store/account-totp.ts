// The second step of sign-in: sealed secrets, the last used step, and hashes of recovery codes.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Access } from '../rules/account.ts'
import { endAccess, holdAccess } from './account-sessions.ts'
import type { AccountTables } from './account-tables.ts'
import { removePasskeys } from './passkeys.ts'

export type AccountTotpStore = ReturnType<typeof makeAccountTotpStore>

export interface StoredTotp {
  readonly sealedSecret: Buffer
  /** Undefined until a code confirms it. Sign-in does not ask for a code before that. */
  readonly confirmedAtMs: number | undefined
  readonly recoveryCodesLeft: number
}

export interface ConfirmedTotp extends Access {
  readonly sealedSecret: Buffer
  readonly step: number
  readonly nowMs: number
  readonly recoveryHashes: readonly Buffer[]
}

/** Changes by the account's owner throw if the access ended in between. */
export function makeAccountTotpStore(database: Pool, tables: AccountTables) {
  return {
    findTotp: (login: string) => findTotp(database, login, tables),
    /** May be repeated until it is confirmed; false from then on. */
    beginTotp: (begun: BegunTotp, entry: AuditEntry) =>
      audited(database, entry, (transaction) => beginTotp(transaction, begun, tables)),
    /** False if it was confirmed already or begun again. */
    confirmTotp: (confirmed: ConfirmedTotp, entry: AuditEntry) =>
      audited(database, entry, (transaction) => confirmTotp(transaction, confirmed, tables)),
    /** False if this step or a later one was already used. */
    takeStep: (login: string, step: number) => takeStep(database, { login, step }, tables),
    /** False if the code does not exist or was used. */
    takeRecoveryCode: (code: { login: string; hash: Buffer }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => takeRecoveryCode(transaction, code, tables)),
    /** False if there was no second step. */
    removeTotp: (access: Access, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        await holdAccess(transaction, access, tables)
        return removeTotp(transaction, access.login, tables)
      }),
    /**
     * Done by another person. Passkeys are removed too, and all access ends, because both may be a thief's. False if
     * there was no second step.
     */
    resetTotp: (login: string, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        // Locks the account before the second step, in the same order as everywhere, to avoid deadlocks.
        await transaction.query(sql`select from ${tables.accounts} where login = ${login} for update`)
        if (!(await removeTotp(transaction, login, tables))) return false
        await removePasskeys(transaction, login, tables)
        return endAccess(transaction, { login, nowMs: entry.actedAtMs }, tables)
      }),
  }
}

function shapeOf({ recoveryCodes }: AccountTables) {
  return rowShape<StoredTotp>('totp', {
    sealedSecret: 't.sealed_secret',
    confirmedAtMs: number('t.confirmed_at'),
    recoveryCodesLeft: number(`(select count(*) from ${recoveryCodes.text} c where c.login = t.login)`),
  })
}

async function findTotp(
  database: Queryable,
  login: string,
  tables: AccountTables,
): Promise<StoredTotp | undefined> {
  const shape = shapeOf(tables)
  const { rows } = await database.query(
    sql`select ${shape.columns} from ${tables.totp} t where t.login = ${login}`,
  )
  return rows[0] && shape.read(rows[0])
}

interface BegunTotp extends Access {
  readonly sealedSecret: Buffer
  readonly nowMs: number
}

async function beginTotp(transaction: Queryable, begun: BegunTotp, tables: AccountTables): Promise<boolean> {
  const { login, sealedSecret, nowMs } = begun
  await holdAccess(transaction, begun, tables)
  const { rowCount } = await transaction.query(sql`
insert into ${tables.totp} as t (login, sealed_secret, created_at)
values (${login}, ${sealedSecret}, ${nowMs})
    on conflict (login) do update set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at, last_step = 0
 where t.confirmed_at is null`)
  return rowCount === 1
}

async function confirmTotp(
  transaction: Queryable,
  confirmed: ConfirmedTotp,
  tables: AccountTables,
): Promise<boolean> {
  const { login, sealedSecret, step, nowMs, recoveryHashes } = confirmed
  await holdAccess(transaction, confirmed, tables)
  const { rowCount } = await transaction.query(sql`
update ${tables.totp} set confirmed_at = ${nowMs}, last_step = ${step}
 where login = ${login} and sealed_secret = ${sealedSecret} and confirmed_at is null`)
  if (rowCount !== 1) return false
  await transaction.query(sql`
insert into ${tables.recoveryCodes} (login, code_hash) select ${login}, unnest(${recoveryHashes}::bytea[])`)
  return true
}

/** One statement, so that one of two requests with the same code succeeds. */
async function takeStep(
  database: Queryable,
  { login, step }: { login: string; step: number },
  { totp }: AccountTables,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
update ${totp} set last_step = ${step}
 where login = ${login} and last_step < ${step} and confirmed_at is not null`)
  return rowCount === 1
}

async function takeRecoveryCode(
  transaction: Queryable,
  { login, hash }: { login: string; hash: Buffer },
  { recoveryCodes }: AccountTables,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
delete from ${recoveryCodes} where login = ${login} and code_hash = ${hash}`)
  return rowCount === 1
}

async function removeTotp(transaction: Queryable, login: string, { totp }: AccountTables): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`delete from ${totp} where login = ${login}`)
  return rowCount === 1
}
