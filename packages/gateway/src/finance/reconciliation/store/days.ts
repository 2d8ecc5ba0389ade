// Days of outside accounts: the books' balance, the outside balance, and the explained difference, as sums. A closed
// day is stored and never recomputed.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { dayAfter } from '../../../platform/runtime/utc.ts'
import { type DaySums, type DayTotals, totalsOf } from '../rules/day.ts'
import { ownersOf } from './owners.ts'

export interface AccountCurrency {
  readonly account: string
  readonly currency: string
}

export interface ReconciledDay extends AccountCurrency, DayTotals {
  readonly day: string
  /** Breaks open at the end of the day. */
  readonly breaks: number
  /** Undefined: open, with current values. */
  readonly closedAtMs: number | undefined
}

export type DayStore = ReturnType<typeof makeDayStore>

export function makeDayStore(database: Pool) {
  return {
    listClosed: (of: AccountCurrency, page: { from: string; through: string }) =>
      listClosed(database, of, page),
    readDay: (of: AccountCurrency, day: string) => readDay(database, of, day),
    /** Closes every open day up to this one, in order. Empty if it was already closed or the account does not exist. */
    closeDays: (of: AccountCurrency, through: string, entry: AuditEntry) =>
      database.transaction((transaction) => closeDays(transaction, of, { through, entry }), {
        statementTimeoutMs: 0,
      }),
    listUnexplained: () => listUnexplained(database),
  }
}

function startOfMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}

/** The books at the start of this day: the current balance less later transfers, except those that count from an earlier day. */
export async function bookAt(
  database: Queryable,
  { account, currency }: AccountCurrency,
  day: string,
  countedBefore: readonly string[] = [],
): Promise<bigint> {
  const accounts = (await ownersOf(database, account)).map((owner) => `${owner}:${currency}`)
  const isLater = sql`made_at >= ${startOfMs(day)} and phase in ('post', 'direct')
                    and transfer_id <> all (${[...countedBefore]}) and coalesce(corrects, '') <> all (${[...countedBefore]})`
  const { rows } = await database.query<{ minor: string }>(sql`
select coalesce((select sum(debits_posted - credits_posted) from accounts where account_id = any (${accounts})), 0)
     - coalesce((select sum(amount_minor) from transfers
                  where debit_account = any (${accounts}) and ${isLater}
                    and (debit_account like 'bank:%' or debit_account like 'rail:%' or debit_account like 'disputes:%')), 0)
     + coalesce((select sum(amount_minor) from transfers
                  where credit_account = any (${accounts}) and ${isLater}
                    and (credit_account like 'bank:%' or credit_account like 'rail:%' or credit_account like 'disputes:%')), 0) as minor`)
  return BigInt(rows[0]?.minor ?? 0)
}

const sumShape = rowShape<Omit<DaySums, 'bookMinor'> & { readonly breaks: number }>('sums', {
  startMinor: bigint('a.start_minor + o.minor'),
  balanceMinor: bigint('b.amount_minor'),
  linesMinor: bigint('l.all_minor'),
  linesAfterBalanceMinor: bigint('l.after_minor'),
  matchedLinesMinor: bigint('l.matched_minor'),
  matchedMinor: bigint('m.all_minor'),
  matchedSinceStartMinor: bigint('m.since_minor'),
  brokenMinor: bigint('k.items_minor'),
  breaks: number('k.breaks'),
})

/**
 * Undefined before the first statement. Opening balances booked before it are in `start_minor`; later ones count from
 * their own day, as do their reversals.
 */
async function readDay(
  database: Queryable,
  of: AccountCurrency,
  day: string,
): Promise<ReconciledDay | undefined> {
  const { account, currency } = of
  const { rows } = await database.query(sql`
select ${sumShape.columns}
  from outside_accounts a
  left join lateral (select day, amount_minor from statement_balances b
                      where b.account = a.account and b.currency = a.currency and b.day <= ${day}::date
                      order by b.day desc limit 1) as b on true
 cross join lateral (select coalesce(sum(amount_minor), 0) as all_minor,
                            coalesce(sum(amount_minor) filter (where l.day > b.day), 0) as after_minor,
                            coalesce(sum(amount_minor) filter (where match_id is not null), 0) as matched_minor
                       from statement_lines l
                      where l.account = a.account and l.currency = a.currency and l.accounting_day <= ${day}::date) as l
 cross join lateral (select coalesce(sum(amount_minor), 0) as all_minor,
                            coalesce(sum(amount_minor) filter (where m.day >= a.start_day), 0) as since_minor
                       from matched_transfers m
                      where m.account = a.account and m.currency = a.currency and m.day <= ${day}::date) as m
 cross join lateral (select count(*) filter (where k.day <= ${day}::date) as breaks,
                            coalesce(sum((item->>'amountMinor')::numeric)
                                     filter (where item->>'kind' = 'booked' and kind in ('missing_there', 'amount_differs')
                                               and (item->>'bookDay')::date between a.start_day and ${day}::date), 0) as items_minor
                       from reconciliation_breaks k
                      where k.account = a.account and k.currency = a.currency and k.resolved_at is null) as k
 cross join lateral (select coalesce(sum(sign(amount_minor) * (case when book_day < a.start_day then 0 else abs(amount_minor) end
                                                               - reversed_minor)), 0) as minor
                       from bank_openings o
                      where 'bank:' || o.bank_name = a.account and o.currency = a.currency and o.day <= ${day}::date) as o
 where a.account = ${account} and a.currency = ${currency} and a.start_day <= ${day}::date`)
  if (!rows[0]) return undefined
  const { breaks, ...sums } = sumShape.read(rows[0])
  const bookMinor = await bookAt(database, of, dayAfter(day, 1), await listOpeningIds(database, of, day))
  return { ...of, day, ...totalsOf({ ...sums, bookMinor }), breaks, closedAtMs: undefined }
}

/** The opening balances of this day and earlier ones: they count from their day, whenever they were booked or reversed. */
async function listOpeningIds(
  database: Queryable,
  { account, currency }: AccountCurrency,
  day: string,
): Promise<string[]> {
  const { rows } = await database.query<{ transfer_id: string }>(sql`
select transfer_id from bank_openings
 where 'bank:' || bank_name = ${account} and currency = ${currency} and day <= ${day}::date`)
  return rows.map((row) => row.transfer_id)
}

const dayShape = rowShape<ReconciledDay>('day', {
  account: 'account',
  currency: 'currency',
  day: 'day::text',
  bookMinor: bigint('book'),
  outsideMinor: bigint('outside'),
  inTransitMinor: bigint('in_transit'),
  unexplainedMinor: bigint('unexplained'),
  breaks: number('breaks'),
  closedAtMs: number('closed_at'),
})

async function listClosed(
  database: Queryable,
  { account, currency }: AccountCurrency,
  { from, through }: { from: string; through: string },
): Promise<ReconciledDay[]> {
  const { rows } = await database.query(sql`
select ${dayShape.columns} from reconciliation_days
 where account = ${account} and currency = ${currency} and day between ${from} and ${through}
 order by day desc`)
  return rows.map(dayShape.read)
}

async function closeDays(
  transaction: Queryable,
  of: AccountCurrency,
  { through, entry }: { through: string; entry: AuditEntry },
): Promise<ReconciledDay[]> {
  const { account, currency } = of
  const { rows } = await transaction.query<{ from: string }>(sql`
select coalesce(closed_through + 1, start_day)::text as from from outside_accounts
 where account = ${account} and currency = ${currency}
   for update`)
  const closed: ReconciledDay[] = []
  for (let day = rows[0]?.from ?? dayAfter(through, 1); day <= through; day = dayAfter(day, 1)) {
    const read = await readDay(transaction, of, day)
    if (!read) throw new Error('an account that is locked is there')
    closed.push({ ...read, closedAtMs: entry.actedAtMs })
    await transaction.query(sql`
insert into reconciliation_days (account, currency, day, book, outside, in_transit, unexplained, breaks, closed_at, audit_id)
values (${account}, ${currency}, ${day}, ${read.bookMinor.toString()}, ${read.outsideMinor.toString()},
        ${read.inTransitMinor.toString()}, ${read.unexplainedMinor.toString()}, ${read.breaks}, ${entry.actedAtMs}, ${entry.auditId})`)
  }
  if (closed.length === 0) return []
  await transaction.query(sql`
update outside_accounts set closed_through = ${through} where account = ${account} and currency = ${currency}`)
  await insertAuditEntry(transaction, entry)
  return closed
}

async function listUnexplained(database: Queryable): Promise<ReconciledDay[]> {
  const { rows } = await database.query(sql`
select ${dayShape.columns}
  from (select distinct on (account, currency) * from reconciliation_days order by account, currency, day desc) as newest
 where unexplained <> 0`)
  return rows.map(dayShape.read)
}
