// Orders. Concurrent creates and lookups share a round trip, and a status change is guarded by the status on which it
// was decided.
import { batched } from '../../../platform/database/batching.ts'
import { isDataError } from '../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import type { Statement } from '../../../platform/database/prepared-names.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../audit/store/audit.ts'
import { callbacksQueued, insertCallbacks } from '../../callbacks/store/callbacks.ts'
import { type Change, type Publish, unpublished } from '../../changes/rules/change.ts'
import { commitAndPublish } from '../../changes/store/commit.ts'
import { wakeRailTasks } from '../payments/store/rail-tasks.ts'
import type { Order, OrderKey } from '../rules/order.ts'
import type { StatusChange } from '../rules/status-change.ts'
import { insertStatement } from './insert-statement.ts'
import { type OrderRow, orderColumns, toOrder } from './order-row.ts'

export type OrderStore = ReturnType<typeof makeOrderStore>

const batching = { maxItems: 200, maxFlights: 2, isItemError: isDataError } as const

/** Called with the size of every batch. */
export type OnBatch = (batch: string, items: number) => void

export interface OrderHooks {
  readonly onBatch?: OnBatch | undefined
  readonly publish?: Publish | undefined
}

export function makeOrderStore(
  database: Pool,
  { onBatch = () => {}, publish = unpublished }: OrderHooks = {},
) {
  const watched = (batch: string) => ({ ...batching, onFlight: (items: number) => onBatch(batch, items) })
  return {
    /**
     * Returns the order stored under its orderNo, new or earlier. Safe to repeat after a lost response, because the
     * paymentId shows whose it is. Undefined if its single-use link already has a live order.
     */
    insertOrder: batched(
      async (orders: readonly Order[]) => {
        const stored = await insertOrders(database, orders)
        publish(ordersCreated(orders, stored))
        return stored
      },
      { ...watched('create'), maxItems: 128 },
    ),
    findOrder: batched((keys: readonly OrderKey[]) => findOrders(database, keys), watched('find')),
    /** Includes whether a rail was tried, so that a page reads attempts only if there are any. */
    findForCheckout: batched((keys: readonly OrderKey[]) => findForCheckout(database, keys), {
      ...batching,
      // Pages start a few at a time; a second flight would carry only those few.
      maxFlights: 1,
    }),
    /** The few fields that a live view needs. */
    findStatus: batched((keys: readonly OrderKey[]) => findStatuses(database, keys), batching),
    findOrderByNumber: batched(
      (numbers: readonly OrderNumber[]) => findOrdersByNumber(database, numbers),
      batching,
    ),
    /**
     * Returns the changes that won: a change whose order left its `from` status is dropped with its callback. An
     * audit entry is written if any won.
     */
    commitStatusChanges: (changes: readonly StatusChange[], entry?: AuditEntry) =>
      commitAndPublish(database, publish, (transaction) => commitStatusChanges(transaction, changes, entry)),
    /** Commits `changeOf` for a batch of overdue orders. Says how many were found, and how many changed. */
    expireOverdue: (nowMs: number, limit: number, changeOf: (order: Order) => StatusChange) =>
      commitAndPublish(database, publish, (transaction) =>
        expireOverdue(transaction, nowMs, limit, changeOf),
      ),
    nextExpiry: () => nextExpiry(database),
  }
}

export interface OrderNumber {
  readonly merchantId: string
  readonly orderNo: string
}

/** Returns the given orders that were not stored before. */
export function ordersCreated(
  given: readonly Order[],
  stored: readonly (Order | undefined)[],
): readonly Change[] {
  return given.flatMap(({ paymentId, expiresAtMs }, index) =>
    stored[index]?.paymentId === paymentId ? { kind: 'order created', dueAtMs: expiresAtMs } : [],
  )
}

/** Undefined if its link has another live order under another number. */
export async function insertOrders(
  database: Queryable,
  unsorted: readonly Order[],
): Promise<(Order | undefined)[]> {
  // A fixed order prevents deadlocks between batches that share numbers.
  const orders = unsorted.toSorted((a, b) => (numberOf(a) < numberOf(b) ? -1 : 1))
  const { rows: made } = await database.query<{ payment_id: string }>(insertStatement(orders))
  if (made.length === orders.length) return [...unsorted]

  const madeIds = new Set(made.map((row) => row.payment_id))
  const others = orders.filter((order) => !madeIds.has(order.paymentId))
  const earlier = await findOrdersByNumber(database, others)
  const earlierByOrder = new Map(others.map((order, index) => [order, earlier[index]]))
  return unsorted.map((order) => (madeIds.has(order.paymentId) ? order : earlierByOrder.get(order)))
}

function keyOf({ merchantId, paymentId }: OrderKey): string {
  return `${merchantId} ${paymentId}`
}

export function numberOf({ merchantId, orderNo }: OrderNumber): string {
  return `${merchantId} ${orderNo}`
}

export async function findOrders(
  database: Queryable,
  keys: readonly OrderKey[],
): Promise<(Order | undefined)[]> {
  const rows = await findOrderRows<OrderRow>(database, keys, { name: 'find-orders', columns: orderColumns })
  return rows.map((row) => row && toOrder(row))
}

async function findForCheckout(
  database: Queryable,
  keys: readonly OrderKey[],
): Promise<({ readonly order: Order; readonly hasAttempts: boolean } | undefined)[]> {
  const rows = await findOrderRows<OrderRow & { has_attempts: boolean }>(database, keys, {
    name: 'find-orders-for-checkout',
    columns: `${orderColumns},
       exists (select 1 from rail_attempts a
                where a.merchant_id = o.merchant_id and a.payment_id = o.payment_id
                  and a.merchant_id = any ($1::text[])) as has_attempts`,
  })
  return rows.map((row) => row && { order: toOrder(row), hasAttempts: row.has_attempts })
}

async function findOrderRows<Row extends OrderRow>(
  database: Queryable,
  keys: readonly OrderKey[],
  { name, columns }: { readonly name: string; readonly columns: string },
): Promise<(Row | undefined)[]> {
  const { rows } = await database.query<Row>(ordersByKeys(keys, { name, columns }))
  const found = new Map(rows.map((row) => [`${row.merchant_id} ${row.payment_id}`, row]))
  return keys.map((key) => found.get(keyOf(key)))
}

/**
 * Nearly every batch has one merchant and needs no join. Without statistics on a young table, the planner reads all
 * of a merchant's orders for the join: 81 µs a row instead of 19 with 1,000 orders.
 */
export function ordersByKeys(
  keys: readonly OrderKey[],
  { name, columns }: { readonly name: string; readonly columns: string },
): Statement {
  const merchantIds = keys.map(({ merchantId }) => merchantId)
  const paymentIds = keys.map(({ paymentId }) => paymentId)
  if (merchantIds.every((merchantId) => merchantId === merchantIds[0]))
    return {
      name: `${name}-of-one`,
      text: `
select ${columns}
  from orders o
 where o.merchant_id = any ($1::text[]) and o.payment_id = any ($2::text[])`,
      values: [merchantIds.slice(0, 1), paymentIds],
    }
  return {
    name,
    text: `
select ${columns}
  from unnest($1::text[], $2::text[]) as k (merchant_id, payment_id)
  join orders o using (merchant_id, payment_id)
 where o.merchant_id = any ($1::text[])`,
    values: [merchantIds, paymentIds],
  }
}

async function findStatuses(
  database: Queryable,
  keys: readonly OrderKey[],
): Promise<((Pick<Order, 'status' | 'expiresAtMs'> & { readonly isHeld: boolean }) | undefined)[]> {
  const { rows } = await database.query<
    Pick<OrderRow, 'merchant_id' | 'payment_id' | 'status' | 'expires_at'> & { is_held: boolean }
  >({
    name: 'find-order-statuses',
    text: `
select o.merchant_id, o.payment_id, o.status, o.expires_at,
       o.status = 'confirming' and o.held_until is not null as is_held
  from unnest($1::text[], $2::text[]) as k (merchant_id, payment_id)
  join orders o using (merchant_id, payment_id)
 where o.merchant_id = any ($1::text[])`,
    values: [keys.map(({ merchantId }) => merchantId), keys.map(({ paymentId }) => paymentId)],
  })
  const found = new Map(
    rows.map((row) => [
      `${row.merchant_id} ${row.payment_id}`,
      { status: row.status, expiresAtMs: Number(row.expires_at), isHeld: row.is_held },
    ]),
  )
  return keys.map(({ merchantId, paymentId }) => found.get(`${merchantId} ${paymentId}`))
}

export async function findOrdersByNumber(
  database: Queryable,
  numbers: readonly OrderNumber[],
): Promise<(Order | undefined)[]> {
  const { rows } = await database.query<OrderRow>({
    name: 'find-orders-by-number',
    text: `
select ${orderColumns}
  from unnest($1::text[], $2::text[]) as k (merchant_id, order_no)
  join orders o using (merchant_id, order_no)
 where o.merchant_id = any ($1::text[])`,
    values: [numbers.map(({ merchantId }) => merchantId), numbers.map(({ orderNo }) => orderNo)],
  })
  const found = new Map(rows.map(toOrder).map((order) => [numberOf(order), order]))
  return numbers.map((number) => found.get(numberOf(number)))
}

async function commitStatusChanges(
  transaction: Queryable,
  changes: readonly StatusChange[],
  entry: AuditEntry | undefined,
) {
  const { won, ...changed } = await changeStatuses(transaction, changes)
  if (entry && won.length > 0) await insertAuditEntry(transaction, entry)
  return { result: won, changes: changed.changes }
}

/** At most one change per order. Returns those that won, and the changes to publish. */
export async function changeStatuses(
  transaction: Queryable,
  changes: readonly StatusChange[],
): Promise<{ readonly won: readonly StatusChange[]; readonly changes: readonly Change[] }> {
  const won = await changeWithoutCallbacks(transaction, changes)
  const lanes = await insertCallbacks(transaction, callbacksOf(won))
  return { won, changes: [...statusesChanged(won), ...callbacksQueued(lanes)] }
}

export function statusesChanged(won: readonly StatusChange[]): readonly Change[] {
  return [
    ...won.map(({ merchantId, paymentId, to: status }) => ({
      kind: 'order' as const,
      merchantId,
      paymentId,
      status,
    })),
    ...(won.some(isAbandoning) ? [{ kind: 'rail task' as const }] : []),
  ]
}

/** The change ended the order without the open attempt, so the rail is notified. */
function isAbandoning({ to, openAttempt }: StatusChange): boolean {
  return to !== 'confirming' && openAttempt !== undefined
}

export function callbacksOf(changes: readonly StatusChange[]) {
  return changes.flatMap(({ callback }) => callback ?? [])
}

/**
 * Returns those that won. The caller inserts their callbacks in the same transaction. `passing` lists changes to an
 * intermediate status: they are written to the history only, because the row gets the final status.
 */
export async function changeWithoutCallbacks(
  transaction: Queryable,
  unsorted: readonly StatusChange[],
  passing: readonly StatusChange[] = [],
): Promise<readonly StatusChange[]> {
  if (unsorted.length === 0) return []
  const passed = new Map(passing.map((change) => [keyOf(change), change]))
  const firstOf = (change: StatusChange) => passed.get(keyOf(change)) ?? change
  // Sorted, so that concurrent changes of the same orders rarely deadlock.
  const changes = unsorted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const { rows: moved } = await transaction.query<{ merchant_id: string; payment_id: string }>({
    name: 'change-order-statuses',
    text: `
with changes as (
  select *
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
                $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::numeric[], $14::boolean[],
                $15::text[], $16::bigint[], $17::text[])
      as c (merchant_id, payment_id, from_status, to_status, changed_at, actor, transaction_id, completed_at, message,
            wallet_id, rail_id, open_attempt, fee_minor, returns_fee, passed_status, passed_at, passed_actor)
), moved as (
  update orders o
     set status = c.to_status, transaction_id = c.transaction_id, completed_at = c.completed_at, message = c.message,
         wallet_id = c.wallet_id, rail_id = c.rail_id, open_attempt = null, fee_minor = c.fee_minor, returns_fee = c.returns_fee,
         payment_amount_minor = case when o.authorized_minor is not null and c.to_status = 'success' then o.captured_minor
                                     else o.payment_amount_minor end
    from changes c
   where o.merchant_id = c.merchant_id and o.payment_id = c.payment_id and o.status = c.from_status
     and o.merchant_id = any ($1::text[])
     and o.open_attempt is not distinct from c.open_attempt
  returning o.merchant_id, o.payment_id
), noted as (
  insert into order_history (merchant_id, payment_id, to_status, from_status, changed_at, actor, reason)
  select merchant_id, payment_id, c.to_status, coalesce(c.passed_status, c.from_status), c.changed_at, c.actor, c.message
    from moved join changes c using (merchant_id, payment_id)
   union all
  select merchant_id, payment_id, c.passed_status, c.from_status, c.passed_at, c.passed_actor, null
    from moved join changes c using (merchant_id, payment_id)
   where c.passed_status is not null
)
select merchant_id, payment_id from moved`,
    values: [
      changes.map((change) => change.merchantId),
      changes.map((change) => change.paymentId),
      changes.map((change) => firstOf(change).from),
      changes.map((change) => change.to),
      changes.map((change) => change.changedAtMs),
      changes.map((change) => change.actor),
      changes.map((change) => change.order.transactionId ?? null),
      changes.map((change) => change.order.completedAtMs ?? null),
      changes.map((change) => change.order.message ?? null),
      changes.map((change) => change.order.walletId ?? null),
      changes.map((change) => change.order.railId ?? null),
      changes.map((change) => firstOf(change).openAttempt ?? null),
      changes.map((change) => change.order.fee?.amountMinor.toString() ?? null),
      changes.map((change) => change.order.fee?.isReturned ?? null),
      changes.map((change) => passed.get(keyOf(change))?.to ?? null),
      changes.map((change) => passed.get(keyOf(change))?.changedAtMs ?? null),
      changes.map((change) => passed.get(keyOf(change))?.actor ?? null),
    ],
  })
  const movedKeys = new Set(moved.map((row) => `${row.merchant_id} ${row.payment_id}`))
  const won = changes.filter(({ merchantId, paymentId }) => movedKeys.has(`${merchantId} ${paymentId}`))
  const abandoned = won.filter(isAbandoning).flatMap(({ openAttempt }) => openAttempt ?? [])
  if (abandoned.length > 0) await wakeRailTasks(transaction, abandoned)
  return won
}

/**
 * One batch at a time in all processes: two that update the same orders in different sequences, which the planner
 * chooses, would end in a deadlock.
 */
async function expireOverdue(
  transaction: Queryable,
  nowMs: number,
  limit: number,
  changeOf: (order: Order) => StatusChange,
) {
  await transaction.query("select pg_advisory_xact_lock(hashtextextended('tillgate expiry', 0))")
  const overdue = await findOverdueOrders(transaction, nowMs, limit)
  const { won, changes } = await changeStatuses(transaction, overdue.map(changeOf))
  return { result: { found: overdue.length, expired: won.length }, changes }
}

/** Uses orders_pending_expiry, longest overdue first. */
async function findOverdueOrders(database: Queryable, nowMs: number, limit: number): Promise<Order[]> {
  const { rows } = await database.query<OrderRow>({
    name: 'find-overdue-orders',
    // Without the content, which may be large and is not needed.
    text: `
select ${orderColumns.replace('o.content', "'' as content")}
  from orders o
 where o.status = 'pending' and o.expires_at <= $1
 order by o.expires_at, o.payment_id
 limit $2`,
    values: [nowMs, limit],
  })
  return rows.map(toOrder)
}

async function nextExpiry(database: Queryable): Promise<number | undefined> {
  const { rows } = await database.query<{ next: string | null }>({
    name: 'next-order-expiry',
    text: "select min(expires_at) as next from orders where status = 'pending'",
  })
  const next = rows[0]?.next
  return next ? Number(next) : undefined
}
