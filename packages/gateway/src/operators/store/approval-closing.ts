// The one statement by which an approved act uses its request up: in the act's own transaction, and once. Apart from
// the store of requests, because the audit needs it with every act.
import type { Queryable } from '../../database/pool.ts'
import { type Approval, notWaiting } from '../rules/approval.ts'

/** Throws where the request does not wait any more, so that nothing of the act remains. */
export async function closeApproved(
  transaction: Queryable,
  { approvalId, decidedBy, decidedAs, decidedAtMs, reason }: Approval,
): Promise<void> {
  const { rowCount } = await transaction.query({
    text: `
update approvals
   set status = 'approved', decided_by = $2, decided_as = $3, decided_at = $4, decision_reason = $5
 where approval_id = $1 and status = 'waiting' and expires_at > $4 and requested_by <> $2
   and exists (select from operators where login = requested_by and status = 'active')
   and exists (select from operators where login = $2 and status = 'active')`,
    values: [approvalId, decidedBy, decidedAs, decidedAtMs, reason],
  })
  if (rowCount !== 1) throw notWaiting('decided')
}
