// Orders for operators: lists over all merchants, newest first, paged by key, and a search by any number of an order
// or its refunds. A paymentId starts with its time, so its order is chronological.
import { currencies, type OrderStatus, orderStatuses } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, merchantIs, type Sql, sql, unionAll } from '../../../platform/database/sql.ts'
import { firstPaymentIdAt } from '../../../platform/runtime/time-ordered-ids.ts'
import { walletRailId } from '../payments/rules/rail.ts'
import type { OrderKey, SeenStatus } from '../rules/order.ts'

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
  /** The order's description, or its first goods. */
  readonly title: string | undefined
  /** The number of goods that the title does not name. */
  readonly moreGoods: number
  /** The receiver of the delivery. */
  readonly customer: string | undefined
  /** The rail of the payment; undefined for a wallet and for an order that was never paid. */
  readonly railId: string | undefined
  readonly isByWallet: boolean
  /** Authorized, and not captured completely. */
  readonly isHeld: boolean
  /** The payment link that created the order. */
  readonly linkId: string | undefined
}

export interface OrderFilter {
  readonly merchantId?: string | undefined
  /** `authorized` orders are `confirming` ones whose money is held for a capture. */
  readonly status?: SeenStatus | undefined
  readonly currency?: string | undefined
  /** In ten-thousandths of the main unit, whatever the currency. */
  readonly least?: bigint | undefined
  readonly most?: bigint | undefined
  /** A rail, `wallet`, or `other` for any rail. */
  readonly method?: string | undefined
  /** Its beginning. */
  readonly attach?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

export interface OrderPage {
  readonly before?: string | undefined
  readonly limit: number
}

export interface FoundOrders {
  readonly orders: readonly ListedOrder[]
  /** Where the search stopped; undefined if no older orders can match. */
  readonly next: string | undefined
}

/** Each kind of number has its own key. */
export type SoughtNumber = 'paymentId' | 'transactionId' | 'refundId' | 'merchantNumber' | 'prefix'

export interface Sought {
  readonly kind: SoughtNumber
  readonly number: string
  /** Only this merchant's. */
  readonly merchantId?: string | undefined
}

export function makeOrderListStore(database: Pool) {
  return {
    listOrders: (filter: OrderFilter, page: OrderPage) => listOrders(database, filter, page),
    findByNumber: (sought: Sought) => findByNumber(database, sought),
    findMerchantsByName: (text: string) => findMerchantsByName(database, text),
  }
}

const shape = rowShape<ListedOrder>('order', {
  merchantId: 'o.merchant_id',
  merchantName: 'm.name',
  paymentId: 'o.payment_id',
  orderNo: 'o.order_no',
  status: 'o.status',
  paymentAmountMinor: bigint('o.payment_amount_minor'),
  refundedMinor: bigint('o.refunded_minor'),
  currency: 'o.currency',
  createdAtMs: number('o.created_at'),
  completedAtMs: number('o.completed_at'),
  transactionId: 'o.transaction_id',
  title: "coalesce(o.content::json ->> 'orderDescription', o.content::json #>> '{goods,0,goodsName}')",
  moreGoods: number(
    "case when o.content::json ->> 'orderDescription' is null then greatest(json_array_length(o.content::json -> 'goods') - 1, 0) else 0 end",
  ),
  customer: "nullif(o.content::json #>> '{shipping,name}', '')",
  railId: 'o.rail_id',
  isByWallet: 'o.wallet_id is not null',
  isHeld: "o.status = 'confirming' and o.held_until is not null",
  linkId: 'o.link_id',
})

/** Only displayed columns. The content may be long, so it is parsed here and never leaves the database. */
const read = sql`o.merchant_id, o.payment_id, o.order_no, o.status, o.payment_amount_minor, o.refunded_minor, o.currency,
        o.created_at, o.completed_at, o.transaction_id, o.content, o.rail_id, o.wallet_id, o.held_until, o.link_id`

/** No index covers the other filters or a merchant's statuses, so a page searches at most this many orders per status. */
const lookedThrough = 5_000

/**
 * One merchant uses the primary key. All merchants use orders_by_status: the newest few of each status, then the
 * newest of those, so the cost of a page is independent of the number of orders.
 */
async function listOrders(
  database: Queryable,
  filter: OrderFilter,
  { before, limit }: OrderPage,
): Promise<FoundOrders> {
  const isServedByIndex =
    notIndexed(filter).length === 0 && (filter.merchantId === undefined || filter.status === undefined)
  const oldest = isServedByIndex ? undefined : await endOfLook(database, filter, before)
  const atMost = limit + 1
  const newest = rangesOf(filter, before, { downTo: oldest }).map(
    (range) => sql`
(select ${read} from orders o where ${range} order by o.payment_id desc limit ${atMost})`,
  )
  const { rows } = await database.query(sql`
select ${shape.columns}
  from (${unionAll(newest)}) as o
  join merchants m on m.merchant_id = o.merchant_id
 where ${merchantIs(sql`m`, filter.merchantId)}
 order by o.payment_id desc
 limit ${atMost}`)
  const orders = rows.slice(0, limit).map(shape.read)
  return { orders, next: rows.length > limit ? orders.at(-1)?.paymentId : oldest }
}

/** One condition per index range. `isByIndex` includes only conditions that the index covers. */
function rangesOf(
  filter: OrderFilter,
  before: string | undefined,
  { downTo, isByIndex = false }: { downTo?: string | undefined; isByIndex?: boolean },
): Sql[] {
  const { merchantId, sinceMs, untilMs } = filter
  const status = filter.status === 'authorized' ? 'confirming' : filter.status
  const rest = [
    before !== undefined && sql`o.payment_id < ${before}`,
    downTo !== undefined && sql`o.payment_id >= ${downTo}`,
    untilMs !== undefined && sql`o.payment_id < ${firstPaymentIdAt(untilMs)}`,
    sinceMs !== undefined && sql`o.payment_id >= ${firstPaymentIdAt(sinceMs)}`,
    ...(isByIndex ? [] : notIndexed(filter)),
  ]
  if (merchantId !== undefined) {
    const ofStatus = status !== undefined && !isByIndex && sql`o.status = ${status}`
    return [allOf([sql`o.merchant_id = ${merchantId}`, ofStatus, ...rest])]
  }
  const statuses = status === undefined ? Object.keys(orderStatuses) : [status]
  return statuses.map((each) => allOf([sql`o.status = ${each}`, ...rest]))
}

function notIndexed({ status, currency, least, most, method, attach }: OrderFilter): Sql[] {
  return [
    status === 'authorized' && sql`o.held_until is not null`,
    currency !== undefined && sql`o.currency = ${currency}`,
    least !== undefined && sql`${comparable} >= ${least}`,
    most !== undefined && sql`${comparable} <= ${most}`,
    method !== undefined && methodIs(method),
    attach !== undefined && sql`starts_with(o.attach, ${attach})`,
  ].filter((condition) => condition !== false)
}

/** Any method but the wallets here. */
export const otherMethods = 'other'

function methodIs(method: string): Sql {
  if (method === walletRailId) return sql`o.wallet_id is not null`
  return method === otherMethods ? sql`o.rail_id is not null` : sql`o.rail_id = ${method}`
}

const ofDigits = (digits: number) =>
  Object.entries(currencies).flatMap(([code, each]) => (each.digits === digits ? [code] : []))

/** The amount in ten-thousandths of the main unit. */
const comparable = sql`o.payment_amount_minor * case when o.currency = any(${ofDigits(0)}::text[]) then 10000
        when o.currency = any(${ofDigits(3)}::text[]) then 10 when o.currency = any(${ofDigits(4)}::text[]) then 1 else 100 end`

/** The paymentId down to which all ranges were searched; undefined if they end before. */
async function endOfLook(
  database: Queryable,
  filter: OrderFilter,
  before: string | undefined,
): Promise<string | undefined> {
  const last = rangesOf(filter, before, { isByIndex: true }).map(
    (range) => sql`
(select o.payment_id from orders o where ${range} order by o.payment_id desc offset ${lookedThrough - 1} limit 1)`,
  )
  const { rows } = await database.query<{ oldest: string | null }>(sql`
select max(payment_id) as oldest from (${unionAll(last)}) as looked`)
  return rows[0]?.oldest ?? undefined
}

const maxFound = 50

/**
 * The merchant is unknown, so the query looks the number up per merchant without another index, and fetches the order
 * by key: a plain join scanned all orders (334 ms with 300,000).
 */
function lookupOf(kind: SoughtNumber, number: string, merchantId: string | undefined): Sql {
  const ofMerchant = sql`s.merchant_id = m.merchant_id and ${merchantIs(sql`s`, merchantId)}`
  switch (kind) {
    case 'paymentId':
      return sql`select s.payment_id from orders s where ${ofMerchant} and s.payment_id = ${number}`
    case 'transactionId':
      return sql`
select s.payment_id from transfers s where ${ofMerchant} and s.transfer_id = ${number} and s.payment_id is not null`
    case 'refundId':
      return sql`select s.payment_id from refunds s where ${ofMerchant} and s.refund_id = ${number}`
    case 'prefix':
      return beginning(number, ofMerchant)
    case 'merchantNumber':
      return sql`
select s.payment_id from orders s where ${ofMerchant} and s.order_no = ${number}
 union
select s.payment_id from refunds s where ${ofMerchant} and s.refer_refund_no = ${number}
 union all
(select s.payment_id
   from orders s
  where ${ofMerchant} and s.attach is not null
    and left(s.attach, 64) ~>=~ ${number} and left(s.attach, 64) ~<~ ${`${number}\u{10ffff}`}
  order by s.payment_id desc
  limit ${maxFound})`
  }
}

/** Our ids contain only digits and capital letters, which all collations sort alike. */
function beginning(prefix: string, ofMerchant: Sql): Sql {
  const until = prefix.padEnd(27, 'Z')
  if (prefix.startsWith('P'))
    return sql`
select s.payment_id from orders s where ${ofMerchant} and s.payment_id between ${prefix} and ${until}
 order by s.payment_id desc limit ${maxFound}`
  if (prefix.startsWith('R'))
    return sql`
select s.payment_id from refunds s where ${ofMerchant} and s.refund_id between ${prefix} and ${until} limit ${maxFound}`
  return sql`
select s.payment_id
  from transfers s
 where ${ofMerchant} and s.transfer_id between ${prefix} and ${until} and s.payment_id is not null
 limit ${maxFound}`
}

async function findByNumber(
  database: Queryable,
  { kind, number, merchantId }: Sought,
): Promise<ListedOrder[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from merchants m
 cross join lateral (${lookupOf(kind, number, merchantId)}) as f
 cross join lateral (select *
                       from orders o
                      where o.merchant_id = m.merchant_id and o.payment_id = f.payment_id
                        and ${merchantIs(sql`o`, merchantId)}
                      limit 1) as o
 where ${merchantIs(sql`m`, merchantId)}
 order by o.payment_id desc
 limit ${maxFound}`)
  return rows.map(shape.read)
}

async function findMerchantsByName(
  database: Queryable,
  text: string,
): Promise<{ merchantId: string; name: string }[]> {
  const { rows } = await database.query<{ merchantId: string; name: string }>(sql`
select merchant_id as "merchantId", name
  from merchants
 where position(lower(${text}) in lower(name)) > 0 or merchant_id = ${text}
 order by name, merchant_id
 limit 10`)
  return rows
}
