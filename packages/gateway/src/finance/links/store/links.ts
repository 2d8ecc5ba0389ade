// Payment links and their orders.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import { type OrderRow, orderColumns, toOrder } from '../../../core/orders/store/order-row.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, plainSql, prepared, type Sql, sql } from '../../../platform/database/sql.ts'
import type { LinkKey, LinkStatus, LinkTotals, PaymentLink } from '../rules/link.ts'

export type LinkStore = ReturnType<typeof makeLinkStore>

export interface ListedLink extends PaymentLink {
  readonly merchantName: string
}

export function makeLinkStore(database: Pool) {
  return {
    /** Returns the link stored under its linkNo, new or earlier. */
    insertLink: (link: PaymentLink, entry?: AuditEntry) => insertLink(database, link, entry),
    findLink: (linkId: string) => findLink(database, sql`l.link_id = ${linkId}`),
    findOfMerchant: ({ merchantId, linkId }: LinkKey) =>
      findLink(database, sql`l.merchant_id = ${merchantId} and l.link_id = ${linkId}`),
    findByNumber: (merchantId: string, linkNo: string) =>
      findLink(database, sql`l.merchant_id = ${merchantId} and l.link_no = ${linkNo}`),
    listLinks: (page: LinkPage) => listLinks(database, page),
    /** Undefined if no allowed status matches. */
    changeStatus: (key: LinkKey, change: LinkChange, entry?: AuditEntry) =>
      changeStatus(database, key, change, entry),
    /** Sums all payments, or the newest `atMost`. */
    readTotals: (key: LinkKey, atMost?: number) => readTotals(database, key, atMost),
    /** The paid or payable order, otherwise the newest. */
    findStanding: (key: LinkKey) => findStanding(database, key),
    /** The orders among these that are paid or being paid. */
    listPaid: (key: Pick<LinkKey, 'merchantId'>, paymentIds: readonly string[]) =>
      listPaid(database, key, paymentIds),
    listOrders: (key: LinkKey, limit: number) => listOrders(database, key, limit),
  }
}

export interface LinkPage {
  readonly merchantId?: string | undefined
  readonly before?: string | undefined
  readonly limit: number
}

export interface LinkChange {
  readonly from: readonly LinkStatus[]
  readonly to: LinkStatus
}

const shape = rowShape<PaymentLink>('link', {
  merchantId: 'l.merchant_id',
  linkId: 'l.link_id',
  linkNo: 'l.link_no',
  status: 'l.status',
  uses: 'l.uses',
  title: 'l.title',
  currency: 'l.currency',
  amountMinor: bigint('l.amount_minor'),
  leastMinor: bigint('l.least_minor'),
  mostMinor: bigint('l.most_minor'),
  goods: 'l.goods',
  expiresAtMs: number('l.expires_at'),
  paymentMinutes: number('l.payment_minutes'),
  callbackUrl: 'l.callback_url',
  redirectUrl: 'l.redirect_url',
  createdAtMs: number('l.created_at'),
})

async function insertLink(
  database: Pool,
  link: PaymentLink,
  entry: AuditEntry | undefined,
): Promise<PaymentLink> {
  return database.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(sql`
insert into payment_links (merchant_id, link_id, link_no, status, uses, title, currency, amount_minor, least_minor,
                           most_minor, goods, expires_at, payment_minutes, callback_url, redirect_url, created_at)
values (${link.merchantId}, ${link.linkId}, ${link.linkNo}, ${link.status}, ${link.uses}, ${link.title}, ${link.currency},
        ${digits(link.amountMinor)}, ${digits(link.leastMinor)}, ${digits(link.mostMinor)}, ${link.goods},
        ${link.expiresAtMs ?? null}, ${link.paymentMinutes}, ${link.callbackUrl ?? null}, ${link.redirectUrl ?? null},
        ${link.createdAtMs})
    on conflict do nothing`)
    if (rowCount === 1) {
      if (entry) await insertAuditEntry(transaction, entry)
      return link
    }
    const { merchantId, linkNo } = link
    const earlier = await findLink(transaction, sql`l.merchant_id = ${merchantId} and l.link_no = ${linkNo}`)
    if (!earlier) throw new Error('a link that was refused as a duplicate has no original')
    return earlier
  })
}

function digits(minor: bigint | undefined): string | null {
  return minor?.toString() ?? null
}

async function findLink(database: Queryable, condition: Sql): Promise<PaymentLink | undefined> {
  const { rows } = await database.query(sql`select ${shape.columns} from payment_links l where ${condition}`)
  return rows[0] && shape.read(rows[0])
}

async function listLinks(
  database: Queryable,
  { merchantId, before, limit }: LinkPage,
): Promise<ListedLink[]> {
  const wanted = allOf([
    merchantId !== undefined && sql`l.merchant_id = ${merchantId}`,
    before !== undefined && sql`l.link_id < ${before}`,
  ])
  const { rows } = await database.query<{ merchant_name: string }>(sql`
select ${shape.columns}, m.name as merchant_name
  from payment_links l
  join merchants m on m.merchant_id = l.merchant_id
 where ${wanted}
 order by l.link_id desc
 limit ${limit}`)
  return rows.map((row) => ({ ...shape.read({ ...row }), merchantName: row.merchant_name }))
}

async function changeStatus(
  database: Pool,
  { merchantId, linkId }: LinkKey,
  { from, to }: LinkChange,
  entry: AuditEntry | undefined,
): Promise<PaymentLink | undefined> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query(sql`
update payment_links l
   set status = ${to}
 where merchant_id = ${merchantId} and link_id = ${linkId} and status = any(${from})
returning ${shape.columns}`)
    if (!rows[0]) return undefined
    if (entry) await insertAuditEntry(transaction, entry)
    return shape.read(rows[0])
  })
}

const totals = rowShape<LinkTotals>('totals', {
  paidCount: number('count(*)'),
  paidMinor: bigint('coalesce(sum(payment_amount_minor), 0)'),
  refundedMinor: bigint('coalesce(sum(refunded_minor), 0)'),
})

/** Uses orders_of_link. */
async function readTotals(
  database: Queryable,
  { merchantId, linkId }: LinkKey,
  atMost: number | undefined,
): Promise<LinkTotals> {
  const { rows } = await database.query(sql`
select ${totals.columns}
  from (select payment_amount_minor, refunded_minor
          from orders
         where merchant_id = ${merchantId} and link_id = ${linkId} and status = 'success'
         order by payment_id desc
         limit ${atMost ?? null}) as paid`)
  return totals.read(rows[0] ?? {})
}

const shownColumns = plainSql(orderColumns)

async function listOrders(
  database: Queryable,
  { merchantId, linkId }: LinkKey,
  limit: number,
): Promise<Order[]> {
  const { rows } = await database.query<OrderRow>(prepared('orders-of-link')`
select ${shownColumns}
  from orders o
 where o.merchant_id = ${merchantId} and o.link_id = ${linkId}
 order by o.payment_id desc
 limit ${limit}`)
  return rows.map(toOrder)
}

async function listPaid(
  database: Queryable,
  { merchantId }: Pick<LinkKey, 'merchantId'>,
  paymentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ payment_id: string }>(sql`
select payment_id from orders
 where merchant_id = ${merchantId} and payment_id = any (${paymentIds}) and status in ('confirming', 'success')`)
  return rows.map((row) => row.payment_id)
}

async function findStanding(
  database: Queryable,
  { merchantId, linkId }: LinkKey,
): Promise<Order | undefined> {
  const { rows } = await database.query<OrderRow>(prepared('standing-order-of-link')`
select ${shownColumns}
  from orders o
 where o.merchant_id = ${merchantId} and o.link_id = ${linkId}
 order by o.status in ('pending', 'confirming', 'success') desc, o.payment_id desc
 limit 1`)
  return rows[0] && toOrder(rows[0])
}
