// Requests for a second operator's approval: made, listed, rejected, withdrawn, expired. Each change is one
// transaction with its audit entry; approving is the approved act's own transaction (approval-closing.ts).
import type { Pool, Queryable } from '../../database/pool.ts'
import { bigint, number, rowShape } from '../../database/row-shape.ts'
import { prepared, type Sql, sql } from '../../database/sql.ts'
import type { MemberRole } from '../../members/rules/member.ts'
import type { CheckedKey } from '../../merchants/rules/merchant.ts'
import type { BankEntry } from '../../rails/rules/bank-transfer.ts'
import type { BankDetails, Outside } from '../../treasury/rules/bank-account.ts'
import type { Correction } from '../../treasury/rules/correction.ts'
import {
  type ApprovableAct,
  type ApprovalRequest,
  type ApprovalStatus,
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
    findRequest: (approvalId: string) => findRequest(database, sql`approval_id = ${approvalId}`),
    findByRefundNumber: ({ merchantId, referRefundNo }: { merchantId: string; referRefundNo: string }) =>
      findRequest(database, sql`merchant_id = ${merchantId} and refer_refund_no = ${referRefundNo}`),
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

type StoredRequest = Omit<ApprovalRequest, 'act'> & {
  readonly kind: ApprovableAct['kind']
  readonly merchantId: string
  readonly subject: string
  readonly referRefundNo: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly details: Details | undefined
}

/** What no column of its own holds. */
interface Details {
  readonly key?: CheckedKey
  readonly callbackHosts?: readonly string[]
  readonly outside?: Outside
  /** Its amount is in a column. */
  readonly correction?: Omit<Correction, 'amountMinor'>
  readonly account?: BankDetails & { readonly currency: string }
  readonly railId?: string
  readonly entry?: BankEntry
  readonly login?: string
  readonly role?: MemberRole
}

const shape = rowShape<StoredRequest>('request', {
  approvalId: 'approval_id',
  kind: 'act',
  merchantId: "coalesce(merchant_id, '')",
  subject: 'subject',
  referRefundNo: "coalesce(refer_refund_no, '')",
  currency: "coalesce(currency, '')",
  amountMinor: bigint('coalesce(amount_minor, 0)'),
  details: 'details',
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

async function insertRequest(transaction: Queryable, request: ApprovalRequest): Promise<boolean> {
  const { act, approvalId, reason, requestedBy, requestedAs, requestedAtMs, expiresAtMs } = request
  const { currency, amountMinor } = 'currency' in act ? act : {}
  const details = detailsOf(act)
  const { rowCount } = await transaction.query(sql`
insert into approvals (approval_id, act, merchant_id, subject, refer_refund_no, currency, amount_minor, details,
                       reason, requested_by, requested_as, requested_at, expires_at, status)
values (${approvalId}, ${act.kind}, ${merchantIdOf(act)}, ${subjectOf(act)}, ${referRefundNoOf(act)}, ${currency},
        ${amountMinor?.toString()}, ${details && JSON.stringify(details)}, ${reason}, ${requestedBy}, ${requestedAs}, ${requestedAtMs},
        ${expiresAtMs}, 'waiting')
    on conflict do nothing`)
  return rowCount === 1
}

async function findRequest(database: Queryable, wanted: Sql): Promise<ApprovalRequest | undefined> {
  const { rows } = await database.query(sql`select ${shape.columns} from approvals where ${wanted}`)
  return rows[0] && toRequest(rows[0])
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
  return rows.map(toRequest)
}

/** By approvals_waiting: what waits is little, whatever was decided before. */
async function countWaiting(database: Queryable, nowMs: number): Promise<{ waiting: number; due: number }> {
  const { rows } = await database.query<{ waiting: string; due: string }>(prepared('count-waiting-approvals')`
select count(*) filter (where expires_at > ${nowMs}) as waiting, count(*) filter (where expires_at <= ${nowMs}) as due
  from approvals
 where status = 'waiting'`)
  return { waiting: Number(rows[0]?.waiting), due: Number(rows[0]?.due) }
}

async function refuse(
  transaction: Queryable,
  { approvalId, status, decidedBy, decidedAs, decidedAtMs, reason }: Refusal,
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
  actFor: (request: ApprovalRequest) => Act,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { rows } = await transaction.query(sql`
update approvals set status = 'expired', decided_at = ${nowMs}
 where status = 'waiting' and expires_at <= ${nowMs}
returning ${shape.columns}`)
    for (const row of rows) await insertAct(transaction, actFor(toRequest(row)))
  })
}

function subjectOf(act: ApprovableAct): string {
  if ('paymentId' in act) return act.paymentId
  if (act.kind === 'wallet.top-up') return act.walletId
  if (act.kind !== 'correction') return act.merchantId
  const { correction } = act
  if (correction.corrects !== undefined) return correction.corrects
  if (correction.kind === 'difference') return correction.account
  return correction.kind === 'withdraw' ? correction.walletId : correction.merchantId
}

function detailsOf(act: ApprovableAct): Details | undefined {
  switch (act.kind) {
    case 'key.add':
      return { key: act.key }
    case 'merchant.bank-account':
      return { account: act.account }
    case 'merchant.callback-hosts':
      return act.callbackHosts === undefined ? {} : { callbackHosts: act.callbackHosts }
    case 'merchant.payout':
    case 'wallet.top-up':
      return act.outside && { outside: act.outside }
    case 'transfer.confirm':
      return { railId: act.railId, entry: act.entry }
    case 'correction': {
      const { amountMinor: _kept, ...correction } = act.correction
      return { correction }
    }
    case 'member.invite':
    case 'member.change-role':
      return { login: act.login, role: act.role }
    case 'member.recover':
    case 'member.reset-totp':
      return { login: act.login }
    case 'order.refund':
      return undefined
  }
}

function toRequest(row: Readonly<Record<string, unknown>>): ApprovalRequest {
  const { kind, merchantId, subject, referRefundNo, currency, amountMinor, details, ...request } =
    shape.read(row)
  return { ...request, act: toAct() }

  function toAct(): ApprovableAct {
    const money = { currency, amountMinor }
    switch (kind) {
      case 'key.add':
        if (!details?.key) throw new Error('a request for a key holds it')
        return { kind, merchantId, key: details.key }
      case 'merchant.bank-account':
        if (!details?.account) throw new Error('a request for a bank account holds it')
        return { kind, merchantId, account: details.account }
      case 'merchant.callback-hosts':
        return { kind, merchantId, callbackHosts: details?.callbackHosts }
      case 'wallet.top-up':
        return { kind, walletId: subject, ...money, outside: details?.outside }
      case 'merchant.payout':
        return { kind, merchantId, ...money, outside: details?.outside }
      case 'correction':
        if (!details?.correction) throw new Error('a request for a correction holds it')
        // Safe: it was stored as one, without its amount.
        return { kind, ...money, correction: { ...details.correction, amountMinor } as Correction }
      case 'transfer.confirm':
        if (!details?.entry) throw new Error('a request to record a transfer holds the bank’s entry')
        return {
          kind,
          merchantId,
          paymentId: subject,
          ...money,
          railId: details.railId ?? '',
          entry: details.entry,
        }
      case 'member.invite':
      case 'member.change-role':
        if (!details?.login || !details.role) throw new Error('a request about a member holds login and role')
        return { kind, merchantId, login: details.login, role: details.role }
      case 'member.recover':
      case 'member.reset-totp':
        if (!details?.login) throw new Error('a request about a member holds the login')
        return { kind, merchantId, login: details.login }
      case 'order.refund':
        return { kind, merchantId, paymentId: subject, referRefundNo, ...money }
    }
  }
}
