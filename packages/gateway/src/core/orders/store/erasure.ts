// Erases personal data in batches: the orders of one status in id order, continuing after the last batch.
import type { OrderStatus } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { columnsOf, sql } from '../../../platform/database/sql.ts'
import type { ErasableText, OrderKey } from '../rules/order.ts'

export interface Erased extends OrderKey {
  readonly content: string
  readonly contentHash: string
}

export interface ErasureBatch {
  readonly status: OrderStatus
  readonly beforeId: string
  readonly limit: number
  /** Undefined if there is nothing to erase. */
  readonly erase: (text: ErasableText) => Pick<Erased, 'content' | 'contentHash'> | undefined
}

export type ErasureStore = ReturnType<typeof makeErasureStore>

export function makeErasureStore(database: Pool) {
  return {
    /** Returns how many orders were examined and erased, and the id before which the status is done. */
    eraseBatch: (batch: ErasureBatch) => eraseBatch(database, batch),
  }
}

/** Uses orders_by_status. The status row is locked, so that concurrent erasures take turns. */
async function eraseBatch(database: Pool, { status, beforeId, limit, erase }: ErasureBatch) {
  return database.transaction(async (transaction) => {
    const from = await lockProgress(transaction, status)
    const { rows } = await transaction.query<{
      merchant_id: string
      payment_id: string
      content: string
      attach: string | null
    }>(sql`
select merchant_id, payment_id, content, attach
  from orders
 where status = ${status} and payment_id >= ${from} and payment_id < ${beforeId}
 order by payment_id
 limit ${limit}`)
    const erased = rows.flatMap((row): Erased[] => {
      const left = erase({ content: row.content, attach: row.attach ?? undefined })
      return left ? [{ merchantId: row.merchant_id, paymentId: row.payment_id, ...left }] : []
    })
    await writeErased(transaction, erased)
    const last = rows.at(-1)?.payment_id
    // The smallest id after the last one.
    const doneBefore = last === undefined ? from : `${last}0`
    if (doneBefore !== from)
      await transaction.query(sql`update erasures set done_before = ${doneBefore} where status = ${status}`)
    return { seen: rows.length, erased: erased.length, doneBefore }
  })
}

/**
 * A status seen for the first time may contain orders that left other statuses after these were passed, so those
 * statuses start again.
 */
async function lockProgress(transaction: Queryable, status: OrderStatus): Promise<string> {
  const { rows } = await transaction.query<{ done_before: string; is_new: boolean }>(sql`
insert into erasures as e (status, done_before) values (${status}, '')
    on conflict (status) do update set done_before = e.done_before
returning done_before, xmax = 0 as is_new`)
  if (rows[0]?.is_new)
    await transaction.query(sql`update erasures set done_before = '' where status <> ${status}`)
  return rows[0]?.done_before ?? ''
}

export async function writeErased(transaction: Queryable, erased: readonly Erased[]): Promise<void> {
  if (erased.length === 0) return
  const [merchantIds, paymentIds, contents, hashes] = columnsOf(
    erased,
    ...(['merchantId', 'paymentId', 'content', 'contentHash'] as const),
  )
  await transaction.query(sql`
update orders o
   set content = e.content, attach = null, content_hash = e.content_hash
  from unnest(${merchantIds}::text[], ${paymentIds}::text[], ${contents}::text[], ${hashes}::text[])
    as e (merchant_id, payment_id, content, content_hash)
 where o.merchant_id = e.merchant_id and o.payment_id = e.payment_id and o.content_hash is null
   and o.merchant_id = any (${merchantIds}::text[])`)
}
