// Applications. An approval creates the merchant, its key and the link for its first member in one transaction.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Merchant, MerchantKey } from '../../../core/merchants/rules/merchant.ts'
import { insertMerchantWithKeys } from '../../../core/merchants/store/merchants.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, sql } from '../../../platform/database/sql.ts'
import { insertLink, type NewLink } from '../../members/store/member-links.ts'
import type { Application, ApplicationStatus } from '../rules/application.ts'

export type ApplicationStore = ReturnType<typeof makeApplicationStore>

export interface NewMerchantOf {
  readonly merchant: Merchant
  readonly keys: readonly MerchantKey[]
  readonly link: NewLink
}

interface Decision {
  readonly applicationId: string
  readonly nowMs: number
  readonly by: string
}

export function makeApplicationStore(database: Pool) {
  return {
    /** False if the limit of waiting applications is reached. */
    insertApplication: (application: Application, tokenHash: Buffer, { most }: { most: number }) =>
      database.transaction((transaction) => insertApplication(transaction, application, { tokenHash, most })),
    findByToken: (tokenHash: Buffer) => find(database, sql`token_hash = ${tokenHash}`),
    findApplication: (applicationId: string) => find(database, sql`application_id = ${applicationId}::uuid`),
    /** Newest first. */
    listApplications: (
      filter: { status?: ApplicationStatus | undefined },
      page: { before?: string | undefined; limit: number },
    ) => listApplications(database, filter, page),
    /** Applications that operators should review. */
    countWaiting: () => countWaiting(database),
    /** Here and below, false if it was decided already. */
    approve: (decision: Decision, made: NewMerchantOf, acts: readonly [AuditEntry, ...AuditEntry[]]) =>
      database.transaction(async (transaction) => {
        const { merchantId } = made.merchant
        if (!(await close(transaction, decision, { status: 'approved', merchantId }))) return false
        if (!(await insertMerchantWithKeys(transaction, made.merchant, made.keys)))
          throw new Error('a new merchantId is taken')
        await insertLink(transaction, made.link, { most: 1 })
        for (const entry of acts) await insertAuditEntry(transaction, entry)
        return true
      }),
    reject: (decision: Decision, reason: string, entry: AuditEntry) =>
      audited(database, entry, (transaction) => close(transaction, decision, { status: 'rejected', reason })),
    ask: ({ applicationId, nowMs, by }: Decision, question: string, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update applications
   set status = 'asked', question = ${question}, answer = null, decided_by = ${by}, changed_at = ${nowMs}
 where application_id = ${applicationId} and status in ('waiting', 'asked')`)
        return rowCount === 1
      }),
    /** False if no question is open. */
    answer: async ({
      applicationId,
      answer,
      nowMs,
    }: {
      applicationId: string
      answer: string
      nowMs: number
    }) => {
      const { rowCount } = await database.query(sql`
update applications set status = 'waiting', answer = ${answer}, changed_at = ${nowMs}
 where application_id = ${applicationId} and status = 'asked'`)
      return rowCount === 1
    },
  }
}

const shape = rowShape<Application>('application', {
  applicationId: 'application_id',
  status: 'status',
  business: 'business',
  contact: 'contact',
  email: 'email',
  website: 'website',
  about: 'about',
  callbackHosts: 'callback_hosts',
  publicKey: 'public_key',
  question: 'question',
  answer: 'answer',
  decidedBy: 'decided_by',
  reason: 'reason',
  merchantId: 'merchant_id',
  createdAtMs: number('created_at'),
  changedAtMs: number('changed_at'),
})

/** Inserts take turns, so that the second of two counts the first. */
async function insertApplication(
  transaction: Queryable,
  application: Application,
  { tokenHash, most }: { tokenHash: Buffer; most: number },
): Promise<boolean> {
  const { applicationId, status, business, contact, email, website, about } = application
  await transaction.query('lock table applications in share row exclusive mode')
  const { rowCount } = await transaction.query(sql`
insert into applications (application_id, token_hash, status, business, contact, email, website, about, callback_hosts,
                          public_key, created_at, changed_at)
select ${applicationId}, ${tokenHash}, ${status}, ${business}, ${contact}, ${email}, ${website}, ${about},
       ${application.callbackHosts}, ${application.publicKey}, ${application.createdAtMs}, ${application.createdAtMs}
 where (select count(*) from applications where status in ('waiting', 'asked')) < ${most}`)
  return rowCount === 1
}

async function find(
  database: Queryable,
  condition: ReturnType<typeof sql>,
): Promise<Application | undefined> {
  const { rows } = await database.query(sql`select ${shape.columns} from applications where ${condition}`)
  return rows[0] && shape.read(rows[0])
}

async function listApplications(
  database: Queryable,
  { status }: { status?: ApplicationStatus | undefined },
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Application[]> {
  const wanted = allOf([
    status !== undefined && sql`status = ${status}`,
    before !== undefined && sql`application_id < ${before}::uuid`,
  ])
  const { rows } = await database.query(sql`
select ${shape.columns} from applications where ${wanted} order by application_id desc limit ${limit}`)
  return rows.map(shape.read)
}

async function countWaiting(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    sql`select count(*) from applications where status = 'waiting'`,
  )
  return Number(rows[0]?.count ?? 0)
}

async function close(
  transaction: Queryable,
  { applicationId, nowMs, by }: Decision,
  outcome: { status: ApplicationStatus; merchantId?: string; reason?: string },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update applications
   set status = ${outcome.status}, merchant_id = ${outcome.merchantId}, reason = ${outcome.reason}, decided_by = ${by},
       changed_at = ${nowMs}
 where application_id = ${applicationId} and status in ('waiting', 'asked')`)
  return rowCount === 1
}
