// Requests for a second operator's approval: made, listed, rejected, withdrawn, expired. Each change is one
// transaction with its audit entry; approving is the approved act's own transaction (approval-closing.ts).
import type { Pool, Queryable } from '../../database/pool.ts'
import type { CheckedKey } from '../../merchants/rules/merchant.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  type ApprovalStatus,
  type MerchantAct,
  merchantIdOf,
  referRefundNoOf,
} from '../rules/approval.ts'
import type { Act } from '../rules/audit.ts'
import { audited, insertAct } from './audit.ts'

export type ApprovalStore = ReturnType<typeof makeApprovalStore>

export interface Refusal {
  readonly approvalId: string
  readonly status: 'rejected' | 'withdrawn'
  readonly decidedBy: string
  readonly decidedAs: string
  readonly decidedAtMs: number
  readonly reason: string
}

export function makeApprovalStore(database: Pool) {
  return {
    /** False: there is one of this id, or for this refund number, already. */
    insertRequest: (request: ApprovalRequest, act: Act) =>
      audited(database, act, (transaction) => insertRequest(transaction, request)),
    findRequest: (approvalId: string) => findRequest(database, 'approval_id = $1::uuid', [approvalId]),
    findByRefundNumber: ({ merchantId, referRefundNo }: { merchantId: string; referRefundNo: string }) =>
      findRequest(database, 'merchant_id = $1 and refer_refund_no = $2', [merchantId, referRefundNo]),
    listRequests: (filter: { status?: ApprovalStatus | undefined }, page: Page) =>
      listRequests(database, filter, page),
    countWaiting: (nowMs: number) => countWaiting(database, nowMs),
    /** False: it does not wait any more. */
    refuse: (refusal: Refusal, act: Act) =>
      audited(database, act, (transaction) => refuse(transaction, refusal)),
    /** Ends what nobody decided in time, each with an entry of its own. */
    expireDue: (nowMs: number, actFor: (request: ApprovalRequest) => Act) =>
      expireDue(database, nowMs, actFor),
  }
}

interface Page {
  /** Only what is older than this request. */
  readonly before?: string | undefined
  readonly limit: number
}

interface ApprovalRow {
  approval_id: string
  act: ApprovableAct['kind']
  merchant_id: string | null
  subject: string
  refer_refund_no: string | null
  currency: string | null
  amount_minor: string | null
  /** Of acts that are not about money. */
  details: { key?: CheckedKey; callbackHosts?: readonly string[] } | null
  reason: string
  requested_by: string
  requested_as: string
  requested_at: string
  expires_at: string
  status: ApprovalStatus
  decided_by: string | null
  decided_as: string | null
  decided_at: string | null
  decision_reason: string | null
}

const columns = `approval_id, act, merchant_id, subject, refer_refund_no, currency, amount_minor, details, reason,
       requested_by, requested_as, requested_at, expires_at, status, decided_by, decided_as, decided_at, decision_reason`

async function insertRequest(transaction: Queryable, request: ApprovalRequest): Promise<boolean> {
  const { act } = request
  const { rowCount } = await transaction.query({
    text: `
insert into approvals (approval_id, act, merchant_id, subject, refer_refund_no, currency, amount_minor, details,
                       reason, requested_by, requested_as, requested_at, expires_at, status)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'waiting')
    on conflict do nothing`,
    values: [
      request.approvalId,
      act.kind,
      merchantIdOf(act) ?? null,
      subjectOf(act),
      referRefundNoOf(act) ?? null,
      'currency' in act ? act.currency : null,
      'currency' in act ? act.amountMinor.toString() : null,
      'currency' in act ? null : JSON.stringify(detailsOf(act)),
      request.reason,
      request.requestedBy,
      request.requestedAs,
      request.requestedAtMs,
      request.expiresAtMs,
    ],
  })
  return rowCount === 1
}

async function findRequest(
  database: Queryable,
  condition: string,
  values: readonly string[],
): Promise<ApprovalRequest | undefined> {
  const { rows } = await database.query<ApprovalRow>({
    text: `select ${columns} from approvals where ${condition}`,
    values,
  })
  return rows[0] && toRequest(rows[0])
}

async function listRequests(
  database: Queryable,
  { status }: { status?: ApprovalStatus | undefined },
  { before, limit }: Page,
): Promise<ApprovalRequest[]> {
  const { rows } = await database.query<ApprovalRow>({
    text: `
select ${columns}
  from approvals
 where ($1::text is null or status = $1) and ($2::uuid is null or approval_id < $2)
 order by approval_id desc
 limit $3`,
    values: [status ?? null, before ?? null, limit],
  })
  return rows.map(toRequest)
}

/** By approvals_waiting: what waits is little, whatever was decided before. */
async function countWaiting(database: Queryable, nowMs: number): Promise<{ waiting: number; due: number }> {
  const { rows } = await database.query<{ waiting: string; due: string }>({
    name: 'count-waiting-approvals',
    text: `
select count(*) filter (where expires_at > $1) as waiting, count(*) filter (where expires_at <= $1) as due
  from approvals
 where status = 'waiting'`,
    values: [nowMs],
  })
  return { waiting: Number(rows[0]?.waiting), due: Number(rows[0]?.due) }
}

async function refuse(transaction: Queryable, refusal: Refusal): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
update approvals
   set status = $2, decided_by = $3, decided_as = $4, decided_at = $5, decision_reason = $6
 where approval_id = $1 and status = 'waiting'`,
    values: [
      refusal.approvalId,
      refusal.status,
      refusal.decidedBy,
      refusal.decidedAs,
      refusal.decidedAtMs,
      refusal.reason,
    ],
  })
  return rowCount === 1
}

async function expireDue(
  database: Pool,
  nowMs: number,
  actFor: (request: ApprovalRequest) => Act,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { rows } = await transaction.query<ApprovalRow>({
      text: `
update approvals set status = 'expired', decided_at = $1
 where status = 'waiting' and expires_at <= $1
returning ${columns}`,
      values: [nowMs],
    })
    for (const row of rows) await insertAct(transaction, actFor(toRequest(row)))
  })
}

function subjectOf(act: ApprovableAct): string {
  if (act.kind === 'order.refund') return act.paymentId
  return act.kind === 'wallet.top-up' ? act.walletId : act.merchantId
}

function detailsOf(act: MerchantAct): NonNullable<ApprovalRow['details']> {
  if (act.kind === 'key.add') return { key: act.key }
  return act.callbackHosts === undefined ? {} : { callbackHosts: act.callbackHosts }
}

function toRequest(row: ApprovalRow): ApprovalRequest {
  return {
    approvalId: row.approval_id,
    act: toAct(row),
    reason: row.reason,
    requestedBy: row.requested_by,
    requestedAs: row.requested_as,
    requestedAtMs: Number(row.requested_at),
    expiresAtMs: Number(row.expires_at),
    status: row.status,
    decidedBy: row.decided_by ?? undefined,
    decidedAs: row.decided_as ?? undefined,
    decidedAtMs: row.decided_at === null ? undefined : Number(row.decided_at),
    decisionReason: row.decision_reason ?? undefined,
  }
}

function toAct({
  act,
  merchant_id,
  subject,
  refer_refund_no,
  currency,
  amount_minor,
  details,
}: ApprovalRow): ApprovableAct {
  const merchantId = merchant_id ?? ''
  if (act === 'key.add') {
    if (!details?.key) throw new Error('a request for a key holds it')
    return { kind: act, merchantId, key: details.key }
  }
  if (act === 'merchant.callback-hosts')
    return { kind: act, merchantId, callbackHosts: details?.callbackHosts }
  const money = { currency: currency ?? '', amountMinor: BigInt(amount_minor ?? 0) }
  if (act === 'wallet.top-up') return { kind: act, walletId: subject, ...money }
  if (act === 'merchant.payout') return { kind: act, merchantId, ...money }
  return { kind: act, merchantId, paymentId: subject, referRefundNo: refer_refund_no ?? '', ...money }
}
