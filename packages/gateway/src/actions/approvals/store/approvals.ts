// Approval requests: inserted, listed, rejected, withdrawn, expired. Each change is one transaction with its audit
// entry. Approval happens in the transaction of the approved action (approval-closing.ts).

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { ApprovalRequest, ApprovalStatus } from '../../../core/authority/rules/approval.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, type Sql, sql } from '../../../platform/database/sql.ts'

export type ApprovalStore = ReturnType<typeof makeApprovalStore>

export interface NewRequest extends ApprovalRequest {
  /** For an action without an idempotency key. */
  readonly contentHash: Buffer | undefined
}

export interface Closing {
  readonly approvalId: string
  readonly status: 'approved' | 'rejected' | 'withdrawn'
  readonly decidedBy: string
  readonly decidedAs: string
  readonly decidedAtMs: number
  readonly reason: string
}

export function makeApprovalStore(database: Pool) {
  return {
    /** False if a request with this id exists, or the same action already waits. */
    insertRequest: (request: NewRequest, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertRequest(transaction, request)),
    findRequest: (approvalId: string) => findRequest(database, sql`approval_id = ${approvalId}`),
    /** Uses approvals_same_action. */
    findSameWaiting: ({ requestedBy, contentHash }: NewRequest) =>
      findRequest(
        database,
        sql`requested_by = ${requestedBy} and content_hash = ${contentHash} and status = 'waiting'`,
      ),
    listRequests: (filter: { status?: ApprovalStatus | undefined }, page: Page) =>
      listRequests(database, filter, page),
    countWaiting: (nowMs: number) => countWaiting(database, nowMs),
    /** False if it is no longer waiting. */
    close: (closing: Closing, entry: AuditEntry) =>
      audited(database, entry, (transaction) => close(transaction, closing)),
    /** Expires requests that were not decided in time, with an audit entry for each. */
    expireDue: (nowMs: number, entryFor: (request: ApprovalRequest) => AuditEntry) =>
      expireDue(database, nowMs, entryFor),
  }
}

interface Page {
  /** Only requests older than this one. */
  readonly before?: string | undefined
  readonly limit: number
}

const shape = rowShape<ApprovalRequest>('request', {
  approvalId: 'approval_id',
  action: 'action',
  params: 'params',
  input: 'input',
  summary: 'summary',
  merchantId: 'merchant_id',
  reason: 'reason',
  requestedBy: 'requested_by',
  requestedAs: 'requested_as',
  requestedAtMs: number('requested_at'),
  expiresAtMs: number('expires_at'),
  status: 'status',
  decidedBy: 'decided_by',
  decidedAs: 'decided_as',
  decidedAtMs: number('decided_at'),
  decisionReason: 'decision_reason',
})

async function insertRequest(transaction: Queryable, request: NewRequest): Promise<boolean> {
  const { approvalId, action, params, input, summary, merchantId, reason } = request
  const { requestedBy, requestedAs, requestedAtMs, expiresAtMs } = request
  const { rowCount } = await transaction.query(sql`
insert into approvals (approval_id, action, params, input, content_hash, summary, merchant_id, reason,
                       requested_by, requested_as, requested_at, expires_at, status)
values (${approvalId}, ${action}, ${JSON.stringify(params)}, ${JSON.stringify(input)}, ${request.contentHash}, ${summary}, ${merchantId}, ${reason},
        ${requestedBy}, ${requestedAs}, ${requestedAtMs}, ${expiresAtMs}, 'waiting')
    on conflict do nothing`)
  return rowCount === 1
}

async function findRequest(database: Queryable, wanted: Sql): Promise<ApprovalRequest | undefined> {
  const { rows } = await database.query(sql`select ${shape.columns} from approvals where ${wanted}`)
  return rows[0] && shape.read(rows[0])
}

async function listRequests(
  database: Queryable,
  { status }: { status?: ApprovalStatus | undefined },
  { before, limit }: Page,
): Promise<ApprovalRequest[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from approvals
 where (${status}::text is null or status = ${status}) and (${before}::uuid is null or approval_id < ${before})
 order by approval_id desc
 limit ${limit}`)
  return rows.map(shape.read)
}

/** Uses approvals_waiting: few requests wait, however many were decided. */
async function countWaiting(database: Queryable, nowMs: number): Promise<{ waiting: number; due: number }> {
  const { rows } = await database.query<{ waiting: string; due: string }>(prepared('count-waiting-approvals')`
select count(*) filter (where expires_at > ${nowMs}) as waiting, count(*) filter (where expires_at <= ${nowMs}) as due
  from approvals
 where status = 'waiting'`)
  return { waiting: Number(rows[0]?.waiting), due: Number(rows[0]?.due) }
}

async function close(
  transaction: Queryable,
  { approvalId, status, decidedBy, decidedAs, decidedAtMs, reason }: Closing,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update approvals
   set status = ${status}, decided_by = ${decidedBy}, decided_as = ${decidedAs}, decided_at = ${decidedAtMs},
       decision_reason = ${reason}
 where approval_id = ${approvalId} and status = 'waiting'`)
  return rowCount === 1
}

async function expireDue(
  database: Pool,
  nowMs: number,
  entryFor: (request: ApprovalRequest) => AuditEntry,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { rows } = await transaction.query(sql`
update approvals set status = 'expired', decided_at = ${nowMs}
 where status = 'waiting' and expires_at <= ${nowMs}
returning ${shape.columns}`)
    for (const row of rows) await insertAuditEntry(transaction, entryFor(shape.read(row)))
  })
}
