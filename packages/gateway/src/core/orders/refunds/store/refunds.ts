// Refunds. A refund, its share of the order, its hold and its claim row commit together; the merchant's balance is
// checked with the account locked.
import type { ListOrders, RefundStatus } from '@tillgate/protocol'
import { batched } from '../../../../platform/database/batching.ts'
import { isDataError } from '../../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { allOf, plainSql, type Sql, sql } from '../../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../../platform/database/transient.ts'
import { firstPaymentIdAt } from '../../../../platform/runtime/time-ordered-ids.ts'
import type { AuditEntry } from '../../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../../audit/store/audit.ts'
import { type Change, type Publish, unpublished } from '../../../changes/rules/change.ts'
import { commitAndPublish } from '../../../changes/store/commit.ts'
import {
  accountIdOf,
  availableMinor,
  effectsOf,
  feesAccount,
  type Transfer,
} from '../../../ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts, type Spent } from '../../../ledger/store/ledger.ts'
import { feeReturn } from '../../fees/rules/fee.ts'
import { insertAuthorizations } from '../../payments/store/authorizations.ts'
import { insertRailTasks } from '../../payments/store/rail-tasks.ts'
import type { Order, OrderKey } from '../../rules/order.ts'
import { feeFrom, type OrderRow, orderColumns, toOrder } from '../../store/order-row.ts'
import { numberOf, type OrderNumber, ordersByKeys } from '../../store/orders.ts'
import { type Refund, type RefundChange, type RefundRequest, withoutHold } from '../rules/refund.ts'

/** `race_lost`: read again. `unknown`: the response to COMMIT was lost; read again as well. */
export type RefundOutcome =
  | { readonly kind: 'made'; readonly refund: Refund }
  | { readonly kind: 'race_lost' }
  | { readonly kind: 'unknown' }

export interface OrderWithRefunds {
  readonly order: Order
  readonly refunds: readonly Refund[]
}

export interface RefundKey {
  readonly merchantId: string
  readonly refundId: string
}

export interface RefundNumber {
  readonly merchantId: string
  readonly referRefundNo: string
}

type NewRefund = RefundRequest & { readonly hold: Transfer }

/** Newest first, older than the cursor. */
type Listing = Omit<ListOrders, 'ignoredFields'>

export type RefundStore = ReturnType<typeof makeRefundStore>

const batching = { maxItems: 200, maxFlights: 2, isItemError: isDataError } as const

export function makeRefundStore(database: Pool, publish: Publish = unpublished) {
  return {
    /** An operator's refund has an audit entry and may have a limit for the order's total. */
    insertRefund: (request: NewRefund, entry?: AuditEntry, maxTotalMinor?: bigint) =>
      insertRefund(database, publish, request, { entry, maxTotalMinor }),
    findRefundByNumber: (number: RefundNumber) => findRefundByNumber(database, number),
    findRefund: batched((keys: readonly RefundKey[]) => findRefunds(database, keys), batching),
    findOrderWithRefunds: batched(
      (keys: readonly OrderKey[]) => findOrdersWithRefunds(database, keys),
      batching,
    ),
    findOrderByNumberWithRefunds: batched(
      (numbers: readonly OrderNumber[]) => findOrdersByNumberWithRefunds(database, numbers),
      batching,
    ),
    listOrdersWithRefunds: (merchantId: string, page: Listing) =>
      listOrdersWithRefunds(database, merchantId, page),
  }
}

interface RefundRow {
  merchant_id: string
  refund_id: string
  payment_id: string
  refer_refund_no: string
  status: RefundStatus
  amount_minor: string
  currency: string
  reason: string | null
  transaction_id: string | null
  created_at: string
  completed_at: string | null
  message: string | null
}

const columns = `merchant_id, refund_id, payment_id, refer_refund_no, status, amount_minor, currency, reason,
       transaction_id, created_at, completed_at, message`

class RaceLost extends Error {}

export function refundChanged({ refund: { merchantId, paymentId, status } }: RefundChange): Change {
  return { kind: 'order', merchantId, paymentId, status }
}

async function insertRefund(
  database: Pool,
  publish: Publish,
  request: NewRefund,
  { entry, maxTotalMinor }: { entry: AuditEntry | undefined; maxTotalMinor: bigint | undefined },
): Promise<RefundOutcome> {
  try {
    const refund = await commitAndPublish(database, publish, async (transaction) => {
      const committed = await commitRefund(transaction, request, maxTotalMinor)
      if (entry) await insertAuditEntry(transaction, entry)
      return committed
    })
    return { kind: 'made', refund }
  } catch (error) {
    if (error instanceof RaceLost) return { kind: 'race_lost' }
    if (error instanceof CommitUnknown) return { kind: 'unknown' }
    throw error
  }
}

async function commitRefund(
  transaction: Queryable,
  request: NewRefund,
  maxTotalMinor: bigint | undefined,
): Promise<{ readonly result: Refund; readonly changes: readonly Change[] }> {
  const { debitAccountId, creditAccountId, amountMinor } = request.hold
  const balances = await lockAccounts(transaction, [debitAccountId, creditAccountId])
  const merchant = balances.get(debitAccountId)
  const isCovered = merchant !== undefined && availableMinor(merchant) >= amountMinor
  const { refund, hold, waits } = isCovered ? request : withoutHold(request)
  await insertRow(transaction, refund, await takeShare(transaction, refund, maxTotalMinor))
  if (hold) {
    await insertTransfers(transaction, [hold])
    await addEffects(transaction, effectsOf([hold]))
  }
  if ('authorizationId' in waits) {
    await insertAuthorizations(transaction, [waits])
    return { result: refund, changes: [{ kind: 'payment submitted' }] }
  }
  await insertRailTasks(transaction, [{ ...waits, dueAtMs: waits.createdAtMs }])
  return { result: refund, changes: [{ kind: 'rail task' }] }
}

/** This condition repeats the table's CHECK: never more than was paid. Returns the refund's number within the order. */
async function takeShare(
  transaction: Queryable,
  refund: Refund,
  maxTotalMinor: bigint | undefined,
): Promise<number> {
  const { rows } = await transaction.query<{ refund_count: number }>({
    name: 'take-refund-share',
    text: `
update orders
   set refund_held_minor = refund_held_minor + $3, refund_count = refund_count + 1
 where merchant_id = $1 and payment_id = $2 and status = 'success'
   and refunded_minor + refund_held_minor + $3 <= least(payment_amount_minor - disputed_minor, $4::numeric)
returning refund_count`,
    values: [
      refund.merchantId,
      refund.paymentId,
      refund.amountMinor.toString(),
      maxTotalMinor?.toString() ?? null,
    ],
  })
  if (!rows[0]) throw new RaceLost()
  return rows[0].refund_count
}

async function insertRow(transaction: Queryable, refund: Refund, ordinal: number): Promise<void> {
  const { rowCount } = await transaction.query({
    name: 'insert-refund',
    text: `
insert into refunds (${columns}, ordinal)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    on conflict do nothing`,
    values: [
      refund.merchantId,
      refund.refundId,
      refund.paymentId,
      refund.referRefundNo,
      refund.status,
      refund.amountMinor.toString(),
      refund.currency,
      refund.reason ?? null,
      refund.transactionId ?? null,
      refund.createdAtMs,
      null,
      null,
      ordinal,
    ],
  })
  if (rowCount !== 1) throw new RaceLost()
}

/**
 * Moves the money of ended refunds and updates orders and fees. Runs last, because these accounts are contended, and
 * locks accounts before orders, as everywhere. `ends` are already inserted.
 */
export async function endRefunds(
  transaction: Queryable,
  refunds: readonly RefundChange[],
  ends: readonly Transfer[],
  spent?: Spent,
): Promise<void> {
  const feeAccounts = refunds
    .filter(({ returnsFee }) => returnsFee)
    .map(({ refund: { merchantId, currency } }) => accountIdOf(feesAccount(merchantId, currency)))
  await lockAccounts(transaction, [...effectsOf(ends).keys(), ...feeAccounts])
  const returned = await changeRefunds(transaction, refunds)
  await insertTransfers(transaction, returned)
  await addEffects(transaction, effectsOf([...ends, ...returned]), spent)
}

/**
 * Every refund must still be `refunding`. Locks orders before refunds, as in the insertion. Returns the fee returns.
 */
async function changeRefunds(
  transaction: Queryable,
  changes: readonly RefundChange[],
): Promise<readonly Transfer[]> {
  if (changes.length === 0) return []
  const { rows } = await transaction.query<ShareRow>({
    text: `
update orders o
   set refund_held_minor = o.refund_held_minor - c.held, refunded_minor = o.refunded_minor + c.refunded,
       disputed_over_minor = least(o.disputed_over_minor, greatest(0, o.refunded_minor + c.refunded + o.refund_held_minor
                                                                      - c.held + o.disputed_minor - o.payment_amount_minor))
  from (select merchant_id, payment_id, sum(amount) as held,
               coalesce(sum(amount) filter (where is_refunded), 0) as refunded
          from unnest($1::text[], $2::text[], $3::numeric[], $4::boolean[])
            as s (merchant_id, payment_id, amount, is_refunded)
         group by merchant_id, payment_id) as c
 where o.merchant_id = c.merchant_id and o.payment_id = c.payment_id and o.merchant_id = any ($1::text[])
returning o.merchant_id, o.payment_id, o.currency, o.payment_amount_minor, o.fee_minor, o.returns_fee,
          o.refunded_minor - c.refunded as refunded_before`,
    values: [
      changes.map(({ refund }) => refund.merchantId),
      changes.map(({ refund }) => refund.paymentId),
      changes.map(({ refund }) => refund.amountMinor.toString()),
      changes.map(({ refund }) => refund.status === 'refund_success'),
    ],
  })
  const { rowCount } = await transaction.query({
    text: `
update refunds r
   set status = c.status, completed_at = c.completed_at, message = c.message
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
    as c (merchant_id, refund_id, status, completed_at, message)
 where r.merchant_id = c.merchant_id and r.refund_id = c.refund_id and r.status = 'refunding'
   and r.merchant_id = any ($1::text[])`,
    values: [
      changes.map(({ refund }) => refund.merchantId),
      changes.map(({ refund }) => refund.refundId),
      changes.map(({ refund }) => refund.status),
      changes.map(({ refund }) => refund.completedAtMs ?? null),
      changes.map(({ refund }) => refund.message ?? null),
    ],
  })
  if (rowCount !== changes.length) throw new Error('a claimed refund was not refunding any more')
  return changes.some(({ returnsFee }) => returnsFee) ? feeReturns(changes, rows) : []
}

type ShareRow = Pick<
  OrderRow,
  'merchant_id' | 'payment_id' | 'currency' | 'payment_amount_minor' | 'fee_minor' | 'returns_fee'
> & { refunded_before: string }

/** Decided on the locked orders, so that concurrent ends each return their own share. */
function feeReturns(changes: readonly RefundChange[], rows: readonly ShareRow[]): Transfer[] {
  const orders = new Map(rows.map((row) => [`${row.merchant_id} ${row.payment_id}`, row]))
  const refundedMinor = new Map<ShareRow, bigint>()
  return changes.flatMap(({ refund, returnsFee }) => {
    const { merchantId, paymentId, currency, transactionId, amountMinor, completedAtMs } = refund
    const row = orders.get(`${merchantId} ${paymentId}`)
    if (refund.status !== 'refund_success' || !returnsFee || !row || !transactionId || !completedAtMs)
      return []
    const refundedBeforeMinor = refundedMinor.get(row) ?? BigInt(row.refunded_before)
    refundedMinor.set(row, refundedBeforeMinor + amountMinor)
    const paymentAmountMinor = BigInt(row.payment_amount_minor)
    const order = { merchantId, paymentId, currency, paymentAmountMinor, fee: feeFrom(row) }
    const returned = feeReturn(
      order,
      { ...refund, transactionId },
      { refundedBeforeMinor, nowMs: completedAtMs },
    )
    return returned ?? []
  })
}

async function findRefundByNumber(
  database: Queryable,
  { merchantId, referRefundNo }: RefundNumber,
): Promise<Refund | undefined> {
  const { rows } = await database.query<RefundRow>({
    name: 'find-refund-by-number',
    text: `select ${columns} from refunds where merchant_id = $1 and refer_refund_no = $2`,
    values: [merchantId, referRefundNo],
  })
  return rows[0] && toRefund(rows[0])
}

async function findRefunds(database: Queryable, keys: readonly RefundKey[]): Promise<(Refund | undefined)[]> {
  const { rows } = await database.query<RefundRow>({
    text: `
select ${columns}
  from unnest($1::text[], $2::text[]) as k (merchant_id, refund_id)
  join refunds r using (merchant_id, refund_id)
 where r.merchant_id = any ($1::text[])`,
    values: [keys.map(({ merchantId }) => merchantId), keys.map(({ refundId }) => refundId)],
  })
  const found = new Map(rows.map((row) => [`${row.merchant_id} ${row.refund_id}`, toRefund(row)]))
  return keys.map(({ merchantId, refundId }) => found.get(`${merchantId} ${refundId}`))
}

/** Refunds are nested as JSON and selected only for orders that have some. */
const refundsColumn = (isOfMerchant: Sql) => sql`,
       case when o.refund_count > 0 then (
         select json_agg(json_build_object(
                  'merchant_id', r.merchant_id, 'refund_id', r.refund_id, 'payment_id', r.payment_id,
                  'refer_refund_no', r.refer_refund_no, 'status', r.status, 'amount_minor', r.amount_minor::text,
                  'currency', r.currency, 'reason', r.reason, 'transaction_id', r.transaction_id,
                  'created_at', r.created_at, 'completed_at', r.completed_at, 'message', r.message)
                order by r.ordinal)
           from refunds r
          where r.merchant_id = o.merchant_id and r.payment_id = o.payment_id
            and ${isOfMerchant}) end as refunds`

const columnsOfBatch = orderColumns + refundsColumn(plainSql('r.merchant_id = any ($1::text[])')).text

type OrderWithRefundsRow = OrderRow & { refunds: RefundRow[] | null }

async function findOrdersWithRefunds(
  database: Queryable,
  keys: readonly OrderKey[],
): Promise<(OrderWithRefunds | undefined)[]> {
  const { rows } = await database.query<OrderWithRefundsRow>(
    ordersByKeys(keys, { name: 'find-orders-with-refunds', columns: columnsOfBatch }),
  )
  const found = new Map(rows.map((row) => [`${row.merchant_id} ${row.payment_id}`, toOrderWithRefunds(row)]))
  return keys.map(({ merchantId, paymentId }) => found.get(`${merchantId} ${paymentId}`))
}

async function findOrdersByNumberWithRefunds(
  database: Queryable,
  numbers: readonly OrderNumber[],
): Promise<(OrderWithRefunds | undefined)[]> {
  const { rows } = await database.query<OrderWithRefundsRow>({
    name: 'find-orders-by-number-with-refunds',
    text: `
select ${columnsOfBatch}
  from unnest($1::text[], $2::text[]) as k (merchant_id, order_no)
  join orders o using (merchant_id, order_no)
 where o.merchant_id = any ($1::text[])`,
    values: [numbers.map(({ merchantId }) => merchantId), numbers.map(({ orderNo }) => orderNo)],
  })
  const found = new Map(rows.map(toOrderWithRefunds).map((each) => [numberOf(each.order), each]))
  return numbers.map((number) => found.get(numberOf(number)))
}

/**
 * Uses the primary key only. No index covers a merchant's statuses, so a page searches at most this many orders, and
 * `next` continues from there.
 */
const lookedThrough = 5_000

async function listOrdersWithRefunds(
  database: Queryable,
  merchantId: string,
  { sinceMs = 0, untilMs, status, cursor = afterAllIds, limit }: Listing,
): Promise<{ readonly found: readonly OrderWithRefunds[]; readonly next: string | undefined }> {
  const end = untilMs === undefined ? afterAllIds : firstPaymentIdAt(untilMs)
  const range = sql`o.merchant_id = ${merchantId} and o.payment_id < ${cursor < end ? cursor : end}
   and o.payment_id >= ${firstPaymentIdAt(sinceMs)}`
  const lastLooked = status === undefined ? undefined : await findLastLooked(database, range)
  const { rows } = await database.query<OrderWithRefundsRow>(sql`
select ${plainSql(orderColumns)}${refundsColumn(sql`r.merchant_id = ${merchantId}`)}
  from orders o
 where ${range} and ${allOf([
   status !== undefined && sql`o.status = ${status}`,
   lastLooked !== undefined && sql`o.payment_id >= ${lastLooked}`,
 ])}
 order by o.payment_id desc
 limit ${limit + 1}`)
  const found = rows.slice(0, limit).map(toOrderWithRefunds)
  return { found, next: rows.length > limit ? found.at(-1)?.order.paymentId : lastLooked }
}

async function findLastLooked(database: Queryable, range: Sql): Promise<string | undefined> {
  const { rows } = await database.query<{ payment_id: string }>(sql`
select o.payment_id from orders o where ${range} order by o.payment_id desc offset ${lookedThrough - 1} limit 1`)
  return rows[0]?.payment_id
}

/** Ids are P and ten digits of time, the first of which is at most 7. */
const afterAllIds = 'PZ'

function toOrderWithRefunds(row: OrderWithRefundsRow): OrderWithRefunds {
  return { order: toOrder(row), refunds: (row.refunds ?? []).map(toRefund) }
}

function toRefund(row: RefundRow): Refund {
  return {
    merchantId: row.merchant_id,
    refundId: row.refund_id,
    paymentId: row.payment_id,
    referRefundNo: row.refer_refund_no,
    status: row.status,
    amountMinor: BigInt(row.amount_minor),
    currency: row.currency,
    reason: row.reason ?? undefined,
    transactionId: row.transaction_id ?? undefined,
    createdAtMs: Number(row.created_at),
    completedAtMs: row.completed_at === null ? undefined : Number(row.completed_at),
    message: row.message ?? undefined,
  }
}
