// Pending wallet entries: payments and refunds in processing, and top-ups that a consumer has started to pay.
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import type { Pool } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'

export interface PendingEntry {
  /** `held`: authorized, and paid when the merchant captures it. */
  readonly kind: 'payment' | 'refund' | 'top_up' | 'held'
  readonly merchantId: string
  readonly merchantName: string | undefined
  readonly currency: string
  /** Positive for money in, negative for money out. */
  readonly amountMinor: bigint
  readonly madeAtMs: number
}

export type PendingEntries = ReturnType<typeof makePendingEntries>

const settling = rowShape<Omit<PendingEntry, 'merchantName'>>('authorization', {
  kind: 's.kind',
  merchantId: 's.merchant_id',
  currency: 's.currency',
  amountMinor: bigint("case s.kind when 'refund' then s.amount_minor else -s.amount_minor end"),
  madeAtMs: number('s.submitted_at'),
})
const toppingUp = rowShape<Omit<PendingEntry, 'merchantName'>>('top-up', {
  kind: "'top_up'",
  merchantId: 'o.merchant_id',
  currency: 'o.currency',
  amountMinor: bigint('o.payment_amount_minor'),
  madeAtMs: number('o.created_at'),
})
const mostShown = 50

export function makePendingEntries(database: Pool) {
  return {
    /** The authorizations table is small: only authorized payments stay longer than seconds. */
    async list(walletId: string): Promise<readonly PendingEntry[]> {
      const [authorizations, topUps] = await Promise.all([
        database.query(sql`
select ${settling.columns} from authorizations s
 where s.wallet_id = ${walletId} order by s.submitted_at desc limit ${mostShown}`),
        database.query(sql`
select ${toppingUp.columns} from orders o
 where o.merchant_id = ${ownMerchantId} and o.tops_up = ${walletId}
   and (o.status = 'confirming' or (o.status = 'pending' and o.open_attempt is not null))
 order by o.payment_id desc limit ${mostShown}`),
      ])
      const names = await findNames(authorizations.rows.map((row) => settling.read(row).merchantId))
      return [
        ...authorizations.rows.map((row) => settling.read(row)),
        ...topUps.rows.map((row) => toppingUp.read(row)),
      ].map((entry) => ({ ...entry, merchantName: names.get(entry.merchantId) }))
    },
  }

  async function findNames(merchantIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (merchantIds.length === 0) return new Map()
    const { rows } = await database.query<{ merchant_id: string; name: string }>(sql`
select merchant_id, name from merchants where merchant_id = any (${merchantIds})`)
    return new Map(rows.map(({ merchant_id: merchantId, name }) => [merchantId, name]))
  }
}
