// Operators by their identity at a provider. The row is locked throughout, so that two concurrent sign-ins bind one
// subject and change the role once.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { AuditedAction } from '../../../core/authority/rules/effects.ts'
import { type Role, roles } from '../../../core/authority/rules/roles.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Access } from '../../accounts/rules/account.ts'
import { endAccess } from '../../accounts/store/account-sessions.ts'
import { operatorTables } from '../../accounts/store/account-tables.ts'
import type { Operator } from '../rules/operator.ts'
import { endLinks, operatorShape } from './operators.ts'

export interface IdentitySignIn {
  /** Issuer and subject. */
  readonly identity: string
  /** Verified by the provider. */
  readonly email: string | undefined
  /** Undefined if the provider gives no role; all access ends then. */
  readonly role: Role | 'as declared' | undefined
  readonly nowMs: number
  readonly entryFor: (login: string, action: AuditedAction, reason: string) => AuditEntry
}

export type OperatorIdentities = ReturnType<typeof makeOperatorIdentities>

export function makeOperatorIdentities(database: Pool) {
  return {
    /** Undefined if no active operator was declared for it. */
    signIn: (given: IdentitySignIn): Promise<Access | undefined> =>
      database.transaction((transaction) => signIn(transaction, given)),
  }
}

async function signIn(transaction: Queryable, given: IdentitySignIn): Promise<Access | undefined> {
  const { identity, role, nowMs, entryFor } = given
  const operator = await lockOperator(transaction, given)
  if (operator?.status !== 'active') return undefined
  const { login } = operator
  await transaction.query(sql`update operators set identity = ${identity} where login = ${login}`)
  const isLess = role === undefined || (role !== 'as declared' && isLower(role, operator.role))
  if (isLess) {
    await endAccess(transaction, { login, nowMs }, operatorTables)
    await endLinks(transaction, login)
  }
  if (role !== undefined && role !== 'as declared' && role !== operator.role) {
    await transaction.query(sql`update operators set role = ${role} where login = ${login}`)
    const reason = `from ${operator.role} to ${role}, set by the identity provider`
    await insertAuditEntry(transaction, entryFor(login, 'operator.role', reason))
  }
  return { login, accessVersion: operator.accessVersion + (isLess ? 1 : 0) }
}

async function lockOperator(
  transaction: Queryable,
  { identity, email }: IdentitySignIn,
): Promise<Operator | undefined> {
  const { rows } = await transaction.query(sql`
select ${operatorShape.columns}
  from operators o
 where o.identity = ${identity} or (o.identity is null and o.email = ${email})
 order by o.identity nulls last
 limit 1
   for no key update`)
  return rows[0] && operatorShape.read(rows[0])
}

function isLower(role: Role, than: Role): boolean {
  return roles.indexOf(role) < roles.indexOf(than)
}
