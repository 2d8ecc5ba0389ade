// Recorded bank entries with their consequences for order, attempt, refund and ledger. An entry's bank reference is
// unique; concurrent decisions on one order collide in its ordinal, and one decides again.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { commitAndPublish } from '../../../core/changes/store/commit.ts'
import { makeAccountOpener } from '../../../core/ledger/store/ledger.ts'
import type { Order, OrderKey } from '../../../core/orders/rules/order.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { TransferEntry } from '../rules/bank-transfer.ts'
import type { AttemptKey } from './rail-attempts.ts'
import { accountsOf, commitDecisions, type Decided, lockOrders, RailRaceLost } from './rail-outcomes.ts'

export interface RecordedTransfer extends Decided {
  /** The order as it was when the entry was decided. */
  readonly order: Order
  /** Undefined for a refund that was not sent. */
  readonly entry: TransferEntry | undefined
  /** The task that is no longer needed. */
  readonly endsTask: string | undefined
  readonly auditEntry: AuditEntry
}

export type TransferEntryStore = ReturnType<typeof makeTransferEntryStore>

export function makeTransferEntryStore(database: Pool, publish: Publish = unpublished) {
  const openAccounts = makeAccountOpener(database)
  return {
    /** False if the bank entry is already recorded. Throws RailRaceLost. */
    async record(recorded: RecordedTransfer): Promise<boolean> {
      await openAccounts((recorded.decision?.transfers ?? []).flatMap(accountsOf))
      return commitAndPublish(database, publish, (transaction) => commitRecorded(transaction, recorded))
    },
    listEntries: (key: OrderKey) => listEntries(database, key),
    findEntry: (railId: string, outsideReference: string) => findEntry(database, railId, outsideReference),
    /** The order's attempts with this reference, newest first. */
    findAttempts: (railId: string, reference: string) => findAttempts(database, railId, reference),
  }
}

async function commitRecorded(
  transaction: Queryable,
  { order, entry, endsTask, auditEntry, ...decided }: RecordedTransfer,
) {
  // Locks the order first, like every transaction that ends an order, to prevent deadlocks; an attempt that begins
  // meanwhile must see the entry. Ended orders stay unlocked, because refunds lock them after the accounts.
  if (order.status === 'pending') await lockOrders(transaction, [order])
  if (entry && !(await insertEntry(transaction, entry))) return { result: false, changes: [] }
  if (endsTask !== undefined) await removeTask(transaction, endsTask)
  const changes = await commitDecisions(transaction, [decided])
  await insertAuditEntry(transaction, auditEntry)
  return { result: true, changes }
}

async function insertEntry(transaction: Queryable, entry: TransferEntry): Promise<boolean> {
  const { railId, outsideReference, merchantId, paymentId } = entry
  if (await findEntry(transaction, railId, outsideReference)) return false
  const { rowCount } = await transaction.query(sql`
insert into transfer_entries (rail_id, outside_reference, merchant_id, payment_id, ordinal, direction, transfer_id,
                              refund_id, amount_minor, currency, value_date, party, bank_name, audit_id, recorded_at)
values (${railId}, ${outsideReference}, ${merchantId}, ${paymentId}, ${entry.ordinal}, ${entry.direction},
        ${entry.transferId}, ${entry.refundId}, ${entry.amountMinor.toString()}, ${entry.currency}, ${entry.valueDate},
        ${entry.party}, ${entry.bankName}, ${entry.auditId}, ${entry.recordedAtMs})
    on conflict do nothing`)
  if (rowCount !== 1) throw new RailRaceLost('a transfer of this order was recorded in between')
  return true
}

/** A worker that claimed it loses the claim. */
async function removeTask(transaction: Queryable, taskId: string): Promise<void> {
  const { rowCount } = await transaction.query(sql`delete from rail_tasks where task_id = ${taskId}`)
  if (rowCount !== 1) throw new RailRaceLost('it ended meanwhile')
}

const entryShape = rowShape<TransferEntry>('entry', {
  railId: 'rail_id',
  outsideReference: 'outside_reference',
  merchantId: 'merchant_id',
  paymentId: 'payment_id',
  ordinal: number('ordinal'),
  direction: 'direction',
  transferId: 'transfer_id',
  refundId: 'refund_id',
  amountMinor: bigint('amount_minor'),
  currency: 'currency',
  valueDate: 'value_date::text',
  party: 'party',
  bankName: 'bank_name',
  auditId: 'audit_id',
  recordedAtMs: number('recorded_at'),
})

async function listEntries(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
): Promise<TransferEntry[]> {
  const { rows } = await database.query(sql`
select ${entryShape.columns}
  from transfer_entries
 where merchant_id = ${merchantId} and payment_id = ${paymentId}
 order by ordinal`)
  return rows.map(entryShape.read)
}

async function findEntry(
  database: Queryable,
  railId: string,
  outsideReference: string,
): Promise<TransferEntry | undefined> {
  const { rows } = await database.query(sql`
select ${entryShape.columns}
  from transfer_entries
 where rail_id = ${railId} and outside_reference = ${outsideReference}`)
  return rows[0] && entryShape.read(rows[0])
}

const keyShape = rowShape<AttemptKey & OrderKey>('key', {
  merchantId: 'merchant_id',
  paymentId: 'payment_id',
  transactionId: 'transaction_id',
})

/** Uses rail_attempts_creditor_reference. */
async function findAttempts(
  database: Queryable,
  railId: string,
  reference: string,
): Promise<(AttemptKey & OrderKey)[]> {
  const { rows } = await database.query(sql`
select ${keyShape.columns}
  from rail_attempts
 where reference = ${reference} and reference like 'RF%' and rail_id = ${railId}
 order by started_at desc`)
  return rows.map(keyShape.read)
}
