// An order's recorded history: its status changes, and the transfers of the order and its refunds.
import type { OrderStatus } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { Phase, TransferKind } from '../../ledger/rules/transfer.ts'
import type { OrderKey } from '../rules/order.ts'
import type { Actor } from '../rules/status-change.ts'

export type OrderDetailsStore = ReturnType<typeof makeOrderDetailsStore>

export interface RecordedChange {
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly changedAtMs: number
  readonly actor: Actor
  readonly reason: string | undefined
}

export interface OrderTransfer {
  readonly transferId: string
  readonly kind: TransferKind
  readonly phase: Phase
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly refundId: string | undefined
  readonly madeAtMs: number
}

export function makeOrderDetailsStore(database: Pool) {
  return {
    listChanges: (key: OrderKey) => listChanges(database, key),
    listTransfers: (key: OrderKey) => listTransfers(database, key),
  }
}

const changeShape = rowShape<RecordedChange>('change', {
  from: 'from_status',
  to: 'to_status',
  changedAtMs: number('changed_at'),
  actor: 'actor',
  reason: 'reason',
})

async function listChanges(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
): Promise<RecordedChange[]> {
  const { rows } = await database.query(sql`
select ${changeShape.columns}
  from order_history
 where merchant_id = ${merchantId} and payment_id = ${paymentId}
 order by changed_at, case from_status when 'pending' then 0 else 1 end`)
  return rows.map(changeShape.read)
}

const transferShape = rowShape<OrderTransfer>('transfer', {
  transferId: 'transfer_id',
  kind: 'kind',
  phase: 'phase',
  debitAccountId: 'debit_account',
  creditAccountId: 'credit_account',
  currency: 'currency',
  amountMinor: bigint('amount_minor'),
  refundId: 'refund_id',
  madeAtMs: number('made_at'),
})

/**
 * Holds use transfers_payment_hold and transfers_refund_hold, their ends transfers_ends, fees (F) and wallet
 * credits (T) their ids, so no query scans a merchant.
 */
async function listTransfers(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
): Promise<OrderTransfer[]> {
  const { rows } = await database.query(sql`
with holds as (
  select t.*
    from transfers t
   where t.merchant_id = ${merchantId} and t.payment_id = ${paymentId} and t.phase = 'hold' and t.kind = 'payment'
   union all
  select t.*
    from refunds r
    join transfers t on t.merchant_id = r.merchant_id and t.refund_id = r.refund_id
                    and t.phase = 'hold' and t.kind = 'refund'
   where r.merchant_id = ${merchantId} and r.payment_id = ${paymentId}
), both_ends as (
  select * from holds
   union all
  select t.*
    from rail_attempts a
    join transfers t on t.merchant_id = a.merchant_id
                    and t.transfer_id in (a.transaction_id, a.transaction_id || 'L', a.return_id)
                    and t.kind in ('late_payment', 'late_return')
   where a.merchant_id = $1 and a.payment_id = $2
   union all
  select t.*
    from transfers t
   where t.merchant_id = $1 and t.kind <> 'refund'
     and t.transfer_id in (select b.transfer_id from transfer_entries b where b.merchant_id = $1 and b.payment_id = $2)
   union all
  select t.* from transfers t where t.merchant_id = $1 and t.payment_id = $2 and t.kind = 'transfer_applied'
   union all
  select e.* from holds h join transfers e on e.merchant_id = $1 and e.hold_id = h.transfer_id
   union all
  select f.*
    from holds h
    join transfers f on f.merchant_id = $1 and f.transfer_id in (h.transfer_id || 'F', h.transfer_id || 'T')
   union all
  select f.*
    from holds h
    join transfers e on e.merchant_id = $1 and e.hold_id = h.transfer_id
    join transfers f on f.merchant_id = $1 and f.transfer_id = e.transfer_id || 'F' and h.kind = 'payment'
)
select ${transferShape.columns}
  from both_ends
 order by made_at, phase <> 'hold', phase = 'direct', transfer_id`)
  return rows.map(transferShape.read)
}
