// Stored bills: find, list, and read in parts. Bills never change.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { type Sql, sql } from '../../../platform/database/sql.ts'
import { type Bill, type BillKey, type BillTotals, rangeOf } from '../rules/bill.ts'

export type BillStore = ReturnType<typeof makeBillStore>

export function makeBillStore(database: Pool) {
  return {
    findBill: async ({ merchantId, day }: BillKey): Promise<Bill | undefined> =>
      (await findBills(database, sql`b.merchant_id = ${merchantId} and b.day = ${day}`))[0],
    findTotalsBefore: (key: BillKey) => findTotalsBefore(database, key),
    listBills: (merchantId: string, { before, limit }: { before?: string | undefined; limit: number }) =>
      findBills(
        database,
        sql`b.merchant_id = ${merchantId} and b.day < ${before ?? 'infinity'} order by b.day desc limit ${limit}`,
      ),
    /** One part at a time, so that a slow reader holds no connection. */
    readParts: (key: BillKey) => readParts(database, key),
    /** Fees by currency since that day, negative, and until when. */
    sumFees: (merchantId: string, since: string) => sumFees(database, merchantId, since),
    isBilled: (key: BillKey) => isBilled(database, key),
  }
}

type BillRow = Omit<Bill, 'totals'>

const shape = rowShape<BillRow>('bill', {
  merchantId: 'b.merchant_id',
  day: 'b.day::text',
  madeAtMs: number('b.made_at'),
  lines: number('b.lines'),
  bytes: number('b.bytes'),
  sha256: "encode(b.sha256, 'hex')",
})

const totalsShape = rowShape<BillTotals & { readonly day: string }>('totals', {
  day: 't.day::text',
  currency: 't.currency',
  opening: bigint('t.opening_minor'),
  late: bigint('t.late_minor'),
  payments: bigint('t.payments_minor'),
  refunds: bigint('t.refunds_minor'),
  fees: bigint('t.fees_minor'),
  payouts: bigint('t.payouts_minor'),
  corrections: bigint('t.corrections_minor'),
  closing: bigint('t.closing_minor'),
})

async function findBills(database: Queryable, where: Sql): Promise<Bill[]> {
  const { rows } = await database.query(sql`select ${shape.columns} from bills b where ${where}`)
  const bills = rows.map(shape.read)
  if (bills.length === 0) return []
  const totals = await readTotals(
    database,
    sql`t.merchant_id = ${bills[0]?.merchantId} and t.day = any (${bills.map(({ day }) => day)}::date[])`,
  )
  return bills.map((bill) => ({
    ...bill,
    totals: totals.flatMap(({ day, ...each }) => (day === bill.day ? [each] : [])),
  }))
}

async function readTotals(database: Queryable, where: Sql) {
  const { rows } = await database.query(
    sql`select ${totalsShape.columns} from bill_totals t where ${where} order by t.day, t.currency`,
  )
  return rows.map(totalsShape.read)
}

export async function findTotalsBefore(
  database: Queryable,
  { merchantId, day }: BillKey,
): Promise<BillTotals[]> {
  const totals = await readTotals(
    database,
    sql`t.merchant_id = ${merchantId}
   and t.day = (select max(b.day) from bills b where b.merchant_id = ${merchantId} and b.day < ${day})`,
  )
  return totals.map(({ day: _day, ...each }) => each)
}

async function* readParts(database: Queryable, { merchantId, day }: BillKey): AsyncGenerator<string> {
  for (let part = 1; ; part++) {
    const { rows } = await database.query<{ content: string }>(sql`
select content from bill_parts where merchant_id = ${merchantId} and day = ${day} and part = ${part}`)
    if (!rows[0]) return
    yield rows[0].content
  }
}

async function sumFees(database: Queryable, merchantId: string, since: string) {
  const { rows } = await database.query<{ currency: string; fees: string; until: string }>(sql`
select currency, sum(fees_minor) as fees, max(day)::text as until
  from bill_totals
 where merchant_id = ${merchantId} and day >= ${since}
 group by currency order by currency`)
  return rows.map(({ currency, fees, until }) => ({ currency, minor: BigInt(fees), until }))
}

/**
 * Whether everything up to the end of the day is billed, even if there was nothing to bill. Uses transfers_statement.
 */
async function isBilled(database: Queryable, { merchantId, day }: BillKey): Promise<boolean> {
  const { rows: turns } = await database.query<{ is_billed: boolean }>(sql`
select next_day > ${day}::date as is_billed from bill_turns where merchant_id = ${merchantId}`)
  if (turns[0]) return turns[0].is_billed
  const { rows: moved } = await database.query(sql`
select 1 from transfers
 where merchant_id = ${merchantId} and phase in ('post', 'direct') and made_at < ${rangeOf(day).toMs}
   and 'merchant:' || merchant_id || ':' || currency in (debit_account, credit_account)
 limit 1`)
  return moved.length === 0
}
