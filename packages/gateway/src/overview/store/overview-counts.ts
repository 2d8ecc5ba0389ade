// Counts orders and callbacks by when they were made, slice by slice. Ids begin with their time, so a slice is a range
// of the indexes orders_by_status and callbacks_kept, and costs what was made in it, however much there is besides.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { CallbackState } from '../../callbacks/rules/callback-attempt.ts'
import { callbacksWithProgress } from '../../callbacks/store/callback-state.ts'
import { firstCallbackIdAt, firstPaymentIdAt } from '../../database/first-ids.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { growth, lastBucket } from '../rules/durations.ts'
import { addFigures, type Figures, noFigures } from '../rules/overview.ts'

export interface SliceRange {
  /** Where each slice begins; the next one's beginning ends it. */
  readonly startsAtMs: readonly number[]
  /** The end of the last. */
  readonly endsAtMs: number
  /** Past it the database gives up: nothing that an operator looks at may hold up what merchants wait for. */
  readonly timeoutMs: number
}

export type CountSlices = (range: SliceRange) => Promise<readonly Figures[]>

export function makeCountSlices(database: Pool): CountSlices {
  return (range) =>
    database.transaction(
      async (transaction) => {
        await transaction.query('set transaction isolation level repeatable read, read only')
        const orders = await countOrders(transaction, range)
        const callbacks = await countCallbacks(transaction, range)
        const found = Map.groupBy([...orders, ...callbacks], ({ slice }) => slice)
        return range.startsAtMs.map((_, slice) =>
          addFigures((found.get(slice) ?? []).map(({ figures }) => figures)),
        )
      },
      { statementTimeoutMs: range.timeoutMs },
    )
}

interface Counted {
  readonly slice: number
  readonly figures: Figures
}

/** As `bucketOf` has it. */
const bucketSql = (durationMs: string): string =>
  `least(${lastBucket}, ceil(ln(greatest(${durationMs}, 1)::float8) / ln(${growth}::float8)))::integer`

async function countOrders(
  transaction: Queryable,
  { startsAtMs, endsAtMs }: SliceRange,
): Promise<readonly Counted[]> {
  const { rows } = await transaction.query<{
    slice: number
    currency: string
    status: OrderStatus
    paid_after: number | null
    orders: string
    amount: string
  }>({
    text: `
select width_bucket(payment_id, $1::text[]) - 1 as slice, currency, status,
       case when status = 'success' then ${bucketSql('completed_at - created_at')} end as paid_after,
       count(*) as orders, sum(payment_amount_minor) as amount
  from orders
 where status = any ($2::text[]) and payment_id >= $3 and payment_id < $4
 group by 1, 2, 3, 4`,
    values: [
      startsAtMs.map(firstPaymentIdAt),
      Object.keys(orderStatuses),
      firstPaymentIdAt(startsAtMs[0] ?? endsAtMs),
      firstPaymentIdAt(endsAtMs),
    ],
  })
  return rows.map(({ slice, currency, status, paid_after, orders, amount }) => ({
    slice,
    figures: {
      ...noFigures,
      orders: [{ currency, status, orders: Number(orders), amountMinor: BigInt(amount) }],
      paidAfter: paid_after === null ? noFigures.paidAfter : new Map([[paid_after, Number(orders)]]),
    },
  }))
}

async function countCallbacks(
  transaction: Queryable,
  { startsAtMs, endsAtMs }: SliceRange,
): Promise<readonly Counted[]> {
  const { rows } = await transaction.query<{
    slice: number
    state: CallbackState
    delivered_after: number | null
    callbacks: string
  }>({
    text: `
select width_bucket(callback_id, $1::uuid[]) - 1 as slice,
       case when delivered_at is not null then 'delivered'
            when exhausted_at is not null then 'exhausted' else 'waiting' end as state,
       case when delivered_at is not null then ${bucketSql('delivered_at - created_at')} end as delivered_after,
       count(*) as callbacks
  from ${callbacksWithProgress}
 where body is not null and callback_id >= $2::uuid and callback_id < $3::uuid
 group by 1, 2, 3`,
    values: [
      startsAtMs.map(firstCallbackIdAt),
      firstCallbackIdAt(startsAtMs[0] ?? endsAtMs),
      firstCallbackIdAt(endsAtMs),
    ],
  })
  return rows.map(({ slice, state, delivered_after, callbacks }) => ({
    slice,
    figures: {
      ...noFigures,
      callbacks: { ...noFigures.callbacks, [state]: Number(callbacks) },
      deliveredAfter:
        delivered_after === null ? noFigures.deliveredAfter : new Map([[delivered_after, Number(callbacks)]]),
    },
  }))
}
