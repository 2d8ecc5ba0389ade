// Top-ups in PostgreSQL: the order is made while the wallet's account is locked, so that of many at once each sees those
// before it.
import type { Pool, Queryable } from '../../database/pool.ts'
import { plainSql, sql } from '../../database/sql.ts'
import { accountIdOf, walletAccount } from '../../ledger/rules/transfer.ts'
import { openAccounts } from '../../ledger/store/ledger.ts'
import type { Order } from '../../orders/rules/order.ts'
import {
  findOrdersByNumber,
  insertOrders,
  type OrderRow,
  orderColumns,
  toOrder,
} from '../../orders/store/orders.ts'
import { ownMerchantId, roomMinor, topUpLimits } from '../rules/top-up.ts'

export type OpenedTopUp =
  /** This one, or the one that was made under its number before. */
  | { readonly kind: 'stored'; readonly order: Order }
  | { readonly kind: 'over_limit'; readonly roomMinor: bigint }
  | { readonly kind: 'too_many' }

export type TopUpStore = ReturnType<typeof makeTopUpStore>

export function makeTopUpStore(database: Pool) {
  return {
    /** `limitMinor`: the most in a wallet that has no limit of its own. */
    async open(order: Order, given: { readonly limitMinor: bigint | undefined }): Promise<OpenedTopUp> {
      await openAccounts(database, [walletAccount(order.topsUp ?? '', order.currency)])
      return database.transaction((transaction) => open(transaction, order, given))
    },
    /** Those that the consumer has not begun to pay, but for this number. */
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
  // The wallet before its account, as whoever closes it takes them.
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

/**
 * What may still come into these wallets, by wallet and currency; nobody begins another while their accounts are locked. What
 * is overdue and has no attempt is not paid any more, also where nobody has expired it yet.
 */
export async function findUnderWay(transaction: Queryable, walletIds: readonly string[], nowMs: number) {
  const { rows } = await transaction.query<{
    wallet_id: string
    currency: string
    orders: string
    minor: string
  }>(sql`
select o.tops_up as wallet_id, o.currency, count(*) as orders, sum(o.payment_amount_minor) as minor
  from orders o
 where o.merchant_id = ${ownMerchantId} and o.tops_up = any (${walletIds}::text[])
   and (o.status = 'confirming' or (o.status = 'pending' and (o.open_attempt is not null or o.expires_at > ${nowMs})))
 group by o.tops_up, o.currency`)
  return rows
}
