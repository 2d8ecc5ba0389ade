// Queues emails in the transaction of their cause, except to addresses that opted out of the kind. Separate from the
// other statements, because every audit entry may send emails.
import type { Queryable } from '../../../platform/database/pool.ts'
import { columnsOf } from '../../../platform/database/sql.ts'
import type { NewEmail } from '../rules/email.ts'

export async function queueEmails(transaction: Queryable, emails: readonly NewEmail[]): Promise<void> {
  if (emails.length === 0) return
  await transaction.query({
    name: 'queue-emails',
    text: `
insert into emails (email_id, kind, merchant_id, recipient, language, parameters, sealed_link, once_key, created_at,
                     give_up_at, due_at, state)
select n.*, n.created_at, 'queued'
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::bytea[], $8::text[],
              $9::bigint[], $10::bigint[])
    as n (email_id, kind, merchant_id, recipient, language, parameters, sealed_link, once_key, created_at, give_up_at)
 where not exists (select 1 from email_optouts o where o.email = n.recipient and o.kind = n.kind)
    on conflict (once_key) do nothing`,
    values: columnsOf(
      emails,
      ...(['emailId', 'kind', 'merchantId', 'recipient', 'language', 'parameters', 'sealedLink'] as const),
      ...(['onceKey', 'createdAtMs', 'giveUpAtMs'] as const),
    ),
  })
}
