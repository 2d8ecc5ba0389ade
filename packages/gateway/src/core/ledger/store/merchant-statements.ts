// Reads a merchant's statement from the ledger's transfers, in pages of one snapshot.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, type Sql, sql } from '../../../platform/database/sql.ts'
import type { MerchantTransferKind } from '../rules/transfer.ts'

export interface StatementRange {
  readonly merchantId: string
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

export interface StatementEntry {
  readonly timeMs: number
  readonly kind: MerchantTransferKind
  readonly transactionId: string
  readonly paymentId: string | undefined
  readonly orderNo: string | undefined
  readonly refundId: string | undefined
  readonly referRefundNo: string | undefined
  readonly currency: string
  /** Positive for incoming money, negative for outgoing. */
  readonly amountMinor: bigint
}

/** Called in this order: opening once, entries per page, closing once. */
export interface MerchantStatementReader {
  opening(balances: ReadonlyMap<string, bigint>): void | Promise<void>
  /** The next page is read after this one is processed. */
  entries(page: readonly StatementEntry[]): void | Promise<void>
  closing(balances: ReadonlyMap<string, bigint>): void | Promise<void>
}

export type MerchantStatementStore = ReturnType<typeof makeMerchantStatementStore>

const entriesPerPage = 2_000

export function makeMerchantStatementStore(database: Pool) {
  return {
    read: (range: StatementRange, reader: MerchantStatementReader): Promise<void> =>
      database.transaction(
        async (transaction) => {
          await transaction.query('set transaction isolation level repeatable read, read only')
          await reader.opening(await balancesBefore(transaction, range.merchantId, range.fromMs))
          await readEntries(transaction, range, (page) => reader.entries(page))
          await reader.closing(await balancesBefore(transaction, range.merchantId, range.toMs))
        },
        { statementTimeoutMs: 60_000 },
      ),
    /** Newest first. */
    listLatest: (
      merchantId: string,
      page: { readonly before?: Place | undefined; readonly limit: number },
    ): Promise<readonly LatestEntry[]> => listLatest(database, merchantId, page),
  }
}

export async function readEntries(
  transaction: Queryable,
  range: StatementRange,
  take: MerchantStatementReader['entries'],
): Promise<void> {
  let after: Place = { timeMs: range.fromMs, orderKey: '', isFee: false, transferId: '' }
  for (;;) {
    const page = await readPage(transaction, range, after)
    if (page.length > 0) await take(page)
    const last = page.at(-1)
    if (!last || page.length < entriesPerPage) return
    after = last
  }
}

/**
 * Subtracts later transfers from the current balance, so the result agrees with the account, not only with the
 * transfers.
 */
export async function balancesBefore(
  transaction: Queryable,
  merchantId: string,
  timeMs: number,
): Promise<Map<string, bigint>> {
  const { rows } = await transaction.query<{ currency: string; balance: string }>(sql`
select a.currency, a.credits_posted - a.debits_posted - coalesce(s.moved, 0) as balance
  from accounts a
  left join (select currency,
                    sum(case when credit_account like 'merchant:%' then amount_minor else -amount_minor end) as moved
               from transfers
              where merchant_id = ${merchantId} and made_at >= ${timeMs} and phase in ('post', 'direct')
                and 'merchant:' || merchant_id || ':' || currency in (debit_account, credit_account)
              group by currency) as s on s.currency = a.currency
 where a.owner_kind = 'merchant' and a.owner_id = ${merchantId}
   and a.account_id like 'merchant:' || ${merchantId}::text || ':%'
 order by a.currency`)
  return new Map(rows.map((row) => [row.currency, BigInt(row.balance)]))
}

/** The position of an entry: a fee comes after its payment, and a returned fee after its refund. */
export interface Place {
  readonly timeMs: number
  readonly orderKey: string
  readonly isFee: boolean
  readonly transferId: string
}

type ReadEntry = StatementEntry & Place
export type LatestEntry = ReadEntry
const orderKey = "coalesce(t.payment_id, '')"
const isFee = "(t.kind in ('fee', 'fee_return'))"
const place = plainSql(`t.made_at, ${orderKey}, ${isFee}, t.transfer_id`)

const shape = rowShape<ReadEntry>('entry', {
  timeMs: number('t.made_at'),
  orderKey,
  isFee,
  transferId: 't.transfer_id',
  kind: 't.kind',
  transactionId: 'coalesce(t.hold_id, t.transfer_id)',
  paymentId: 't.payment_id',
  orderNo: 'o.order_no',
  refundId: 't.refund_id',
  referRefundNo: 'r.refer_refund_no',
  currency: 't.currency',
  amountMinor: bigint(
    "case when t.credit_account like 'merchant:%' then t.amount_minor else -t.amount_minor end",
  ),
})

const sources = sql`
select ${shape.columns}
  from transfers t
  left join orders o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
  left join refunds r on r.merchant_id = t.merchant_id and r.refund_id = t.refund_id`

/** An order's money in suspense is not the merchant's. */
function isOwn(merchantId: string): Sql {
  return sql`t.merchant_id = ${merchantId} and t.phase in ('post', 'direct')
   and 'merchant:' || t.merchant_id || ':' || t.currency in (t.debit_account, t.credit_account)`
}

/** Uses transfers_statement, backwards. */
async function listLatest(
  database: Queryable,
  merchantId: string,
  { before, limit }: { readonly before?: Place | undefined; readonly limit: number },
): Promise<ReadEntry[]> {
  const older = before
    ? sql`t.made_at <= ${before.timeMs} and (${place})
       < (${before.timeMs}, ${before.orderKey}, ${before.isFee}, ${before.transferId})`
    : sql`true`
  const { rows } = await database.query(sql`${sources}
 where ${isOwn(merchantId)} and ${older}
 order by t.made_at desc, ${plainSql(`${orderKey} desc, ${isFee} desc`)}, t.transfer_id desc
 limit ${limit}`)
  return rows.map(shape.read)
}

/** Uses transfers_statement. */
async function readPage(
  transaction: Queryable,
  { merchantId, toMs }: StatementRange,
  after: Place,
): Promise<ReadEntry[]> {
  const { rows } = await transaction.query(sql`${sources}
 where ${isOwn(merchantId)} and t.made_at < ${toMs}
   and (${place}) > (${after.timeMs}, ${after.orderKey}, ${after.isFee}, ${after.transferId})
 order by ${place}
 limit ${entriesPerPage}`)
  return rows.map(shape.read)
}
