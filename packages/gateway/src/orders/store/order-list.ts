// Orders as an operator looks for them: lists over all merchants, the newest first, paged by key, and the search by
// any number that an order or its refunds bear. A paymentId begins with its time, so that its order is time's order.
import { type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../database/pool.ts'
import { firstPaymentIdAt } from '../../platform/time-ordered-ids.ts'
import type { OrderKey } from '../rules/order.ts'

export type OrderListStore = ReturnType<typeof makeOrderListStore>

export interface ListedOrder extends OrderKey {
  readonly merchantName: string
  readonly orderNo: string
  readonly status: OrderStatus
  readonly paymentAmountMinor: bigint
  readonly refundedMinor: bigint
  readonly currency: string
  readonly createdAtMs: number
  readonly completedAtMs: number | undefined
  readonly transactionId: string | undefined
}

export interface OrderFilter {
  readonly merchantId?: string | undefined
  readonly status?: OrderStatus | undefined
  readonly currency?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

export interface OrderPage {
  /** Only what is older than this paymentId. */
  readonly before?: string | undefined
  readonly limit: number
}

export interface FoundOrders {
  readonly orders: readonly ListedOrder[]
  /** Where the search stopped, as something older may fit too; undefined: there is nothing older that fits. */
  readonly next: string | undefined
}

/** Which number it is: each is looked up by its own key. */
export type SoughtNumber = 'paymentId' | 'transactionId' | 'refundId' | 'merchantNumber'

export function makeOrderListStore(database: Pool) {
  return {
    listOrders: (filter: OrderFilter, page: OrderPage) => listOrders(database, filter, page),
    findByNumber: (kind: SoughtNumber, number: string) => findByNumber(database, kind, number),
    findMerchantsByName: (text: string) => findMerchantsByName(database, text),
  }
}

interface ListedRow {
  merchant_id: string
  merchant_name: string
  payment_id: string
  order_no: string
  status: OrderStatus
  payment_amount_minor: string
  refunded_minor: string
  currency: string
  created_at: string
  completed_at: string | null
  transaction_id: string | null
}

const columns = `o.merchant_id, o.payment_id, o.order_no, o.status, o.payment_amount_minor, o.refunded_minor, o.currency,
       o.created_at, o.completed_at, o.transaction_id`

/** No index knows currencies, nor a merchant's statuses: so many orders are looked through for one page, of each status. */
const lookedThrough = 5_000

/**
 * For one merchant by the primary key. Over all merchants by orders_by_status: of each wanted status the newest few,
 * and of those the newest; so a page costs the same whatever the number of orders, and one index serves all of it.
 */
async function listOrders(
  database: Queryable,
  filter: OrderFilter,
  { before, limit }: OrderPage,
): Promise<FoundOrders> {
  const isServedByIndex =
    filter.currency === undefined && (filter.merchantId === undefined || filter.status === undefined)
  const oldest = isServedByIndex ? undefined : await endOfLook(database, filter, before)
  const { values, ranges, rest } = conditionsOf(filter, before, { firstValues: [limit + 1] })
  if (oldest !== undefined) rest.push(`o.payment_id >= $${values.push(oldest)}`)
  const newest = (range: string): string => `
(select ${columns}
   from orders o
  where ${[range, ...rest].join(' and ')}
  order by o.payment_id desc
  limit $1)`
  const { rows } = await database.query<ListedRow>({
    text: `
select o.*, m.name as merchant_name
  from (${ranges.map(newest).join('\nunion all')}) as o
  join merchants m on m.merchant_id = o.merchant_id
 order by o.payment_id desc
 limit $1`,
    values,
  })
  const orders = rows.slice(0, limit).map(toListed)
  return { orders, next: rows.length > limit ? orders.at(-1)?.paymentId : oldest }
}

interface Conditions {
  readonly values: unknown[]
  /** One for each range of an index that is read. */
  readonly ranges: readonly string[]
  /** What holds within each. */
  readonly rest: string[]
}

function conditionsOf(
  filter: OrderFilter,
  before: string | undefined,
  { firstValues, isRangeOnly = false }: { firstValues: readonly unknown[]; isRangeOnly?: boolean },
): Conditions {
  const values: unknown[] = [...firstValues]
  const place = (value: unknown): string => `$${values.push(value)}`
  const rest: string[] = []
  if (before !== undefined) rest.push(`o.payment_id < ${place(before)}`)
  if (filter.untilMs !== undefined) rest.push(`o.payment_id < ${place(firstPaymentIdAt(filter.untilMs))}`)
  if (filter.sinceMs !== undefined) rest.push(`o.payment_id >= ${place(firstPaymentIdAt(filter.sinceMs))}`)
  if (filter.currency !== undefined && !isRangeOnly) rest.push(`o.currency = ${place(filter.currency)}`)
  if (filter.merchantId !== undefined) {
    if (filter.status !== undefined && !isRangeOnly) rest.push(`o.status = ${place(filter.status)}`)
    return { values, ranges: [`o.merchant_id = ${place(filter.merchantId)}`], rest }
  }
  const statuses = filter.status === undefined ? Object.keys(orderStatuses) : [filter.status]
  return { values, ranges: statuses.map((status) => `o.status = ${place(status)}`), rest }
}

/** The paymentId down to which all ranges are looked through; undefined: they end before. */
async function endOfLook(
  database: Queryable,
  filter: OrderFilter,
  before: string | undefined,
): Promise<string | undefined> {
  const { values, ranges, rest } = conditionsOf(filter, before, { firstValues: [], isRangeOnly: true })
  const last = (range: string): string => `
(select o.payment_id
   from orders o
  where ${[range, ...rest].join(' and ')}
  order by o.payment_id desc
 offset ${lookedThrough - 1}
  limit 1)`
  const { rows } = await database.query<{ oldest: string | null }>({
    text: `select max(payment_id) as oldest from (${ranges.map(last).join('\nunion all')}) as looked`,
    values,
  })
  return rows[0]?.oldest ?? undefined
}

const maxFound = 50

/**
 * Whose it is, is not known: a look by key into each merchant's, which needs no index of its own. The order is
 * fetched by key too: as a plain join it became a scan of all orders (334 ms with 300,000).
 */
const lookups: Record<SoughtNumber, string> = {
  paymentId: 'select payment_id from orders where merchant_id = m.merchant_id and payment_id = $1',
  transactionId: `
select payment_id from transfers
 where merchant_id = m.merchant_id and transfer_id = $1 and payment_id is not null`,
  refundId: 'select payment_id from refunds where merchant_id = m.merchant_id and refund_id = $1',
  merchantNumber: `
select payment_id from orders where merchant_id = m.merchant_id and order_no = $1
 union
select payment_id from refunds where merchant_id = m.merchant_id and refer_refund_no = $1`,
}

async function findByNumber(database: Queryable, kind: SoughtNumber, number: string): Promise<ListedOrder[]> {
  const { rows } = await database.query<ListedRow>({
    text: `
select ${columns}, m.name as merchant_name
  from merchants m
 cross join lateral (${lookups[kind]}) as f
 cross join lateral (select *
                       from orders
                      where merchant_id = m.merchant_id and payment_id = f.payment_id
                      limit 1) as o
 order by o.payment_id desc
 limit ${maxFound}`,
    values: [number],
  })
  return rows.map(toListed)
}

async function findMerchantsByName(
  database: Queryable,
  text: string,
): Promise<{ merchantId: string; name: string }[]> {
  const { rows } = await database.query<{ merchant_id: string; name: string }>({
    text: `
select merchant_id, name
  from merchants
 where position(lower($1) in lower(name)) > 0 or merchant_id = $1
 order by name, merchant_id
 limit 10`,
    values: [text],
  })
  return rows.map((row) => ({ merchantId: row.merchant_id, name: row.name }))
}

function toListed(row: ListedRow): ListedOrder {
  return {
    merchantId: row.merchant_id,
    merchantName: row.merchant_name,
    paymentId: row.payment_id,
    orderNo: row.order_no,
    status: row.status,
    paymentAmountMinor: BigInt(row.payment_amount_minor),
    refundedMinor: BigInt(row.refunded_minor),
    currency: row.currency,
    createdAtMs: Number(row.created_at),
    completedAtMs: row.completed_at === null ? undefined : Number(row.completed_at),
    transactionId: row.transaction_id ?? undefined,
  }
}
