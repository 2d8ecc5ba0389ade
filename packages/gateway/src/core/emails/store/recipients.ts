// Finds the recipients of emails that name no person.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Recipient } from '../rules/email.ts'
import { type EmailKind, kindOf } from '../rules/kinds.ts'

export interface SoughtRecipients {
  readonly kind: EmailKind
  readonly merchantId: string | undefined
  readonly operatorEmails: readonly string[]
}

/** Without opted-out addresses. */
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

/** The merchant's contacts; if there are none, its owners. */
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
