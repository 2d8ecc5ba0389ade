// The figures of one merchant's home page. Each query examines a limited number of rows.
import type { OrderStatus } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { firstCallbackIdAt, firstPaymentIdAt } from '../../../platform/runtime/time-ordered-ids.ts'

export interface OrderTally {
  /** The start of the step in which these orders were created. */
  readonly fromMs: number
  readonly status: OrderStatus
  readonly currency: string
  readonly orders: number
  readonly amountMinor: bigint
}

export interface Attention {
  readonly exhausted: number
  readonly waiting: number
  readonly failing: number
  readonly refused: number
  /** Waiting callbacks that failed at least once. */
  readonly retrying: number
  /** Undefined if no callback is being retried. */
  readonly mostFailing: FailingGroup | undefined
}

/** The callbacks to one host with the same result of their last attempt. */
interface FailingGroup {
  readonly host: string
  readonly outcome: string
  readonly httpStatus: number | undefined
}

type Counted = Omit<Attention, 'retrying' | 'mostFailing'>

interface Since {
  readonly merchantId: string
  readonly sinceMs: number
}

/** Of the newest orders. The statement covers merchants with more. */
export const talliedAtMost = 5_000
export const countedAtMost = 100

export type MerchantFigureStore = ReturnType<typeof makeMerchantFigureStore>

export function makeMerchantFigureStore(database: Pool) {
  return {
    tallyOrders: (since: Since & { readonly stepMs: number }) => tallyOrders(database, since),
    countAttention: (since: Since) => countAttention(database, since),
  }
}

const tallyShape = rowShape<OrderTally>('tally', {
  fromMs: number('from_ms'),
  status: 'status',
  currency: 'currency',
  orders: number('count(*)'),
  amountMinor: bigint('sum(payment_amount_minor)'),
})

/** Uses the primary key. */
async function tallyOrders(
  database: Queryable,
  { merchantId, sinceMs, stepMs }: Since & { readonly stepMs: number },
): Promise<OrderTally[]> {
  const { rows } = await database.query(sql`
select ${tallyShape.columns}
  from (select created_at - created_at % ${stepMs}::bigint as from_ms, status, currency, payment_amount_minor
          from orders
         where merchant_id = ${merchantId} and payment_id >= ${firstPaymentIdAt(sinceMs)}
         order by payment_id desc
         limit ${talliedAtMost}) as newest
 group by from_ms, status, currency
 order by from_ms, status, currency`)
  return rows.map(tallyShape.read)
}

async function countAttention(database: Queryable, since: Since): Promise<Attention> {
  const [counted, retried] = await Promise.all([
    countEach(database, since),
    countRetried(database, since.merchantId),
  ])
  return { ...counted, ...retried }
}

/** Uses callbacks_exhausted_merchant, callback_queue_lines and request_log_merchant. */
async function countEach(database: Queryable, { merchantId, sinceMs }: Since): Promise<Counted> {
  const { rows } = await database.query<Record<keyof Counted, string>>(sql`
select (select count(*) from (select 1 from callbacks_with_progress
                               where merchant_id = ${merchantId} and exhausted_at is not null
                                 and callback_id >= ${firstCallbackIdAt(sinceMs)}::uuid
                               limit ${countedAtMost}) as c) as exhausted,
       (select count(*) from (select 1 from callback_queue
                               where merchant_id = ${merchantId} limit ${countedAtMost}) as q) as waiting,
       (select count(*) from (select 1 from callback_destinations
                               where merchant_id = ${merchantId} limit ${countedAtMost}) as d) as failing,
       (select count(*) from (select 1 from request_log
                               where merchant_id = ${merchantId} and answered_at >= ${sinceMs} and is_opened
                                 and http_status >= 400
                               limit ${countedAtMost}) as r) as refused`)
  const [counted] = rows
  if (!counted) throw new Error('a count answers one row')
  return {
    exhausted: Number(counted.exhausted),
    waiting: Number(counted.waiting),
    failing: Number(counted.failing),
    refused: Number(counted.refused),
  }
}

/** Uses callback_queue_lines, then the primary key of callbacks. */
async function countRetried(
  database: Queryable,
  merchantId: string,
): Promise<Pick<Attention, 'retrying' | 'mostFailing'>> {
  const { rows } = await database.query<{
    host: string
    outcome: string
    http_status: number | null
    total: string
  }>(sql`
select host, last_outcome as outcome, last_http_status as http_status, sum(count(*)) over () as total
  from callbacks_with_progress
 where merchant_id = ${merchantId} and delivered_at is null and exhausted_at is null and last_outcome is not null
   and callback_id in (select q.callback_id from callback_queue q
                        where q.merchant_id = ${merchantId} limit ${countedAtMost})
 group by host, last_outcome, last_http_status
 order by count(*) desc, host
 limit 1`)
  const [most] = rows
  return {
    retrying: Number(most?.total ?? 0),
    mostFailing: most && {
      host: most.host,
      outcome: most.outcome,
      httpStatus: most.http_status ?? undefined,
    },
  }
}
