// Uses an approval request up in the transaction of its action, exactly once. Separate from the requests' store,
// because every audit entry needs it.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { type Approval, notWaiting } from '../rules/approval.ts'

/** Throws if the request is no longer pending, which rolls the action back. */
export async function closeApproved(
  transaction: Queryable,
  { approvalId, decider, decidedAs, decidedAtMs, reason }: Approval,
): Promise<void> {
  const { rowCount } = await transaction.query(sql`
update approvals
   set status = 'approved', decided_by = ${decider.login}, decided_as = ${decidedAs}, decided_at = ${decidedAtMs},
       decision_reason = ${reason}
 where approval_id = ${approvalId} and status = 'waiting' and expires_at > ${decidedAtMs}
   and requested_by <> ${decider.login}
   and exists (select 1 from operators where login = requested_by and status = 'active')
   and exists (select 1 from operators where login = ${decider.login} and status = 'active')`)
  if (rowCount !== 1) throw notWaiting('decided')
}
