// Creates one merchant's next bill in one transaction under the lock of the merchant's row. No lease is needed: a
// crash changes nothing, and no bill is created twice.

import {
  balancesBefore,
  readEntries,
  type StatementEntry,
} from '../../../core/ledger/store/merchant-statements.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { dayAfter, utcDay } from '../../../platform/runtime/utc.ts'
import {
  areEqual,
  type Balances,
  type BillContent,
  type BillKey,
  balancesOf,
  rangeOf,
} from '../rules/bill.ts'
import { findTotalsBefore } from './bills.ts'

export interface Billing {
  /** Earlier days have certainly ended. */
  readonly openDay: string
  readonly nowMs: number
  readonly start: StartBill
  /** Continues after this merchant, so that a failing merchant does not block others. */
  readonly after: string
}

/** `quiet`: no transfers until the open day. */
export type Billed =
  | { readonly kind: 'made' | 'quiet'; readonly merchantId: string }
  | { readonly kind: 'failed'; readonly merchantId: string; readonly error: unknown }

export interface BillWriter {
  entries(page: readonly StatementEntry[]): Promise<void>
  end(): Promise<BillContent>
}

export type StartBill = (
  opening: { readonly before: Balances; readonly ledger: Balances },
  keep: (part: string) => Promise<void>,
) => BillWriter

export type BillMakerStore = ReturnType<typeof makeBillMakerStore>

export function makeBillMakerStore(database: Pool) {
  return {
    enrolMerchants: () => enrolMerchants(database),
    /** Undefined if no merchant waits for a bill. */
    async makeNextBill(billing: Billing): Promise<Billed | undefined> {
      let merchantId: string | undefined
      try {
        return await database.transaction(async (transaction) => {
          const turn = await claimTurn(transaction, billing)
          merchantId = turn?.merchantId
          return turn && { merchantId: turn.merchantId, kind: await makeBill(transaction, turn, billing) }
        })
      } catch (error) {
        if (merchantId === undefined) throw error
        return { kind: 'failed', merchantId, error }
      }
    },
  }
}

async function enrolMerchants(database: Queryable): Promise<void> {
  await database.query(sql`
insert into bill_turns (merchant_id, next_day)
select distinct a.owner_id, date '1970-01-01'
  from accounts a
 where a.account_id >= 'merchant:' and a.account_id < 'merchant;'
   and not exists (select 1 from bill_turns b where b.merchant_id = a.owner_id)
    on conflict do nothing`)
}

async function makeBill(transaction: Queryable, turn: BillKey, { openDay, nowMs, start }: Billing) {
  const { merchantId } = turn
  const day =
    (await findMovedDay(transaction, turn, openDay)) ?? (await findLateDay(transaction, turn, openDay))
  if (day === undefined) {
    await moveOn(transaction, { merchantId, day: openDay })
    return 'quiet'
  }
  const key = { merchantId, day }
  const range = { merchantId, ...rangeOf(day) }
  const before = balancesOf(await findTotalsBefore(transaction, key), 'closing')
  const ledger = await balancesBefore(transaction, merchantId, range.fromMs)
  let part = 0
  const writer = start({ before, ledger }, async (content) => {
    part++
    await transaction.query(sql`
insert into bill_parts (merchant_id, day, part, content) values (${merchantId}, ${day}, ${part}, ${content})`)
  })
  await readEntries(transaction, range, (page) => writer.entries(page))
  const content = await writer.end()
  const closing = await balancesBefore(transaction, merchantId, range.toMs)
  if (content.totals.some(({ currency, closing: billed }) => billed !== closing.get(currency)))
    throw new Error('what the bill sums up is not what the ledger says: a transfer of its day came meanwhile')
  await insertBill(transaction, key, { content, nowMs })
  await moveOn(transaction, { merchantId, day: dayAfter(day, 1) })
  return 'made'
}

async function claimTurn(transaction: Queryable, { openDay, after }: Billing) {
  const { rows } = await transaction.query<{ merchant_id: string; next_day: string }>(sql`
select merchant_id, next_day::text from bill_turns
 where next_day < ${openDay} and merchant_id > ${after}
 order by merchant_id limit 1 for update skip locked`)
  return rows[0] && { merchantId: rows[0].merchant_id, day: rows[0].next_day }
}

/** The first day with transfers from this one on. Uses transfers_statement. */
async function findMovedDay(
  transaction: Queryable,
  { merchantId, day }: BillKey,
  openDay: string,
): Promise<string | undefined> {
  const { rows } = await transaction.query<{ made_at: string }>(sql`
select made_at from transfers
 where merchant_id = ${merchantId} and phase in ('post', 'direct')
   and 'merchant:' || merchant_id || ':' || currency in (debit_account, credit_account)
   and made_at >= ${Date.parse(day)} and made_at < ${Date.parse(openDay)}
 order by made_at limit 1`)
  return rows[0] && utcDay(Number(rows[0].made_at))
}

/** The last ended day, if late transfers exist and nothing has moved since. */
async function findLateDay(
  transaction: Queryable,
  { merchantId }: BillKey,
  openDay: string,
): Promise<string | undefined> {
  const billed = balancesOf(await findTotalsBefore(transaction, { merchantId, day: openDay }), 'closing')
  const ledger = await balancesBefore(transaction, merchantId, Date.parse(openDay))
  return areEqual(billed, ledger) ? undefined : dayAfter(openDay, -1)
}

async function insertBill(
  transaction: Queryable,
  { merchantId, day }: BillKey,
  { content, nowMs }: { content: BillContent; nowMs: number },
): Promise<void> {
  await transaction.query(sql`
insert into bills (merchant_id, day, made_at, lines, bytes, sha256)
values (${merchantId}, ${day}, ${nowMs}, ${content.lines}, ${content.bytes}, decode(${content.sha256}, 'hex'))`)
  for (const {
    currency,
    opening,
    late,
    payments,
    refunds,
    fees,
    payouts,
    corrections,
    closing,
  } of content.totals)
    await transaction.query(sql`
insert into bill_totals (merchant_id, day, currency, opening_minor, late_minor, payments_minor, refunds_minor,
                         fees_minor, payouts_minor, corrections_minor, closing_minor)
values (${merchantId}, ${day}, ${currency}, ${opening}, ${late}, ${payments}, ${refunds}, ${fees}, ${payouts},
        ${corrections}, ${closing})`)
}

async function moveOn(transaction: Queryable, { merchantId, day }: BillKey): Promise<void> {
  await transaction.query(sql`update bill_turns set next_day = ${day} where merchant_id = ${merchantId}`)
}
