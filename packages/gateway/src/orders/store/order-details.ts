// The life of one order as it is on record: every change of its status, and every transfer for it or its refunds.
import type { OrderStatus } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Phase, TransferKind } from '../../ledger/rules/ledger.ts'
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

export interface RecordedTransfer {
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
    /** The oldest first. */
    listChanges: (key: OrderKey) => listChanges(database, key),
    /** The oldest first. */
    listTransfers: (key: OrderKey) => listTransfers(database, key),
  }
}

async function listChanges(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
): Promise<RecordedChange[]> {
  const { rows } = await database.query<{
    from_status: OrderStatus
    to_status: OrderStatus
    changed_at: string
    actor: Actor
    reason: string | null
  }>({
    text: `
select from_status, to_status, changed_at, actor, reason
  from order_history
 where merchant_id = $1 and payment_id = $2
 order by changed_at, case from_status when 'pending' then 0 else 1 end`,
    values: [merchantId, paymentId],
  })
  return rows.map((row) => ({
    from: row.from_status,
    to: row.to_status,
    changedAtMs: Number(row.changed_at),
    actor: row.actor,
    reason: row.reason ?? undefined,
  }))
}

/** Holds by transfers_payment_hold and transfers_refund_hold, their ends by the unique hold_id: no scan of a merchant. */
async function listTransfers(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
): Promise<RecordedTransfer[]> {
  const { rows } = await database.query<{
    transfer_id: string
    kind: TransferKind
    phase: Phase
    debit_account: string
    credit_account: string
    currency: string
    amount_minor: string
    refund_id: string | null
    made_at: string
  }>({
    text: `
with holds as (
  select t.*
    from transfers t
   where t.merchant_id = $1 and t.payment_id = $2 and t.phase = 'hold' and t.kind = 'payment'
   union all
  select t.*
    from refunds r
    join transfers t on t.merchant_id = r.merchant_id and t.refund_id = r.refund_id
                    and t.phase = 'hold' and t.kind = 'refund'
   where r.merchant_id = $1 and r.payment_id = $2
), both_ends as (
  select * from holds
   union all
  select t.*
    from rail_attempts a
    join transfers t on t.merchant_id = a.merchant_id and t.transfer_id in (a.transaction_id, a.return_id)
                    and t.kind in ('late_payment', 'late_return')
   where a.merchant_id = $1 and a.payment_id = $2
   union all
  select e.* from holds h join transfers e on e.merchant_id = h.merchant_id and e.hold_id = h.transfer_id
)
select transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor, refund_id, made_at
  from both_ends
 order by made_at, phase <> 'hold', transfer_id`,
    values: [merchantId, paymentId],
  })
  return rows.map((row) => ({
    transferId: row.transfer_id,
    kind: row.kind,
    phase: row.phase,
    debitAccountId: row.debit_account,
    creditAccountId: row.credit_account,
    currency: row.currency,
    amountMinor: BigInt(row.amount_minor),
    refundId: row.refund_id ?? undefined,
    madeAtMs: Number(row.made_at),
  }))
}
