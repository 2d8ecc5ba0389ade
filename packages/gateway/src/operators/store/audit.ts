// The audit table is only ever added to. An operator's act and its entry are one transaction: nobody can do the
// one and leave out the other.
import type { Pool, Queryable } from '../../database/pool.ts'
import { sql } from '../../database/sql.ts'
import { queueNotices } from '../../notices/store/queue-notices.ts'
import type { Act } from '../rules/audit.ts'
import { closeApproved } from './approval-closing.ts'

/** Does the work and records it; work that answers false did nothing, and nothing is recorded. */
export function audited(
  pool: Pool,
  act: Act,
  work: (transaction: Queryable) => Promise<boolean>,
): Promise<boolean> {
  return pool.transaction(async (transaction) => {
    const done = await work(transaction)
    if (done) await insertAct(transaction, act)
    return done
  })
}

export async function insertAct(transaction: Queryable, act: Act): Promise<void> {
  const { approval } = act
  if (approval) {
    await closeApproved(transaction, approval)
    await insertEntry(transaction, {
      auditId: approval.auditId,
      actedAtMs: approval.decidedAtMs,
      actor: approval.decidedAs,
      act: 'approval.approve',
      merchantId: act.merchantId,
      subject: approval.approvalId,
      reason: approval.reason,
    })
  }
  await insertEntry(transaction, act)
  await queueNotices(transaction, act.notices ?? [])
}

async function insertEntry(transaction: Queryable, entry: Act): Promise<void> {
  const { auditId, actedAtMs, actor, act, merchantId, subject, reason } = entry
  await transaction.query(sql`
insert into audit (audit_id, acted_at, actor, act, merchant_id, subject, reason)
values (${auditId}, ${actedAtMs}, ${actor}, ${act}, ${merchantId}, ${subject}, ${reason})`)
}
