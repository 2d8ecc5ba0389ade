// Refunds of bank transfers: they wait until an operator made the transfer at the bank and recorded it.
import type { Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'

export interface RefundToSend {
  readonly merchantId: string
  readonly paymentId: string
  readonly orderNo: string
  readonly refundId: string
  readonly railId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly sinceMs: number
  /** The payer with their account; undefined if there were several, or the bank did not name one. */
  readonly party: string | undefined
}

const shape = rowShape<RefundToSend>('refund', {
  merchantId: 'f.merchant_id',
  paymentId: 'f.payment_id',
  orderNo: 'o.order_no',
  refundId: 'f.refund_id',
  railId: 'w.rail_id',
  currency: 'f.currency',
  amountMinor: bigint('f.amount_minor'),
  sinceMs: number('w.created_at'),
  party: 'w.party',
})

/** Oldest first. Local tables are read before they are joined with distributed ones. */
export async function listRefundsToSend(database: Queryable, limit: number): Promise<RefundToSend[]> {
  const { rows } = await database.query(sql`
with w as materialized (
  select t.task_id, t.rail_id, t.merchant_id, t.created_at,
         (select case count(distinct coalesce(e.party, '')) when 1 then min(e.party) end
            from transfer_entries e
           where e.merchant_id = t.merchant_id and e.payment_id = t.payment_id and e.rail_id = t.rail_id
             and e.direction = 'in') as party
    from rail_tasks t join rails r on r.rail_id = t.rail_id
   where t.kind = 'refund' and r.account is not null
   order by t.created_at
   limit ${limit})
select ${shape.columns}
  from w
  join refunds f on f.merchant_id = w.merchant_id and f.refund_id = w.task_id
  join orders o on o.merchant_id = f.merchant_id and o.payment_id = f.payment_id
 order by w.created_at`)
  return rows.map(shape.read)
}
