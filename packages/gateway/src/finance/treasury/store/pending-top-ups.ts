// Pending top-ups, for checks of a wallet's limit.
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'

/**
 * Pending amounts by wallet and currency; locks on the accounts prevent new top-ups. An overdue top-up without an
 * attempt no longer counts, even if it has not expired in the store.
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
