// Candidates for an outside account's lines: ledger transfers and expected bookings, found by name, or by amount and
// day. Distributed and local tables are read separately before they are joined.

import type { TransferKind } from '../../../core/ledger/rules/transfer.ts'
import type { Queryable } from '../../../platform/database/pool.ts'
import { bigint, rowShape } from '../../../platform/database/row-shape.ts'
import { listed, plainSql, type Sql, sql, unionAll } from '../../../platform/database/sql.ts'
import { type BookItem, keyOf, matchDefaults, namesOf, type Sum } from '../rules/match.ts'
import type { KnownLine } from '../rules/statement.ts'
import type { OutsideAccount } from './owners.ts'

/** A rail's sum arrives at most this many days after its last line. */
const batchDays = 10

/** A statement about 500 lines occupies the event loop for 2 to 4 ms, and one about 5,000 for 20 to 80 ms. */
export const linesAtOnce = 500

interface Looked {
  readonly outside: OutsideAccount
  readonly accounts: readonly string[]
  readonly names: readonly string[]
}

interface Given {
  readonly lines: readonly KnownLine[]
  readonly currencies: readonly string[]
}

export async function findNamed(
  database: Queryable,
  outside: OutsideAccount,
  { lines, currencies }: Given,
): Promise<BookItem[]> {
  const found: BookItem[] = []
  for (let from = 0; from < lines.length; from += linesAtOnce) {
    const some = lines.slice(from, from + linesAtOnce)
    found.push(...(await findNamedBy(database, outside, { lines: some, currencies })))
  }
  return unique(found)
}

async function findNamedBy(
  database: Queryable,
  outside: OutsideAccount,
  { lines, currencies }: Given,
): Promise<BookItem[]> {
  const names = [...new Set(lines.flatMap(namesOf))]
  const looked = { outside, names, accounts: accountsOf(outside, currencies) }
  const isBank = outside.bankName !== undefined
  const selects = [
    ...(isBank ? [byOutsideReference(looked), ...payoutItems(looked), batches(looked, lines)] : []),
    ...(outside.railId === undefined ? [] : railTransfers(looked)),
    ...(outside.transferRails.length === 0 ? [] : transferEntries(looked)),
  ]
  return readItems(database, looked, {
    before: isBank ? [namedPayouts(looked)] : [],
    items: unionAll(selects),
  })
}

/** Transfers with exactly these marks: those booked for a line. */
export async function findByMarks(
  database: Queryable,
  outside: OutsideAccount,
  { marks, currencies }: { readonly marks: readonly string[]; readonly currencies: readonly string[] },
): Promise<BookItem[]> {
  const looked = { outside, names: marks, accounts: accountsOf(outside, currencies) }
  const items = unionAll([byOutsideReference(looked), entriesByReference(looked)])
  return (await readItems(database, looked, { items })).filter(({ isMatched }) => !isMatched)
}

function accountsOf({ owners }: OutsideAccount, currencies: readonly string[]): string[] {
  return owners.flatMap((owner) => currencies.map((currency) => `${owner}:${currency}`))
}

async function readItems(
  database: Queryable,
  { outside, names }: Looked,
  { before = [], items }: { readonly before?: readonly Sql[]; readonly items: Sql },
): Promise<BookItem[]> {
  const parts = [...before, sql`i as materialized (${items})`]
  const { rows } = await database.query(sql`
with names as materialized (select unnest(${names}::text[]) as name), ${listed(parts)}
select ${shape.columns}, i.kind = 'booked' and m.is_matched as is_matched
  from i ${withMatched(outside, plainSql('i'))}`)
  return unique(rows.map((row) => ({ ...shape.read(row), isMatched: row['is_matched'] === true })))
}

/**
 * One lookup by primary key per row. Payout ids have collation "C", unlike the index of matches; without the explicit
 * collation PostgreSQL ignores the index, and 60,000 lines took four minutes instead of seconds.
 */
function withMatched({ account }: OutsideAccount, row: Sql): Sql {
  return sql`left join lateral (
    select true as is_matched from matched_transfers m
     where m.account = ${account} and m.merchant_id = ${row}.merchant_id collate "default"
       and m.transfer_id = ${row}.transfer_id collate "default"
     limit 1) as m on true`
}

/** Sent once and looked up by index. */
const isNamed = plainSql('= any (array(select name from names))')

/** Merges the names of a transfer that was found by several. */
function unique(items: readonly BookItem[]): BookItem[] {
  const byKey = new Map<string, BookItem>()
  for (const item of items) {
    const before = byKey.get(item.key)
    const references = [...new Set([...(before?.references ?? []), ...item.references])].filter(Boolean)
    byKey.set(item.key, { ...item, references })
  }
  return [...byKey.values()]
}

const shape = rowShape<Omit<BookItem, 'isMatched'>>('item', {
  key: 'i.key',
  kind: 'i.kind',
  merchantId: 'i.merchant_id',
  transferId: 'i.transfer_id',
  currency: 'i.currency',
  amountMinor: bigint('i.amount_minor'),
  day: 'i.day::text',
  bookDay: 'i.book_day::text',
  references: 'i.refs',
  what: 'i.what',
  railId: 'i.rail_id',
  feeMinor: bigint('i.fee_minor'),
})

/** Transfers that outside statements do not show: between a bank transfer rail and suspense, and of lost disputes. */
export function innerKinds({ transferRails }: OutsideAccount): readonly TransferKind[] {
  return transferRails.length > 0 ? ['payment', 'transfer_applied'] : ['dispute_lost']
}

export function isNoOpening({ openings }: OutsideAccount): Sql {
  return openings.length === 0
    ? plainSql('true')
    : sql`t.transfer_id <> all (${openings}) and coalesce(t.corrects, '') <> all (${openings})`
}

/** Transfers `t` as items; `joins` follows `from`, and `before` contains the other tables' rows. */
function booked(
  { outside, accounts }: Looked,
  joins: Sql,
  refs: Sql,
  { before = plainSql(''), railId = plainSql('null') }: { before?: Sql; railId?: Sql } = {},
): Sql {
  return sql`
(${before}
 select t.merchant_id || '/' || t.transfer_id as key, 'booked' as kind, t.merchant_id, t.transfer_id, t.currency,
        case when t.debit_account = any (${accounts}) then t.amount_minor else -t.amount_minor end as amount_minor,
        coalesce(t.value_date, (to_timestamp(t.made_at / 1000.0) at time zone 'UTC')::date) as day,
        (to_timestamp(t.made_at / 1000.0) at time zone 'UTC')::date as book_day, array_remove(${refs}, null) as refs,
        t.kind as what, ${railId} as rail_id, null::numeric as fee_minor
   from ${joins}
    and t.phase in ('post', 'direct') and t.kind <> all (${innerKinds(outside)}) and ${isNoOpening(outside)}
    and (t.debit_account = any (${accounts})) <> (t.credit_account = any (${accounts})))`
}

/** Uses transfers_outside_reference. */
function byOutsideReference(looked: Looked): Sql {
  return booked(
    looked,
    sql`transfers t where t.outside_reference ${isNamed}`,
    sql`array[t.outside_reference]`,
  )
}

const runPattern = /^[0-9a-f]{32}$/

/** Uses payouts_id and payouts_run. */
function namedPayouts({ outside, names }: Looked): Sql {
  const runs = names.filter((name) => runPattern.test(name))
  return sql`named as materialized (
  select p.* from payouts p where p.payout_id ${isNamed} or p.run_id = any (${runs}::uuid[])
), p as materialized (
  select n.* from named n join payout_runs r on r.run_id = n.run_id and r.bank_name = ${outside.bankName}
)`
}

/** Sent payouts wait for the bank, and paid ones may be returned. */
function payoutItems(looked: Looked): Sql[] {
  const refs = sql`array[p.payout_id, replace(p.run_id::text, '-', '')]`
  const waiting = (kind: 'payout' | 'payout_return') => sql`
select *
  from (select ${kind} || '/' || p.payout_id as key, ${kind}::text as kind, p.merchant_id, p.payout_id as transfer_id, p.currency,
               ${plainSql(kind === 'payout' ? '-p.amount_minor' : 'p.amount_minor')} as amount_minor,
               (to_timestamp(p.sent_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(p.sent_at / 1000.0) at time zone 'UTC')::date as book_day, ${refs} as refs,
               ${kind}::text as what, null as rail_id, null::numeric as fee_minor
          from p
         where p.status = any (${kind === 'payout' ? ['sent'] : ['sent', 'paid']})) as i`
  const of = (id: 'hold_id = p.payout_id' | 'transfer_id = p.return_id') =>
    booked(
      looked,
      sql`p join transfers t on t.merchant_id = p.merchant_id and t.${plainSql(id)} where true`,
      refs,
    )
  return [
    waiting('payout'),
    waiting('payout_return'),
    of('hold_id = p.payout_id'),
    of('transfer_id = p.return_id'),
  ]
}

/** The name of a batch without a name: its day. Because any text can contain a day, it never counts as a reference. */
const aDay = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'

/** Rail sums that this bank account still expects. */
function batches({ outside }: Looked, lines: readonly KnownLine[]): Sql {
  const days = lines.map(({ day }) => day).toSorted()
  return sql`
select *
  from (select 'batch/' || b.account || '/' || b.currency || '/' || b.batch as key, 'settlement' as kind, '' as merchant_id,
               b.batch as transfer_id, b.currency,
               (b.gross_minor - b.settled_gross) - (b.fee_minor - b.settled_fee) as amount_minor, b.last_day as day,
               b.last_day as book_day, case when b.batch ~ ${aDay} then array[]::text[] else array[b.batch] end as refs,
               'rail_settlement' as what,
               split_part(b.account, ':', 2) as rail_id, b.fee_minor - b.settled_fee as fee_minor
          from rail_batches b
         where b.settles_to = ${outside.bankName} and (b.gross_minor, b.fee_minor) <> (b.settled_gross, b.settled_fee)
           and b.gross_minor - b.settled_gross > b.fee_minor - b.settled_fee
           and (b.batch ${isNamed}
                or b.last_day between ${days[0] ?? null}::date - ${batchDays}::integer
                                  and ${days.at(-1) ?? null}::date + ${batchDays}::integer)) as i`
}

/** Payments by the rail's or our id, their refunds and disputes, and late money. */
function railTransfers(looked: Looked): Sql[] {
  const { outside } = looked
  const attempts = sql`rail_attempts a`
  const named = sql`a.rail_id = ${outside.railId} and (a.transaction_id ${isNamed} or a.reference ${isNamed})`
  const refs = sql`array[a.transaction_id, a.reference]`
  return [
    booked(
      looked,
      sql`${attempts} join transfers t on t.merchant_id = a.merchant_id and t.hold_id = a.transaction_id where ${named}`,
      refs,
    ),
    booked(
      looked,
      sql`${attempts} join transfers t on t.merchant_id = a.merchant_id
                             and t.transfer_id in (a.transaction_id, a.transaction_id || 'L', a.return_id)
         where ${named} and t.kind in ('late_payment', 'late_return')`,
      refs,
    ),
    booked(
      looked,
      sql`${attempts} join refunds r on r.merchant_id = a.merchant_id and r.payment_id = a.payment_id
          join transfers t on t.merchant_id = r.merchant_id and t.hold_id = r.transaction_id where ${named}`,
      sql`array[a.transaction_id, a.reference, r.refund_id]`,
    ),
    booked(
      looked,
      sql`refunds r join transfers t on t.merchant_id = r.merchant_id and t.hold_id = r.transaction_id
         where r.refund_id ${isNamed}`,
      sql`array[r.refund_id]`,
    ),
    booked(
      looked,
      sql`disputes d join transfers t on t.merchant_id = d.merchant_id and t.transfer_id > d.dispute_id
                                    and t.transfer_id < d.dispute_id || 'zzzz' and t.kind in ('dispute', 'dispute_won')
         where d.rail_id = ${outside.railId} and d.reference ${isNamed}`,
      sql`array[d.reference]`,
    ),
  ]
}

/** Bank transfers: orders that wait for money, refunds to send, and recorded entries. */
function transferEntries(looked: Looked): Sql[] {
  const { outside } = looked
  const rails = outside.transferRails
  return [
    sql`
select *
  from (select distinct on (a.reference) 'transfer/' || a.reference as key, 'transfer' as kind, a.merchant_id,
               a.payment_id as transfer_id, a.currency, a.amount_minor,
               (to_timestamp(a.started_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(a.started_at / 1000.0) at time zone 'UTC')::date as book_day, array[a.reference] as refs,
               'transfer' as what, a.rail_id, null::numeric as fee_minor
          from rail_attempts a
         where a.rail_id = any (${rails}) and a.reference ${isNamed}
         order by a.reference, a.started_at desc) as i`,
    sql`
select *
  from (select 'refund/' || r.refund_id as key, 'refund' as kind, r.merchant_id, r.refund_id as transfer_id, r.currency,
               -r.amount_minor as amount_minor, (to_timestamp(r.created_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(r.created_at / 1000.0) at time zone 'UTC')::date as book_day, array[r.refund_id] as refs,
               'refund' as what, o.rail_id, null::numeric as fee_minor
          from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
         where r.refund_id ${isNamed} and r.status = 'refunding' and o.rail_id = any (${rails})) as i`,
    entriesByReference(looked),
    bookedEntries(
      looked,
      sql`array[e.reference, e.outside_reference]`,
      sql`
 with a as materialized (
   select a.merchant_id, a.payment_id, a.rail_id, a.reference
     from rail_attempts a
    where a.rail_id = any (${rails}) and a.reference ${isNamed}
 ), e as materialized (
   select e.*, a.reference
     from a join transfer_entries e on e.merchant_id = a.merchant_id and e.payment_id = a.payment_id and e.rail_id = a.rail_id
 )`,
    ),
    bookedEntries(
      looked,
      sql`array[e.refund_id, e.outside_reference]`,
      sql`
 with e as materialized (
   select * from transfer_entries where rail_id = any (${rails}) and refund_id ${isNamed}
 )`,
    ),
  ]
}

function bookedEntries(looked: Looked, refs: Sql, before: Sql): Sql {
  const transfers = plainSql(
    'e join transfers t on t.merchant_id = e.merchant_id and t.transfer_id = e.transfer_id where true',
  )
  return booked(looked, transfers, refs, { before, railId: plainSql('e.rail_id') })
}

function entriesByReference(looked: Looked): Sql {
  return bookedEntries(
    looked,
    sql`array[e.outside_reference]`,
    sql`
 with e as materialized (
   select * from transfer_entries
    where rail_id = any (${looked.outside.transferRails}) and outside_reference ${isNamed}
 )`,
  )
}

/**
 * Candidates near each line's amount and day, at most two per line, which is enough to detect ambiguity; and sums of
 * other open lines. Uses transfers_outside_debit and _credit.
 */
export async function findByAmount(
  database: Queryable,
  outside: OutsideAccount,
  { lines, currencies }: Given,
): Promise<{ items: BookItem[]; rivals: Sum[] }> {
  // Rail statements always contain names.
  if (outside.railId !== undefined || lines.length === 0) return { items: [], rivals: [] }
  const rivals = await findRivals(database, outside, lines)
  const known = Map.groupBy<string, Sum>([...lines, ...rivals], keyOf)
  const alone = lines.filter((line) => known.get(keyOf(line))?.length === 1)
  const within = matchDefaults.amountWithinDays
  const days = alone.map(({ day }) => day).toSorted()
  const [first, last] = [days[0] ?? null, days.at(-1) ?? null]
  const looked = { outside, names: [], accounts: accountsOf(outside, currencies) }
  const side = (column: 'debit_account' | 'credit_account') => {
    const of = plainSql(`t.${column}`)
    return booked(
      looked,
      sql`transfers t
         where ${of} = any (${looked.accounts}) and (${of} like 'bank:%' or ${of} like 'rail:%')
           and t.made_at >= extract(epoch from ${first}::date - ${within + 1}::integer)::bigint * 1000
           and t.made_at < extract(epoch from ${last}::date + ${within + 2}::integer)::bigint * 1000
           and t.amount_minor in (select abs(amount_minor) from seen)`,
      sql`array[]::text[]`,
    )
  }
  const seen = sql`seen as materialized (
  select * from unnest(${alone.map(({ currency }) => currency)}::text[], ${alone.map(({ amountMinor }) => amountMinor.toString())}::numeric[],
                       ${alone.map(({ day }) => day)}::date[]) as s (currency, amount_minor, day)
), same as materialized (${unionAll([side('debit_account'), side('credit_account')])})`
  const items = sql`
select *
  from (select same.*, row_number() over (partition by seen.currency, seen.amount_minor) as nth
          from same join seen on seen.currency = same.currency and seen.amount_minor = same.amount_minor
           and same.day between seen.day - ${within}::integer and seen.day + ${within}::integer
          ${withMatched(outside, plainSql('same'))}
         where m.is_matched is null) as near
 where nth <= 2`
  return { rivals, items: await readItems(database, looked, { before: [seen], items }) }
}

async function findRivals(
  database: Queryable,
  { account }: OutsideAccount,
  lines: readonly KnownLine[],
): Promise<Sum[]> {
  const days = lines.map(({ day }) => day).toSorted()
  const apart = 2 * matchDefaults.amountWithinDays
  const { rows } = await database.query(sql`
select distinct ${sumShape.columns}
  from statement_lines l
  left join reconciliation_breaks b on b.break_id = l.break_id
 where l.account = ${account} and l.match_id is null and (l.break_id is null or b.kind = 'missing_here')
   and l.day between ${days[0] ?? null}::date - ${apart}::integer and ${days.at(-1) ?? null}::date + ${apart}::integer
   and l.amount_minor = any (${lines.map(({ amountMinor }) => amountMinor.toString())}::numeric[])
   and l.line_id <> all (${lines.map(({ lineId }) => lineId)})`)
  return rows.map(sumShape.read)
}

const sumShape = rowShape<Sum>('sum', { currency: 'l.currency', amountMinor: bigint('l.amount_minor') })
