// Money of orders in suspense: late payments that a rail collected, and bank transfers that paid too much, too little or
// too late.
import type { OrderStatus } from '@tillgate/protocol'
import type { Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, sql } from '../../../platform/database/sql.ts'

export interface HeldMoney {
  readonly merchantId: string
  readonly paymentId: string
  readonly orderNo: string
  readonly orderStatus: OrderStatus
  readonly railId: string
  readonly currency: string
  readonly heldMinor: bigint
  readonly sinceMs: number
  /** For a late payment: the transfer that a correction can release. A bank transfer is returned on the order’s page. */
  readonly transferId: string | undefined
  /** The rail was asked to return it and has not answered yet. */
  readonly isReturning: boolean
  readonly party: string | undefined
}

const orderColumns = {
  merchantId: 'o.merchant_id',
  paymentId: 'o.payment_id',
  orderNo: 'o.order_no',
  orderStatus: 'o.status',
} as const

const lateShape = rowShape<HeldMoney>('held', {
  ...orderColumns,
  railId: 'a.rail_id',
  currency: 'a.currency',
  heldMinor: bigint('a.amount_minor - coalesce(c.corrected_minor, 0)'),
  sinceMs: number('a.ended_at'),
  // As latePaymentId in finance/rails/rules/late-money.ts.
  transferId: "a.transaction_id || case when o.transaction_id = a.transaction_id then 'L' else '' end",
  isReturning: "a.status = 'returning'",
  party: 'null::text',
})

const paidMinor =
  "case when o.status = 'success' and o.rail_id = e.rail_id then o.payment_amount_minor else 0 end"

const transferShape = rowShape<HeldMoney>('held', {
  ...orderColumns,
  railId: 'e.rail_id',
  currency: 'e.currency',
  heldMinor: bigint(`e.held_minor - ${paidMinor}`),
  sinceMs: number('e.recorded_at'),
  transferId: 'null::text',
  isReturning: 'false',
  party: 'e.party',
})

/**
 * Newest first. Each part reads all of its table, so it runs only if suspense has money. Local tables are read before
 * they are joined with distributed ones.
 */
export async function listHeldMoney(database: Queryable, limit: number): Promise<HeldMoney[]> {
  const { rows: held } = await database.query(sql`
select 1 from accounts where account_id >= 'suspense:' and account_id < 'suspense;' and credits_posted > debits_posted limit 1`)
  if (held.length === 0) return []
  const { rows: late } = await database.query(sql`
select ${lateShape.columns}
  from rail_attempts a
  join orders o on o.merchant_id = a.merchant_id and o.payment_id = a.payment_id
  left join corrected_transfers c on c.merchant_id = a.merchant_id
                                 and rtrim(c.transfer_id, 'L') = a.transaction_id
 where a.status in ('held', 'returning') and a.amount_minor > coalesce(c.corrected_minor, 0)
 order by a.ended_at desc
 limit ${limit}`)
  const { rows: transfers } = await database.query(sql`
with e as materialized (
  select rail_id, merchant_id, payment_id, currency, max(recorded_at) as recorded_at, min(party) as party,
         sum(case direction when 'in' then amount_minor else -amount_minor end) as held_minor
    from transfer_entries
   where refund_id is null
   group by rail_id, merchant_id, payment_id, currency
  having sum(case direction when 'in' then amount_minor else -amount_minor end) > 0)
select ${transferShape.columns}
  from e join orders o on o.merchant_id = e.merchant_id and o.payment_id = e.payment_id
 where e.held_minor > ${plainSql(paidMinor)}
 order by e.recorded_at desc
 limit ${limit}`)
  return [...late.map(lateShape.read), ...transfers.map(transferShape.read)]
    .sort((one, other) => other.sinceMs - one.sinceMs)
    .slice(0, limit)
}
