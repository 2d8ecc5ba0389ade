// Queued emails and their outcomes. Workers claim with a lease and a claim id; writes with another claim id change
// nothing.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import type { ClaimedEmail, EmailOutcome, NewEmail, Recipient } from '../rules/email.ts'
import { queueEmails } from './queue-emails.ts'
import { findRecipients, type SoughtRecipients } from './recipients.ts'

export type EmailStore = ReturnType<typeof makeEmailStore>

export function makeEmailStore(database: Pool) {
  return {
    queue: (emails: readonly NewEmail[]) => queueEmails(database, emails),
    claim: (claiming: EmailClaiming) => claim(database, claiming),
    /**
     * Assigns the email to its first recipient and copies it for the others; without recipients it is deleted. False
     * if the claim was lost.
     */
    address: (email: ClaimedEmail, first: Recipient | undefined, more: readonly NewEmail[]) =>
      database.transaction((transaction) => address(transaction, email, first, more)),
    /** False if the claim was lost; nothing was written. */
    record: (email: ClaimedEmail, outcome: EmailOutcome, nowMs: number) =>
      record(database, email, outcome, nowMs),
    /** Makes the claim's unrecorded emails due again. */
    giveBack: async (claimId: string, nowMs: number): Promise<void> => {
      await database.query(sql`
update emails set claim_id = null, due_at = ${nowMs}, attempts = attempts - 1 where claim_id = ${claimId}`)
    },
    optOut: async ({ email, kind }: { email: string; kind: string }, nowMs: number): Promise<void> => {
      await database.query(sql`
insert into email_optouts (email, kind, created_at) values (${email}, ${kind}, ${nowMs}) on conflict do nothing`)
    },
    nextDue: () => nextDue(database),
    findRecipients: (sought: SoughtRecipients) => findRecipients(database, sought),
  }
}

export interface EmailClaiming {
  readonly claimId: string
  readonly nowMs: number
  readonly leaseMs: number
  readonly limit: number
}

const claimedShape = rowShape<ClaimedEmail>('email', {
  emailId: 'n.email_id',
  kind: 'n.kind',
  merchantId: 'n.merchant_id',
  recipient: 'n.recipient',
  language: 'n.language',
  parameters: 'n.parameters',
  sealedLink: 'n.sealed_link',
  onceKey: 'n.once_key',
  createdAtMs: number('n.created_at'),
  giveUpAtMs: number('n.give_up_at'),
  claimId: 'n.claim_id',
  attempts: number('n.attempts'),
})

/** Uses notices_due; an email whose lease ended is due. */
async function claim(
  database: Queryable,
  { claimId, nowMs, leaseMs, limit }: EmailClaiming,
): Promise<ClaimedEmail[]> {
  const { rows } = await database.query(prepared('claim-emails')`
update emails n
   set claim_id = ${claimId}, due_at = ${nowMs + leaseMs}, attempts = n.attempts + 1
  from (select email_id
          from emails
         where state = 'queued' and due_at <= ${nowMs}
         order by due_at
         limit ${limit}
           for update skip locked) as due
 where n.email_id = due.email_id
returning ${claimedShape.columns}`)
  return rows.map(claimedShape.read)
}

async function address(
  transaction: Queryable,
  { emailId, claimId, parameters }: ClaimedEmail,
  first: Recipient | undefined,
  more: readonly NewEmail[],
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    first === undefined
      ? sql`delete from emails where email_id = ${emailId} and claim_id = ${claimId}`
      : sql`
update emails set recipient = ${first.email}, language = ${first.language}, parameters = ${parameters}
 where email_id = ${emailId} and claim_id = ${claimId}`,
  )
  if (rowCount === 1) await queueEmails(transaction, more)
  return rowCount === 1
}

/** An email whose address was forgotten cannot be resent, so its once-key is freed unless it was sent. */
async function record(
  database: Queryable,
  { emailId, claimId }: ClaimedEmail,
  { state, error, dueAtMs, isAddressForgotten }: EmailOutcome,
  nowMs: number,
): Promise<boolean> {
  const isOver = state !== 'queued'
  const { rowCount } = await database.query(prepared('record-email')`
update emails
   set state = ${state}, last_error = ${error}, due_at = ${dueAtMs}, claim_id = null,
       ended_at = case when ${isOver}::boolean then ${nowMs}::bigint end,
       sealed_link = case when not ${isOver}::boolean then sealed_link end,
       once_key = case when not (${isAddressForgotten}::boolean and ${state} <> 'sent') then once_key end,
       recipient = case when not ${isAddressForgotten}::boolean then recipient end,
       parameters = case when not ${isAddressForgotten}::boolean then parameters else '{}' end
 where email_id = ${emailId} and claim_id = ${claimId}`)
  return rowCount === 1
}

/** The next due time or end of a lease. */
async function nextDue(database: Queryable): Promise<number | undefined> {
  const { rows } = await database.query<{ next: string | null }>(prepared('next-email-due')`
select min(due_at) as next from emails where state = 'queued'`)
  const next = rows[0]?.next
  return next ? Number(next) : undefined
}
