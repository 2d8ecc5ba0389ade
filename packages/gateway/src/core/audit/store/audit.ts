// Writes audit entries in the transaction of their change. The table is append-only, and writing the entry fails for
// people whose access has ended and for changes that still need a second operator.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { approvalNeeded } from '../../authority/rules/authority.ts'
import { checkAccess, checkOperator } from '../../authority/store/access.ts'
import { closeApproved } from '../../authority/store/approval-closing.ts'
import { queueEmails } from '../../emails/store/queue-emails.ts'
import type { AuditEntry } from '../rules/audit.ts'

/** Work that returns false changed nothing and is not recorded. */
export function audited(
  pool: Pool,
  entry: AuditEntry,
  work: (transaction: Queryable) => Promise<boolean>,
): Promise<boolean> {
  return pool.transaction(async (transaction) => {
    // Checked first, because the work may end the actor's own access.
    await checkPeople(transaction, entry)
    const done = await work(transaction)
    if (done) await writeAuditEntry(transaction, entry)
    return done
  })
}

export async function insertAuditEntry(transaction: Queryable, entry: AuditEntry): Promise<void> {
  await checkPeople(transaction, entry)
  await writeAuditEntry(transaction, entry)
}

async function checkPeople(
  transaction: Queryable,
  { authority, approval, actedAtMs }: AuditEntry,
): Promise<void> {
  if (authority) await checkAccess(transaction, authority, actedAtMs)
  if (approval) await checkOperator(transaction, approval.decider, actedAtMs)
}

async function writeAuditEntry(transaction: Queryable, entry: AuditEntry): Promise<void> {
  const { authority, approval } = entry
  if (entry.needsApproval && authority && !approval) throw approvalNeeded(authority)
  if (approval) {
    await closeApproved(transaction, approval)
    await insertEntry(transaction, {
      auditId: approval.auditId,
      actedAtMs: approval.decidedAtMs,
      actor: approval.decidedAs,
      action: 'approval.approve',
      merchantId: entry.merchantId,
      subject: approval.approvalId,
      reason: approval.reason,
    })
  }
  await insertEntry(transaction, entry)
  await queueEmails(transaction, entry.emails ?? [])
}

async function insertEntry(transaction: Queryable, entry: AuditEntry): Promise<void> {
  const { auditId, actedAtMs, actor, action, merchantId, subject, reason } = entry
  await transaction.query(sql`
insert into audit (audit_id, acted_at, actor, act, merchant_id, subject, reason)
values (${auditId}, ${actedAtMs}, ${actor}, ${action}, ${merchantId}, ${subject}, ${reason})`)
}
