// Disputes as rows: found by their own id or the rail's, listed, and answered by the merchant.
import type { AuditEntry } from '../../../../core/audit/rules/audit.ts'
import { audited } from '../../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../../core/changes/rules/change.ts'
import { makeAccountOpener } from '../../../../core/ledger/store/ledger.ts'
import { insertRailTasks } from '../../../../core/orders/payments/store/rail-tasks.ts'
import type { OrderKey } from '../../../../core/orders/rules/order.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { allOf, plainSql, sql } from '../../../../platform/database/sql.ts'
import type { Dispute, DisputeKey, MerchantResponse } from '../rules/dispute.ts'
import { type CommittedDispute, commitDispute, type DisputeOutcome } from './dispute-outcomes.ts'
import { type DisputeReference, disputeShape, disputeTaskId, findByReference } from './dispute-rows.ts'

export type DisputeStore = ReturnType<typeof makeDisputeStore>

export interface DisputeFilter {
  readonly merchantId?: string | undefined
  readonly isOpen?: boolean | undefined
  readonly isByDeadline?: boolean | undefined
  /** Only disputes before this one. */
  readonly before?: string | undefined
  readonly limit: number
}

export interface ListedDispute extends Dispute {
  readonly orderNo: string
}

export function makeDisputeStore(database: Pool, publish: Publish = unpublished) {
  const openAccounts = makeAccountOpener(database)
  return {
    /** Undefined if the claim was lost; nothing was written. */
    async commit(outcome: DisputeOutcome): Promise<CommittedDispute | undefined> {
      await openAccounts(outcome.accounts)
      const committed = await database.transaction((transaction) => commitDispute(transaction, outcome))
      if (committed) publish(committed.changes)
      return committed
    },
    findByReference: (of: DisputeReference) => findByReference(database, of),
    find: (key: DisputeKey) => findDispute(database, key),
    list: (filter: DisputeFilter) => listDisputes(database, filter),
    listOfOrder: (key: OrderKey) => listOfOrder(database, key),
    /** False if the dispute ended, or was answered before. */
    async respond(dispute: Dispute, given: GivenResponse, entry: AuditEntry): Promise<boolean> {
      const isDone = await audited(database, entry, (transaction) => respond(transaction, dispute, given))
      if (isDone) publish([{ kind: 'rail task' }])
      return isDone
    },
    readFile: (key: DisputeKey) => readFile(database, key),
    /** Deletes what merchants gave as evidence. Returns how many. */
    forgetEvidence: (closedBeforeMs: number) => forgetEvidence(database, closedBeforeMs),
  }
}

export interface GivenResponse {
  readonly response: MerchantResponse
  readonly sealedFile: Buffer | undefined
  readonly transactionId: string
}

async function findDispute(
  database: Queryable,
  { merchantId, disputeId }: DisputeKey,
): Promise<ListedDispute | undefined> {
  const { rows } = await database.query<{ order_no: string }>(sql`
select ${disputeShape.columns}, o.order_no
  from disputes d
  join orders o on o.merchant_id = d.merchant_id and o.payment_id = d.payment_id
 where d.merchant_id = ${merchantId} and d.dispute_id = ${disputeId} and o.merchant_id = ${merchantId}`)
  return rows[0] && { ...disputeShape.read(rows[0]), orderNo: rows[0].order_no }
}

/** Newest first, unless by deadline. */
async function listDisputes(
  database: Queryable,
  { merchantId, isOpen, isByDeadline, before, limit }: DisputeFilter,
): Promise<ListedDispute[]> {
  const { rows } = await database.query<{ order_no: string }>(sql`
select ${disputeShape.columns}, o.order_no
  from disputes d
  join orders o on o.merchant_id = d.merchant_id and o.payment_id = d.payment_id
 where ${allOf([
   merchantId !== undefined && sql`d.merchant_id = ${merchantId} and o.merchant_id = ${merchantId}`,
   isOpen === true && sql`d.status = 'open'`,
   isOpen === false && sql`d.status <> 'open'`,
   before !== undefined && sql`d.dispute_id < ${before}`,
 ])}
 order by ${plainSql(isByDeadline ? 'd.respond_by, ' : '')}d.dispute_id desc
 limit ${limit}`)
  return rows.map((row) => ({ ...disputeShape.read(row), orderNo: row.order_no }))
}

async function listOfOrder(database: Queryable, { merchantId, paymentId }: OrderKey): Promise<Dispute[]> {
  const { rows } = await database.query(sql`
select ${disputeShape.columns}
  from disputes d
 where d.merchant_id = ${merchantId} and d.payment_id = ${paymentId}
 order by d.dispute_id`)
  return rows.map(disputeShape.read)
}

async function respond(
  transaction: Queryable,
  dispute: Dispute,
  { response, sealedFile, transactionId }: GivenResponse,
): Promise<boolean> {
  const { merchantId, disputeId, railId, reference, paymentId } = dispute
  const { rowCount } = await transaction.query(sql`
update disputes
   set response = ${JSON.stringify(response)}::jsonb, sealed_file = ${sealedFile ?? null}, passed_on_at = null
 where merchant_id = ${merchantId} and dispute_id = ${disputeId} and status = 'open' and response is null
   and ${response.kind} = any (accepts)`)
  if (rowCount !== 1) return false
  const { givenAtMs } = response
  const task = { kind: 'dispute', railId, merchantId, paymentId, transactionId } as const
  await insertRailTasks(transaction, [
    { ...task, taskId: disputeTaskId(railId, reference), createdAtMs: givenAtMs, dueAtMs: givenAtMs },
  ])
  return true
}

async function readFile(
  database: Queryable,
  { merchantId, disputeId }: DisputeKey,
): Promise<Buffer | undefined> {
  const { rows } = await database.query<{ sealed_file: Buffer | null }>(sql`
select sealed_file from disputes where merchant_id = ${merchantId} and dispute_id = ${disputeId}`)
  return rows[0]?.sealed_file ?? undefined
}

async function forgetEvidence(database: Queryable, closedBeforeMs: number): Promise<number> {
  const { rowCount } = await database.query(sql`
update disputes
   set response = response - 'text' - 'file', sealed_file = null
 where closed_at < ${closedBeforeMs} and (sealed_file is not null or response ? 'text')`)
  return rowCount
}
