// Who hears an email that names no person: the one place that knows.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Recipient } from '../rules/email.ts'
import { type EmailKind, kindOf } from '../rules/kinds.ts'

export interface SoughtRecipients {
  readonly kind: EmailKind
  /** Of a kind for merchants. */
  readonly merchantId: string | undefined
  readonly operatorEmails: readonly string[]
}

/** Without those who do not want this kind. */
export async function findRecipients(
  database: Queryable,
  { kind, merchantId, operatorEmails }: SoughtRecipients,
): Promise<Recipient[]> {
  const all =
    kindOf(kind).audience === 'operators'
      ? operatorEmails.map((email): Recipient => ({ email, language: 'en' }))
      : await findContacts(database, merchantId)
  const { rows } = await database.query<{ email: string }>(sql`
select email from email_optouts where kind = ${kind} and email = any (${all.map(({ email }) => email)}::text[])`)
  const unwilling = new Set(rows.map(({ email }) => email))
  return all.filter(({ email }) => !unwilling.has(email))
}

/** Those that the merchant names; where it names none, its owners. */
async function findContacts(database: Queryable, merchantId: string | undefined): Promise<Recipient[]> {
  const { rows } = await database.query<Recipient>(sql`
select unnest(contact_emails) as email, coalesce(contact_language, 'en') as language, name as merchant
  from merchants
 where merchant_id = ${merchantId}`)
  if (rows.length > 0) return rows
  const { rows: owners } = await database.query<{ login: string }>(sql`
select login from members where merchant_id = ${merchantId} and role = 'owner' order by login`)
  if (owners.length === 0) return []
  const { rows: named } = await database.query<Omit<Recipient, 'email'>>(sql`
select coalesce(contact_language, 'en') as language, name as merchant from merchants where merchant_id = ${merchantId}`)
  return named.flatMap((about) => owners.map(({ login }) => ({ ...about, email: login })))
}
