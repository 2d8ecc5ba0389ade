// The outcome of emails: list, retry, count and purge.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, prepared, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited } from '../../audit/store/audit.ts'
import type { Email, EmailState } from '../../emails/rules/email.ts'

export interface EmailFilter {
  readonly state?: EmailState | undefined
}

interface Page {
  readonly before?: string | undefined
  readonly limit: number
}

export type EmailLog = ReturnType<typeof makeEmailLog>

export function makeEmailLog(database: Pool) {
  return {
    list: (filter: EmailFilter, page: Page) => list(database, filter, page),
    find: async (emailId: string): Promise<Email | undefined> => {
      const { rows } = await database.query(sql`
select ${shape.columns} from emails where email_id = ${emailId}`)
      return rows[0] && shape.read(rows[0])
    },
    /** False: it has not failed any more. */
    retry: (given: { emailId: string; nowMs: number; giveUpAtMs: number }, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update emails
   set state = 'queued', due_at = ${given.nowMs}, ended_at = null, attempts = 0, give_up_at = ${given.giveUpAtMs}
 where email_id = ${given.emailId} and state in ('refused', 'given_up') and recipient is not null`)
        return rowCount === 1
      }),
    /** Rejected or given up since then, by the index notices_failed. */
    countFailed: (sinceMs: number, { atMost }: { readonly atMost: number }) =>
      countFailed(database, sinceMs, atMost),
    /** Deletes at most `limit` emails that ended earlier and returns the count. */
    deleteEnded: async ({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }) => {
      const { rowCount } = await database.query(sql`
delete from emails
 where email_id in (select email_id from emails 
                      where ended_at < ${endedBeforeMs} or (state = 'queued' and give_up_at < ${endedBeforeMs})
                      limit ${limit})`)
      return rowCount
    },
  }
}

const shape = rowShape<Email>('email', {
  emailId: 'email_id',
  kind: 'kind',
  merchantId: 'merchant_id',
  recipient: 'recipient',
  language: 'language',
  parameters: 'parameters',
  createdAtMs: number('created_at'),
  giveUpAtMs: number('give_up_at'),
  state: 'state',
  dueAtMs: number('due_at'),
  attempts: number('attempts'),
  lastError: 'last_error',
  endedAtMs: number('ended_at'),
})

async function list(database: Queryable, { state }: EmailFilter, { before, limit }: Page): Promise<Email[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from emails
 where ${allOf([state !== undefined && sql`state = ${state}`, before !== undefined && sql`email_id < ${before}`])}
 order by email_id desc
 limit ${limit}`)
  return rows.map(shape.read)
}

async function countFailed(database: Queryable, sinceMs: number, atMost: number): Promise<number> {
  const { rows } = await database.query<{ count: string }>(prepared('count-failed-emails')`
select count(*) as count
  from (select 1 from emails
         where state in ('refused', 'given_up') and ended_at >= ${sinceMs}
         limit ${atMost}) as failed`)
  return Number(rows[0]?.count)
}
