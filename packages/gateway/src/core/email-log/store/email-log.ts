// What became of notices, for operators to look at, to have sent again, and to be counted; and their end.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, prepared, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited } from '../../audit/store/audit.ts'
import type { EmailState, Notice } from '../../emails/rules/email.ts'

export interface EmailFilter {
  readonly state?: EmailState | undefined
}

interface Page {
  /** Only what is older than this notice. */
  readonly before?: string | undefined
  readonly limit: number
}

export type EmailLog = ReturnType<typeof makeEmailLog>

export function makeEmailLog(database: Pool) {
  return {
    /** The newest first. */
    list: (filter: EmailFilter, page: Page) => list(database, filter, page),
    find: async (noticeId: string): Promise<Notice | undefined> => {
      const { rows } = await database.query(sql`
select ${shape.columns} from notices where notice_id = ${noticeId}`)
      return rows[0] && shape.read(rows[0])
    },
    /** False: it has not failed any more. */
    retry: (given: { noticeId: string; nowMs: number; giveUpAtMs: number }, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update notices
   set state = 'queued', due_at = ${given.nowMs}, ended_at = null, attempts = 0, give_up_at = ${given.giveUpAtMs}
 where notice_id = ${given.noticeId} and state in ('refused', 'given_up') and recipient is not null`)
        return rowCount === 1
      }),
    /** Refused or given up since then; by notices_failed. */
    countFailed: (sinceMs: number, { atMost }: { readonly atMost: number }) =>
      countFailed(database, sinceMs, atMost),
    /** Those that ended before then; at most `limit`. How many went. */
    deleteEnded: async ({ endedBeforeMs, limit }: { endedBeforeMs: number; limit: number }) => {
      const { rowCount } = await database.query(sql`
delete from notices
 where notice_id in (select notice_id from notices 
                      where ended_at < ${endedBeforeMs} or (state = 'queued' and give_up_at < ${endedBeforeMs})
                      limit ${limit})`)
      return rowCount
    },
  }
}

const shape = rowShape<Notice>('notice', {
  noticeId: 'notice_id',
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

async function list(database: Queryable, { state }: EmailFilter, { before, limit }: Page): Promise<Notice[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from notices
 where ${allOf([state !== undefined && sql`state = ${state}`, before !== undefined && sql`notice_id < ${before}`])}
 order by notice_id desc
 limit ${limit}`)
  return rows.map(shape.read)
}

async function countFailed(database: Queryable, sinceMs: number, atMost: number): Promise<number> {
  const { rows } = await database.query<{ count: string }>(prepared('count-failed-notices')`
select count(*) as count
  from (select 1 from notices
         where state in ('refused', 'given_up') and ended_at >= ${sinceMs}
         limit ${atMost}) as failed`)
  return Number(rows[0]?.count)
}
