// The rows of disputes, read by the rail's number of the dispute.
import type { Queryable } from '../../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../../platform/database/row-shape.ts'
import { plainSql, sql } from '../../../../platform/database/sql.ts'
import type { Dispute } from '../rules/dispute.ts'

/** The rail's number of a dispute. */
export interface DisputeReference {
  readonly merchantId: string
  readonly railId: string
  readonly reference: string
}

/** Rails number their disputes independently of each other. */
export function disputeTaskId(railId: string, reference: string): string {
  return `${railId}:${reference}`
}

export const disputeShape = rowShape<Dispute>('dispute', {
  merchantId: 'd.merchant_id',
  disputeId: 'd.dispute_id',
  railId: 'd.rail_id',
  reference: 'd.reference',
  paymentId: 'd.payment_id',
  status: 'd.status',
  amountMinor: bigint('d.amount_minor'),
  currency: 'd.currency',
  feeMinor: bigint('d.fee_minor'),
  reason: 'd.reason',
  respondByMs: number('d.respond_by'),
  openedAtMs: number('d.opened_at'),
  closedAtMs: number('d.closed_at'),
  accepts: 'd.accepts',
  response: 'd.response',
  passedOnAtMs: number('d.passed_on_at'),
  rounds: 'd.rounds',
} as never)

export async function findByReference(
  database: Queryable,
  { merchantId, railId, reference }: DisputeReference,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<Dispute | undefined> {
  const { rows } = await database.query(sql`
select ${disputeShape.columns}
  from disputes d
 where d.reference = ${reference} and d.rail_id = ${railId} and d.merchant_id = ${merchantId}
 ${plainSql(isLocked ? 'for update' : '')}`)
  return rows[0] && disputeShape.read(rows[0])
}
