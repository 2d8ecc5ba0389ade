// A wallet's transactions, newest first, in pages.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { accountIdOf, type TransferKind } from '../../ledger/rules/transfer.ts'
import { listAccounts } from '../../ledger/store/ledger.ts'

export interface HistoryKey {
  readonly madeAtMs: number
  readonly transferId: string
}

export interface HistoryEntry extends HistoryKey {
  readonly kind: TransferKind
  readonly currency: string
  /** Positive for incoming money, negative for outgoing. */
  readonly amountMinor: bigint
  readonly merchantId: string
  /** For a payment or a refund. */
  readonly merchantName: string | undefined
  readonly logoHash: string | undefined
  readonly orderNo: string | undefined
  readonly paymentId: string | undefined
  /** The id of the hold, which is shown everywhere. */
  readonly transactionId: string
}

/** For a receipt. */
export interface HistoryDetail extends HistoryEntry {
  /** The order that the entry belongs to, as the order's `content`. */
  readonly content: string | undefined
  /** The rail that collected the order's money; undefined for a wallet's payment. */
  readonly railId: string | undefined
}

export type HistoryStore = ReturnType<typeof makeHistoryStore>

export function makeHistoryStore(database: Pool) {
  return {
    /** Only entries older than `before`. */
    list: (walletId: string, page: { before?: HistoryKey | undefined; limit: number }) =>
      list(database, walletId, page),
    find: async (
      walletId: string,
      { madeAtMs, transferId }: HistoryKey,
    ): Promise<HistoryDetail | undefined> => {
      // The previous entry in the list is the next in time.
      const [found] = await list(database, walletId, {
        before: { madeAtMs, transferId: `${transferId} ` },
        limit: 1,
      })
      if (found?.madeAtMs !== madeAtMs || found.transferId !== transferId) return undefined
      return { ...found, ...(await findOrder(database, found)) }
    },
  }
}

const shape = rowShape<HistoryEntry>('entry', {
  madeAtMs: number('t.made_at'),
  transferId: 't.transfer_id',
  kind: 't.kind',
  currency: 't.currency',
  amountMinor: bigint('t.amount_minor * t.sign'),
  merchantId: 't.merchant_id',
  merchantName: "case when t.kind in ('payment', 'refund') then m.name end",
  logoHash: "case when t.kind in ('payment', 'refund') then m.logo_hash end",
  orderNo: "case when t.kind in ('payment', 'refund') then o.order_no end",
  paymentId: 't.payment_id',
  transactionId: 'coalesce(t.hold_id, t.transfer_id)',
})

/** Uses transfers_from_wallet and transfers_to_wallet. Ids compare by bytes in any locale. */
async function list(
  database: Queryable,
  walletId: string,
  { before, limit }: { before?: HistoryKey | undefined; limit: number },
): Promise<HistoryEntry[]> {
  const owned = await listAccounts(database, { ownerKind: 'wallet', ownerId: walletId })
  const accounts = owned.map(accountIdOf)
  const { madeAtMs = null, transferId = null } = before ?? {}
  const older = sql`
(${madeAtMs}::bigint is null or t.made_at < ${madeAtMs}
 or (t.made_at = ${madeAtMs} and t.transfer_id collate "C" < ${transferId}))`
  const newestFirst = sql`order by made_at desc, transfer_id collate "C" desc limit ${limit}`
  const { rows } = await database.query(sql`
select ${shape.columns}
  from (select * from (
          (select t.*, 1 as sign from transfers t
            where t.credit_account = any (${accounts}) and starts_with(t.credit_account, 'wallet:')
              and t.phase in ('post', 'direct') and ${older} ${newestFirst})
          union all
          (select t.*, -1 as sign from transfers t
            where t.debit_account = any (${accounts}) and starts_with(t.debit_account, 'wallet:')
              and t.phase in ('post', 'direct') and ${older} ${newestFirst})) as moved
        ${newestFirst}) as t
  left join orders o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
  left join merchants m on m.merchant_id = t.merchant_id
 order by t.made_at desc, t.transfer_id collate "C" desc`)
  return rows.map(shape.read)
}

type OrderOfEntry = Pick<HistoryDetail, 'content' | 'railId'>

const orderShape = rowShape<OrderOfEntry>('order', { content: 'o.content', railId: 'o.rail_id' })

async function findOrder(
  database: Queryable,
  { merchantId, paymentId }: Pick<HistoryEntry, 'merchantId' | 'paymentId'>,
): Promise<OrderOfEntry> {
  const none = { content: undefined, railId: undefined }
  if (paymentId === undefined) return none
  const { rows } = await database.query(sql`
select ${orderShape.columns} from orders o where o.merchant_id = ${merchantId} and o.payment_id = ${paymentId}`)
  const [row] = rows
  return row ? orderShape.read(row) : none
}
