// Everything that is stored of a consumer, for whoever asks for it. It is asked for seldom, and no index is kept for it:
// the tables are read through.
import type { OrderStatus } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../database/pool.ts'
import { bigint, number, rowShape } from '../../database/row-shape.ts'
import { sql } from '../../database/sql.ts'
import type { TransferKind } from '../../ledger/rules/transfer.ts'

export interface StoredPayment {
  readonly merchantId: string
  readonly merchantName: string
  readonly paymentId: string
  readonly orderNo: string
  readonly status: OrderStatus
  readonly amountMinor: bigint
  readonly refundedMinor: bigint
  readonly currency: string
  readonly createdAtMs: number
  readonly completedAtMs: number | undefined
  /** The order as JSON text, as far as it was not erased. */
  readonly content: string
}

export interface StoredMovement {
  readonly transferId: string
  readonly kind: TransferKind
  readonly phase: string
  readonly currency: string
  /** Above zero what came in, below zero what went out. */
  readonly amountMinor: bigint
  readonly paymentId: string | undefined
  readonly madeAtMs: number
}

export interface StoredAct {
  readonly actedAtMs: number
  readonly act: string
  readonly reason: string | undefined
}

export interface ConsumerData {
  readonly payments: readonly StoredPayment[]
  readonly movements: readonly StoredMovement[]
  readonly acts: readonly StoredAct[]
}

const timeoutMs = 120_000

export type ConsumerDataStore = ReturnType<typeof makeConsumerDataStore>

export function makeConsumerDataStore(database: Pool) {
  return {
    /** All of one moment, the oldest first. */
    read: (walletId: string): Promise<ConsumerData> =>
      database.transaction(
        async (transaction) => {
          await transaction.query('set transaction isolation level repeatable read, read only')
          return {
            payments: await listPayments(transaction, walletId),
            movements: await listMovements(transaction, walletId),
            acts: await listActs(transaction, walletId),
          }
        },
        { statementTimeoutMs: timeoutMs },
      ),
  }
}

const payment = rowShape<StoredPayment>('payment', {
  merchantId: 'o.merchant_id',
  merchantName: 'm.name',
  paymentId: 'o.payment_id',
  orderNo: 'o.order_no',
  status: 'o.status',
  amountMinor: bigint('o.payment_amount_minor'),
  refundedMinor: bigint('o.refunded_minor'),
  currency: 'o.currency',
  createdAtMs: number('o.created_at'),
  completedAtMs: number('o.completed_at'),
  content: 'o.content',
})

async function listPayments(database: Queryable, walletId: string): Promise<StoredPayment[]> {
  const { rows } = await database.query(sql`
select ${payment.columns}
  from orders o
  join merchants m on m.merchant_id = o.merchant_id
 where o.wallet_id = ${walletId}
 order by o.payment_id`)
  return rows.map(payment.read)
}

const movement = rowShape<StoredMovement>('movement', {
  transferId: 't.transfer_id',
  kind: 't.kind',
  phase: 't.phase',
  currency: 't.currency',
  amountMinor: bigint('t.amount_minor * t.sign'),
  paymentId: 't.payment_id',
  madeAtMs: number('t.made_at'),
})

async function listMovements(database: Queryable, walletId: string): Promise<StoredMovement[]> {
  const own = `wallet:${walletId}:%`
  const { rows } = await database.query(sql`
select ${movement.columns}
  from (select t.*, case when t.credit_account like ${own} then 1 else -1 end as sign
          from transfers t
         where t.credit_account like ${own} or t.debit_account like ${own}) as t
 order by t.made_at, t.transfer_id`)
  return rows.map(movement.read)
}

const acted = rowShape<StoredAct>('act', { actedAtMs: number('acted_at'), act: 'act', reason: 'reason' })

async function listActs(database: Queryable, walletId: string): Promise<StoredAct[]> {
  const { rows } = await database.query(sql`
select ${acted.columns} from audit where subject = ${walletId} order by acted_at, audit_id`)
  return rows.map(acted.read)
}
