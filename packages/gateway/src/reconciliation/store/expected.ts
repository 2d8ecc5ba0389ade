// What lines of an outside account may be matched with: transfers on the ledger, and what other rooms wait for the bank to
// book. Found by what the lines name, and for those that name nothing by amount and day; never all there is.
import type { Queryable } from '../../database/pool.ts'
import { bigint, rowShape } from '../../database/row-shape.ts'
import { plainSql, type Sql, sql, unionAll } from '../../database/sql.ts'
import type { TransferKind } from '../../ledger/rules/transfer.ts'
import type { BookItem } from '../rules/match.ts'
import type { KnownLine } from '../rules/statement.ts'
import type { OutsideAccount } from './owners.ts'

const dayMs = 86_400_000
const maxByAmount = 5_000
/** A rail's sum comes to the bank so many days after its last line at most, or before. */
const batchDays = 10

interface Looked {
  readonly outside: OutsideAccount
  readonly accounts: readonly string[]
  readonly names: readonly string[]
}

export async function findItems(
  database: Queryable,
  outside: OutsideAccount,
  { lines, currencies }: { readonly lines: readonly KnownLine[]; readonly currencies: readonly string[] },
): Promise<BookItem[]> {
  const accounts = outside.owners.flatMap((owner) => currencies.map((currency) => `${owner}:${currency}`))
  const names = [...new Set(lines.flatMap(({ mark, references }) => [mark, ...references]))]
  const looked = { outside, accounts, names }
  const selects = [
    ...(outside.bankName === undefined
      ? []
      : [byOutsideReference(looked), ...payouts(looked), batches(looked, lines)]),
    ...(outside.railId === undefined ? [] : railTransfers(looked)),
    ...(outside.transferRails.length === 0 ? [] : transferEntries(looked)),
  ]
  const { rows } = await database.query(unionAll(selects))
  const named = unique(rows.map(shape.read))
  // The statements of rails always name what they are about.
  if (outside.railId !== undefined) return named
  const known = new Set(named.flatMap(({ references }) => references))
  const unnamed = lines.filter(
    ({ mark, references }) => ![mark, ...references].some((name) => known.has(name)),
  )
  if (unnamed.length === 0) return named
  const { rows: near } = await database.query(byAmount(looked, unnamed))
  return unique([...named, ...near.map(shape.read)])
}

/** What the books have under exactly these marks: what was booked for a line, or nothing. */
export async function findByMarks(
  database: Queryable,
  outside: OutsideAccount,
  { marks, currencies }: { readonly marks: readonly string[]; readonly currencies: readonly string[] },
): Promise<BookItem[]> {
  const accounts = outside.owners.flatMap((owner) => currencies.map((currency) => `${owner}:${currency}`))
  const looked = { outside, accounts, names: marks }
  const { rows } = await database.query(unionAll([byOutsideReference(looked), entriesByReference(looked)]))
  return unique(rows.map(shape.read)).filter(({ isMatched }) => !isMatched)
}

/** The same transfer by several of its names has all of them. */
function unique(items: readonly BookItem[]): BookItem[] {
  const byKey = new Map<string, BookItem>()
  for (const item of items) {
    const before = byKey.get(item.key)
    const references = [...new Set([...(before?.references ?? []), ...item.references])].filter(Boolean)
    byKey.set(item.key, { ...item, references })
  }
  return [...byKey.values()]
}

const shape = rowShape<BookItem>('item', {
  key: 'key',
  kind: 'kind',
  merchantId: 'merchant_id',
  transferId: 'transfer_id',
  currency: 'currency',
  amountMinor: bigint('amount_minor'),
  day: 'day::text',
  bookDay: 'book_day::text',
  references: 'refs',
  isMatched: 'is_matched',
  what: 'what',
  railId: 'rail_id',
  orderStatus: 'order_status',
  feeMinor: bigint('fee_minor'),
})

/** What moves between a transfer rail's own money and suspense, there and back: the bank knows nothing of it. */
export function innerKinds({ transferRails }: OutsideAccount): readonly TransferKind[] {
  return transferRails.length > 0 ? ['payment', 'transfer_applied'] : []
}

/** Rows of transfers `t` as items; `joins` follows `from transfers t`. */
function booked({ outside, accounts }: Looked, joins: Sql, refs: Sql): Sql {
  return sql`
select ${shape.columns}
  from (select t.merchant_id || '/' || t.transfer_id as key, 'booked' as kind, t.merchant_id, t.transfer_id, t.currency,
               case when t.debit_account = any (${accounts}) then t.amount_minor else -t.amount_minor end as amount_minor,
               coalesce(t.value_date, (to_timestamp(t.made_at / 1000.0) at time zone 'UTC')::date) as day,
               (to_timestamp(t.made_at / 1000.0) at time zone 'UTC')::date as book_day,
               array_remove(${refs}, null) as refs,
               exists (select from matched_transfers m where m.account = ${outside.account} and m.merchant_id = t.merchant_id
                          and m.transfer_id = t.transfer_id) as is_matched,
               t.kind as what, null as rail_id, null as order_status, null::numeric as fee_minor
          from ${joins}
           and t.phase in ('post', 'direct') and t.kind <> all (${innerKinds(outside)})
           and (t.debit_account = any (${accounts})) <> (t.credit_account = any (${accounts}))) as i`
}

/** By transfers_outside_reference. */
function byOutsideReference(looked: Looked): Sql {
  return booked(
    looked,
    sql`transfers t where t.outside_reference = any (${looked.names})`,
    sql`array[t.outside_reference]`,
  )
}

const runPattern = /^[0-9a-f]{32}$/

/** By payouts_id and payouts_run: what is sent waits for the bank, and what was paid may come back. */
function payouts(looked: Looked): Sql[] {
  const { outside, names } = looked
  const runs = names.filter((name) => runPattern.test(name))
  const of = sql`payouts p
  join payout_runs r on r.run_id = p.run_id and r.bank_name = ${outside.bankName}`
  const named = sql`(p.payout_id = any (${names}) or p.run_id = any (${runs}::uuid[]))`
  const refs = sql`array[p.payout_id, replace(p.run_id::text, '-', '')]`
  const waiting = (kind: 'payout' | 'payout_return') => sql`
select ${shape.columns}
  from (select ${kind} || '/' || p.payout_id as key, ${kind}::text as kind, p.merchant_id, p.payout_id as transfer_id, p.currency,
               ${plainSql(kind === 'payout' ? '-p.amount_minor' : 'p.amount_minor')} as amount_minor,
               (to_timestamp(p.sent_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(p.sent_at / 1000.0) at time zone 'UTC')::date as book_day, ${refs} as refs, false as is_matched,
               ${kind}::text as what, null as rail_id, null as order_status, null::numeric as fee_minor
          from ${of}
         where ${named} and p.status = any (${kind === 'payout' ? ['sent'] : ['sent', 'paid']})) as i`
  return [
    waiting('payout'),
    waiting('payout_return'),
    booked(
      looked,
      sql`${of}
          join transfers t on t.merchant_id = p.merchant_id and t.hold_id = p.payout_id
         where ${named}`,
      refs,
    ),
    booked(
      looked,
      sql`${of}
          join transfers t on t.merchant_id = p.merchant_id and t.transfer_id = p.return_id
         where ${named}`,
      refs,
    ),
  ]
}

/** What rails will pay over to this bank account, and has not come. */
function batches({ outside, names }: Looked, lines: readonly KnownLine[]): Sql {
  const days = lines.map(({ day }) => day).toSorted()
  return sql`
select ${shape.columns}
  from (select 'batch/' || b.account || '/' || b.currency || '/' || b.batch as key, 'settlement' as kind, '' as merchant_id,
               b.batch as transfer_id, b.currency,
               (b.gross_minor - b.settled_gross) - (b.fee_minor - b.settled_fee) as amount_minor, b.last_day as day,
               b.last_day as book_day, array[b.batch] as refs, false as is_matched, 'rail_settlement' as what,
               split_part(b.account, ':', 2) as rail_id, null as order_status, b.fee_minor - b.settled_fee as fee_minor
          from rail_batches b
         where b.settles_to = ${outside.bankName} and (b.gross_minor, b.fee_minor) <> (b.settled_gross, b.settled_fee)
           and b.gross_minor - b.settled_gross > b.fee_minor - b.settled_fee
           and (b.batch = any (${names})
                or b.last_day between ${days[0] ?? null}::date - ${batchDays}::integer
                                  and ${days.at(-1) ?? null}::date + ${batchDays}::integer)) as i`
}

/** Payments by what the rail or we call them, their refunds, and money that came late. */
function railTransfers(looked: Looked): Sql[] {
  const { outside, names } = looked
  const attempts = sql`rail_attempts a`
  const named = sql`a.rail_id = ${outside.railId} and (a.transaction_id = any (${names}) or a.reference = any (${names}))`
  const refs = sql`array[a.transaction_id, a.reference]`
  return [
    booked(
      looked,
      sql`${attempts} join transfers t on t.merchant_id = a.merchant_id and t.hold_id = a.transaction_id where ${named}`,
      refs,
    ),
    booked(
      looked,
      sql`${attempts} join transfers t on t.merchant_id = a.merchant_id and t.transfer_id in (a.transaction_id, a.return_id)
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
         where r.refund_id = any (${names})`,
      sql`array[r.refund_id]`,
    ),
  ]
}

/** Bank transfers: orders that wait for money, refunds that wait to be sent, and what an operator recorded by hand. */
function transferEntries(looked: Looked): Sql[] {
  const { outside, names } = looked
  const rails = outside.transferRails
  return [
    sql`
select ${shape.columns}
  from (select distinct on (a.reference) 'transfer/' || a.reference as key, 'transfer' as kind, a.merchant_id,
               a.payment_id as transfer_id, a.currency, a.amount_minor,
               (to_timestamp(a.started_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(a.started_at / 1000.0) at time zone 'UTC')::date as book_day, array[a.reference] as refs,
               false as is_matched, 'transfer' as what, a.rail_id, o.status as order_status, null::numeric as fee_minor
          from rail_attempts a join orders o on o.merchant_id = a.merchant_id and o.payment_id = a.payment_id
         where a.rail_id = any (${rails}) and a.reference = any (${names})
         order by a.reference, a.started_at desc) as i`,
    sql`
select ${shape.columns}
  from (select 'refund/' || r.refund_id as key, 'refund' as kind, r.merchant_id, r.refund_id as transfer_id, r.currency,
               -r.amount_minor as amount_minor, (to_timestamp(r.created_at / 1000.0) at time zone 'UTC')::date as day,
               (to_timestamp(r.created_at / 1000.0) at time zone 'UTC')::date as book_day, array[r.refund_id] as refs,
               false as is_matched, 'refund' as what, o.rail_id, o.status as order_status, null::numeric as fee_minor
          from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
         where r.refund_id = any (${names}) and r.status = 'refunding' and o.rail_id = any (${rails})) as i`,
    entriesByReference(looked),
    booked(
      looked,
      sql`rail_attempts a
          join transfer_entries e on e.merchant_id = a.merchant_id and e.payment_id = a.payment_id and e.rail_id = a.rail_id
          join transfers t on t.merchant_id = e.merchant_id and t.transfer_id = e.transfer_id
         where a.rail_id = any (${rails}) and a.reference = any (${names})`,
      sql`array[a.reference, e.outside_reference]`,
    ),
    booked(
      looked,
      sql`transfer_entries e join transfers t on t.merchant_id = e.merchant_id and t.transfer_id = e.transfer_id
         where e.rail_id = any (${rails}) and e.refund_id = any (${names})`,
      sql`array[e.refund_id, e.outside_reference]`,
    ),
  ]
}

function entriesByReference(looked: Looked): Sql {
  return booked(
    looked,
    sql`transfer_entries e join transfers t on t.merchant_id = e.merchant_id and t.transfer_id = e.transfer_id
         where e.rail_id = any (${looked.outside.transferRails}) and e.outside_reference = any (${looked.names})`,
    sql`array[e.outside_reference]`,
  )
}

/** By transfers_outside_debit and _credit. */
function byAmount(looked: Looked, lines: readonly KnownLine[]): Sql {
  const { accounts } = looked
  const days = lines.map(({ day }) => Date.parse(`${day}T00:00:00Z`))
  const within = [Math.min(...days) - 4 * dayMs, Math.max(...days) + 5 * dayMs] as const
  const amounts = lines.map(({ amountMinor }) => (amountMinor < 0n ? -amountMinor : amountMinor).toString())
  const side = (column: 'debit_account' | 'credit_account') =>
    booked(
      looked,
      sql`transfers t
         where t.${plainSql(column)} = any (${accounts}) and (t.${plainSql(column)} like 'bank:%' or t.${plainSql(column)} like 'rail:%')
           and t.made_at between ${within[0]} and ${within[1]} and t.amount_minor = any (${amounts}::numeric[])`,
      sql`array[]::text[]`,
    )
  return sql`${unionAll([side('debit_account'), side('credit_account')])} limit ${maxByAmount}`
}
