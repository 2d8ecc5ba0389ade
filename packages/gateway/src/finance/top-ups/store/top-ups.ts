// Inserts top-up orders under the lock of the wallet's account, so that concurrent ones see each other.

import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { accountIdOf, walletAccount } from '../../../core/ledger/rules/transfer.ts'
import { openAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import { roomMinor, topUpLimits } from '../../../core/orders/rules/top-up.ts'
import { type OrderRow, orderColumns, toOrder } from '../../../core/orders/store/order-row.ts'
import { findOrdersByNumber, insertOrders, ordersCreated } from '../../../core/orders/store/orders.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { plainSql, sql } from '../../../platform/database/sql.ts'
import { findUnderWay } from '../../treasury/store/pending-top-ups.ts'

export type OpenedTopUp =
  /** New, or the earlier one with its number. */
  | { readonly kind: 'stored'; readonly order: Order }
  | { readonly kind: 'over_limit'; readonly roomMinor: bigint }
  | { readonly kind: 'too_many' }

export type TopUpStore = ReturnType<typeof makeTopUpStore>

export function makeTopUpStore(database: Pool, publish: Publish = unpublished) {
  return {
    /** `limitMinor`: the maximum for wallets without their own limit. */
    async open(order: Order, given: { readonly limitMinor: bigint | undefined }): Promise<OpenedTopUp> {
      await openAccounts(database, [walletAccount(order.topsUp ?? '', order.currency)])
      const opened = await database.transaction((transaction) => open(transaction, order, given))
      if (opened.kind === 'stored') publish(ordersCreated([order], [opened.order]))
      return opened
    },
    /** Unpaid ones without an attempt, except this number. */
    async findUnbegun({ merchantId, topsUp, orderNo }: Order): Promise<readonly Order[]> {
      const { rows } = await database.query<OrderRow>(sql`
select ${plainSql(orderColumns)}
  from orders o
 where o.merchant_id = ${merchantId} and o.tops_up = ${topsUp} and o.status = 'pending' and o.open_attempt is null
   and o.order_no <> ${orderNo}`)
      return rows.map(toOrder)
    },
  }
}

async function open(
  transaction: Queryable,
  order: Order,
  { limitMinor }: { readonly limitMinor: bigint | undefined },
): Promise<OpenedTopUp> {
  const { topsUp = '', currency, paymentAmountMinor } = order
  const account = accountIdOf(walletAccount(topsUp, currency))
  // Locks the wallet before its account, in the same order as closing a wallet.
  const wallet = await transaction.query(
    sql`select from wallets where wallet_id = ${topsUp} and status = 'active' for share`,
  )
  const { rows } = await transaction.query<{ posted: string; balance_limit: string | null }>(sql`
select credits_posted - debits_posted as posted, balance_limit from accounts where account_id = ${account} for update`)
  const [row] = rows
  if (wallet.rowCount !== 1 || !row) return { kind: 'too_many' }
  const [earlier] = await findOrdersByNumber(transaction, [order])
  if (earlier) return { kind: 'stored', order: earlier }
  const underWay = await findUnderWay(transaction, [topsUp], order.createdAtMs)
  const count = underWay.reduce((sum, { orders }) => sum + Number(orders), 0)
  if (count >= topUpLimits.most) return { kind: 'too_many' }
  const room = roomMinor({
    postedMinor: BigInt(row.posted),
    underWayMinor: BigInt(underWay.find((each) => each.currency === currency)?.minor ?? 0),
    limitMinor: row.balance_limit === null ? limitMinor : BigInt(row.balance_limit),
  })
  if (room !== undefined && paymentAmountMinor > room) return { kind: 'over_limit', roomMinor: room }
  const [stored] = await insertOrders(transaction, [order])
  if (!stored) throw new Error('an order that is inserted is answered')
  return { kind: 'stored', order: stored }
}
