// Exports everything that is stored of a consumer. Exports are rare, so no index exists for them, and the tables are
// scanned.
import type { OrderStatus } from '@tillgate/protocol'
import type { TransferKind } from '../../../core/ledger/rules/transfer.ts'
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'

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
  /** Positive for money in, negative for money out. */
  readonly amountMinor: bigint
  readonly paymentId: string | undefined
  readonly madeAtMs: number
}

export interface StoredAct {
  readonly actedAtMs: number
  readonly act: string
  readonly reason: string | undefined
}

export interface StoredWithdrawal {
  readonly payoutId: string
  readonly status: string
  readonly currency: string
  readonly amountMinor: bigint
  /** The bank account as JSON text. */
  readonly account: string
  readonly requestedAtMs: number
}

/** A device on which the owner is or recently was signed in. */
export interface StoredDevice {
  /** The browser's user agent. */
  readonly device: string | undefined
  readonly address: string
  readonly signedInAtMs: number
  readonly lastSeenAtMs: number
}

export interface StoredPasskey {
  readonly name: string
  readonly addedAtMs: number
  readonly lastUsedAtMs: number | undefined
}

export interface ConsumerData {
  readonly payments: readonly StoredPayment[]
  readonly movements: readonly StoredMovement[]
  readonly withdrawals: readonly StoredWithdrawal[]
  readonly devices: readonly StoredDevice[]
  readonly passkeys: readonly StoredPasskey[]
  readonly acts: readonly StoredAct[]
}

const timeoutMs = 120_000

export type ConsumerDataStore = ReturnType<typeof makeConsumerDataStore>

export function makeConsumerDataStore(database: Pool) {
  return {
    /** One snapshot, oldest first. */
    read: (walletId: string): Promise<ConsumerData> =>
      database.transaction(
        async (transaction) => {
          await transaction.query('set transaction isolation level repeatable read, read only')
          return {
            payments: await listPayments(transaction, walletId),
            movements: await listMovements(transaction, walletId),
            withdrawals: await listWithdrawals(transaction, walletId),
            devices: await listDevices(transaction, walletId),
            passkeys: await listPasskeys(transaction, walletId),
            acts: await listEntries(transaction, walletId),
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

const withdrawal = rowShape<StoredWithdrawal>('withdrawal', {
  payoutId: 'payout_id',
  status: 'status',
  currency: 'currency',
  amountMinor: bigint('amount_minor'),
  account: 'account::text',
  requestedAtMs: number('requested_at'),
})

async function listWithdrawals(database: Queryable, walletId: string): Promise<StoredWithdrawal[]> {
  const { rows } = await database.query(sql`
select ${withdrawal.columns}
  from payouts
 where merchant_id = ${ownMerchantId} and wallet_id = ${walletId}
 order by payout_id`)
  return rows.map(withdrawal.read)
}

const device = rowShape<StoredDevice>('device', {
  device: `nullif(device, '')`,
  address: 'address',
  signedInAtMs: number('created_at'),
  lastSeenAtMs: number('last_seen_at'),
})

async function listDevices(database: Queryable, walletId: string): Promise<StoredDevice[]> {
  const { rows } = await database.query(sql`
select ${device.columns} from wallet_sessions where wallet_id = ${walletId} order by created_at, session_id`)
  return rows.map(device.read)
}

const passkey = rowShape<StoredPasskey>('passkey', {
  name: 'name',
  addedAtMs: number('created_at'),
  lastUsedAtMs: number('last_used_at'),
})

async function listPasskeys(database: Queryable, walletId: string): Promise<StoredPasskey[]> {
  const { rows } = await database.query(sql`
select ${passkey.columns} from passkeys
 where account_kind = 'wallet' and account = (select login from wallets where wallet_id = ${walletId})
 order by created_at, credential_id`)
  return rows.map(passkey.read)
}

const acted = rowShape<StoredAct>('act', { actedAtMs: number('acted_at'), act: 'act', reason: 'reason' })

async function listEntries(database: Queryable, walletId: string): Promise<StoredAct[]> {
  const { rows } = await database.query(sql`
select ${acted.columns} from audit where subject = ${walletId} order by acted_at, audit_id`)
  return rows.map(acted.read)
}
