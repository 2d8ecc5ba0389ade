// Operators. Sessions and attempts are stored as for every account.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { endAccess } from '../../accounts/store/account-sessions.ts'
import { accountSources, operatorTables } from '../../accounts/store/account-tables.ts'
import { removePasskeys } from '../../accounts/store/passkeys.ts'
import type { NewOperator, Operator } from '../rules/operator.ts'

export type OperatorStore = ReturnType<typeof makeOperatorStore>

export function makeOperatorStore(database: Pool) {
  return {
    hasOperators: () => hasOperators(database),
    /** Only if none exists, so that one of several starting gateways creates it. False if one existed. */
    insertFirstOperator: (operator: NewOperator, entry: AuditEntry) =>
      audited(database, entry, (transaction) =>
        insertOperator(transaction, operator, sql`not exists (select 1 from operators)`),
      ),
    /** False if the login is taken. */
    insertOperator: (operator: NewOperator, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertOperator(transaction, operator)),
    listOperators: () => listOperators(database),
    findOperator: (login: string) => findOperator(database, login),
    /** Ends all access and every lock. False if the operator does not exist, or their access ended. */
    setPassword: (change: PasswordChange, entry: AuditEntry) =>
      audited(database, entry, (transaction) => setPassword(transaction, change)),
    /** Disabling ends all access permanently. `last_admin`: the change would leave no admin to manage operators. */
    setStatus: (change: StatusToSet, entry: AuditEntry) => setStatus(database, change, entry),
  }
}

/** Reads `operators` with the alias `o`. */
export const operatorShape = rowShape<Operator>('operator', {
  ...accountSources(operatorTables),
  role: 'o.role',
  email: 'o.email',
})

async function hasOperators(database: Queryable): Promise<boolean> {
  const { rows } = await database.query('select from operators limit 1')
  return rows.length > 0
}

/** The primary key decides if two requests use the same login. */
async function insertOperator(
  database: Queryable,
  { login, role, sealedPassword, email, createdAtMs }: NewOperator,
  condition = sql`true`,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
insert into operators (login, role, status, sealed_password, email, password_changed_at, created_at)
select ${login}, ${role}, 'active', ${sealedPassword}, ${email}, ${createdAtMs}, ${createdAtMs}
 where ${condition}
    on conflict do nothing`)
  return rowCount === 1
}

async function listOperators(database: Queryable): Promise<Operator[]> {
  const { rows } = await database.query(sql`select ${operatorShape.columns} from operators o order by login`)
  return rows.map(operatorShape.read)
}

async function findOperator(database: Queryable, login: string): Promise<Operator | undefined> {
  const { rows } = await database.query(sql`
select ${operatorShape.columns} from operators o where login = ${login}`)
  return rows[0] && operatorShape.read(rows[0])
}

interface PasswordChange {
  readonly login: string
  readonly sealedPassword: Buffer
  readonly nowMs: number
  /** The access that confirmed the change; undefined if another person sets the password. */
  readonly accessVersion?: number
}

async function setPassword(
  transaction: Queryable,
  { login, sealedPassword, nowMs, accessVersion }: PasswordChange,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update operators
   set sealed_password = ${sealedPassword}, password_changed_at = ${nowMs}, tries = 0,
       locked_until = null
 where login = ${login} and email is null and (${accessVersion}::integer is null or access_version = ${accessVersion})`)
  if (rowCount !== 1) return false
  // The old password was not checked, so a passkey may belong to another person.
  if (accessVersion === undefined) await removePasskeys(transaction, login, operatorTables)
  return endAccess(transaction, { login, nowMs }, operatorTables)
}

interface StatusToSet {
  readonly login: string
  readonly status: Operator['status']
}

async function setStatus(
  database: Pool,
  { login, status }: StatusToSet,
  entry: AuditEntry,
): Promise<'set' | 'missing' | 'last_admin'> {
  let outcome: 'set' | 'missing' | 'last_admin' = 'set'
  await audited(database, entry, async (transaction) => {
    // Locks the admins, so that two who disable each other do not both succeed.
    const { rows: admins } = await transaction.query<{ login: string }>(
      "select login from operators where role = 'admin' and status = 'active' order by login for update",
    )
    if (status === 'disabled' && admins.length === 1 && admins[0]?.login === login) outcome = 'last_admin'
    else {
      const { rowCount } = await transaction.query(sql`
update operators set status = ${status} where login = ${login}`)
      if (rowCount === 0) outcome = 'missing'
      else if (status === 'disabled') {
        await endAccess(transaction, { login, nowMs: entry.actedAtMs }, operatorTables)
        await endLinks(transaction, login)
      }
    }
    return outcome === 'set'
  })
  return outcome
}

/** Ends unused portal links made by the operator or their tokens, because one may be for an address of theirs. */
export async function endLinks(transaction: Queryable, login: string): Promise<void> {
  await transaction.query(sql`
delete from member_links
 where (starts_with(made_by, ${`console:${login}@`}) or starts_with(made_by, ${`api:${login}/`})) and used_at is null`)
}
