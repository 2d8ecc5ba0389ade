// The matcher's input and output: open lines, matches and breaks. Writers hold the account's lock; a line or transfer
// matched meanwhile, or a line that an operator is resolving, is skipped.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { insertAuditEntry } from '../../../core/audit/store/audit.ts'
import { accountKeyOf } from '../../../core/ledger/rules/transfer.ts'
import { listAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, type Sql, sql } from '../../../platform/database/sql.ts'
import type { BookItem, BreakKind, Rule } from '../rules/match.ts'
import type { KnownLine } from '../rules/statement.ts'
import { findByAmount, findByMarks, findNamed, innerKinds, isNoOpening } from './expected.ts'
import { listOutsideAccounts, type OutsideAccount } from './owners.ts'
import { recordRailSide } from './rail-side.ts'

export interface NewMatch {
  readonly matchId: string
  readonly rule: Rule
  readonly lineIds: readonly string[]
  readonly items: readonly BookItem[]
  /** The expected bookings before they were booked. */
  readonly awaited?: readonly BookItem[]
}

export interface NewBreak {
  readonly breakId: string
  readonly kind: BreakKind
  readonly currency: string
  /** The unexplained amount: outside less books. */
  readonly amountMinor: bigint
  readonly sizeMinor: bigint
  readonly day: string
  readonly lineId: string | undefined
  readonly item: BookItem | undefined
}

export interface Found {
  readonly account: string
  /** Lines with breaks, whose claims end with this pass. */
  readonly lineIds: readonly string[]
  readonly matches: readonly NewMatch[]
  readonly breaks: readonly NewBreak[]
  /** New states of existing breaks. */
  readonly changed?: readonly NewBreak[]
  readonly nowMs: number
  readonly entry?: AuditEntry | undefined
}

/** Pages are ordered by day, because matching items are close in time. */
export interface LinePage {
  readonly after: Pick<KnownLine, 'day' | 'lineId'> | undefined
  readonly limit: number
}

export type MatchingStore = ReturnType<typeof makeMatchingStore>

export function makeMatchingStore(database: Pool) {
  return {
    listOutsideAccounts: () => listOutsideAccounts(database),
    /** Lists the accounts of an owner such as `rail:transfer`, one for each currency. */
    listLedgerAccounts: (owner: string) => listAccounts(database, accountKeyOf(`${owner}:`)),
    /** New lines. Uses statement_lines_open. */
    listOpenLines: (account: string, page: LinePage) =>
      listLines(
        database,
        sql`account = ${account} and match_id is null and break_id is null and ${after(page)}`,
      ),
    /** Lines of open breaks that no operator is resolving. Uses statement_lines_broken. */
    listBrokenLines: (account: string, page: LinePage) =>
      listLines(
        database,
        sql`account = ${account} and break_id is not null and match_id is null
   and exists (select 1 from reconciliation_breaks b where b.break_id = l.break_id and (b.correction_id is null or ${isMatchers})) and ${after(page)}`,
      ),
    findNamed: (outside: OutsideAccount, lines: readonly KnownLine[]) =>
      findNamed(database, outside, { lines, currencies: currenciesOf(lines) }),
    /** Candidates by amount, for lines whose amount is unique. */
    findByAmount: (outside: OutsideAccount, lines: readonly KnownLine[]) =>
      findByAmount(database, outside, { lines, currencies: currenciesOf(lines) }),
    findByMarks: (outside: OutsideAccount, lines: readonly KnownLine[]) =>
      findByMarks(database, outside, {
        marks: lines.map(({ mark }) => mark),
        currencies: currenciesOf(lines),
      }),
    /**
     * Claims lines for booking, which excludes operators' resolutions. Returns those that an operator resolved or is
     * resolving.
     */
    claimLines: (account: string, lineIds: readonly string[]) =>
      database.transaction((transaction) => claimLines(transaction, account, lineIds)),
    record: (found: Found) => database.transaction((transaction) => recordFound(transaction, found)),
    listOverdue: (outside: OutsideAccount, overdue: { graceDays: number; limit: number }) =>
      listOverdue(database, outside, overdue),
    resolveEndedPayouts: (account: string, nowMs: number) => resolveEndedPayouts(database, account, nowMs),
    recordRailSide: (railId: string) =>
      database.transaction((transaction) => recordRailSide(transaction, railId)),
    accountsWithWork: () => accountsWithWork(database),
    /**
     * Autovacuum comes a minute after a large import. Until then PostgreSQL expects few lines of an account, and reads
     * all of them for each statement.
     */
    refreshStatistics: () => database.query('analyze statement_lines, reconciliation_breaks'),
  }
}

function after({ after: last, limit }: LinePage): Sql {
  return sql`(l.day, l.line_id) > (${last?.day ?? '0001-01-01'}::date, ${last?.lineId ?? ''}) order by l.day, l.line_id limit ${limit}`
}

function currenciesOf(lines: readonly KnownLine[]): string[] {
  return [...new Set(lines.map(({ currency }) => currency))]
}

export const lineShape = rowShape<KnownLine>('line', {
  lineId: 'l.line_id',
  lineNumber: number('l.line_number'),
  day: 'l.day::text',
  valueDay: 'l.value_day::text',
  currency: 'l.currency',
  amountMinor: bigint('l.amount_minor'),
  feeMinor: bigint('l.fee_minor'),
  mark: 'l.mark',
  // The bank's own reference, which may contain blanks, precedes the suffix that distinguishes lines.
  entryReference: "nullif(regexp_replace(l.mark, ' [0-9a-f]{12}$', ''), 'line')",
  references: 'l.refs',
  batch: 'l.batch',
  isReturn: 'l.is_return',
  party: 'l.party',
  description: 'l.description',
  partyIban: 'l.party_iban',
})

export async function listLines(database: Queryable, where: Sql): Promise<KnownLine[]> {
  const { rows } = await database.query(
    sql`select ${lineShape.columns} from statement_lines l where ${where}`,
  )
  return rows.map(lineShape.read)
}

/** The matcher claims a break with its line's ID, so that a later pass recognizes the claim after a crash. */
const isMatchers = plainSql("replace(b.correction_id::text, '-', '') = b.line_id")

async function claimLines(
  transaction: Queryable,
  account: string,
  lineIds: readonly string[],
): Promise<ReadonlySet<string>> {
  await lockAccount(transaction, account)
  await endClaims(transaction, account, lineIds)
  const taken = await lockLines(transaction, account, lineIds)
  await transaction.query(sql`
update reconciliation_breaks set correction_id = line_id::uuid
 where account = ${account} and line_id = any (${lineIds.filter((lineId) => !taken.has(lineId))}) and resolved_at is null`)
  return taken
}

async function endClaims(transaction: Queryable, account: string, lineIds: readonly string[]): Promise<void> {
  if (lineIds.length === 0) return
  await transaction.query(sql`
update reconciliation_breaks b set correction_id = null
 where b.account = ${account} and b.line_id = any (${lineIds}) and b.resolved_at is null and ${isMatchers}`)
}

/** Returns how many breaks are new. */
async function recordFound(
  transaction: Queryable,
  { account, lineIds, matches, breaks, changed = [], nowMs, entry }: Found,
): Promise<number> {
  await lockAccount(transaction, account)
  await endClaims(transaction, account, lineIds)
  const taken = await lockLines(transaction, account, [
    ...matches.flatMap(({ lineIds }) => lineIds),
    ...breaks.flatMap(({ lineId }) => lineId ?? []),
  ])
  const free = matches.filter(({ lineIds }) => !lineIds.some((lineId) => taken.has(lineId)))
  const rest = await insertMatches(transaction, { account, matches: free })
  await resolveMatched(transaction, { account, matches: rest, nowMs })
  const missing = await withoutMatched(transaction, account, breaks)
  const fresh = await insertBreaks(transaction, {
    account,
    nowMs,
    breaks: (await comparedOnce(transaction, { account, breaks: missing, nowMs })).filter(
      ({ lineId, kind }) => kind === 'late' || lineId === undefined || !taken.has(lineId),
    ),
  })
  await changeBreaks(transaction, account, changed)
  if (entry && fresh > 0) await insertAuditEntry(transaction, entry)
  return fresh
}

/**
 * Serializes passes, so that each sees the previous one's matches. Not the account's row, which an import holds until
 * its end.
 */
export async function lockAccount(transaction: Queryable, account: string): Promise<void> {
  await transaction.query(
    sql`select pg_advisory_xact_lock(hashtextextended(${`tillgate reconciliation ${account}`}, 0))`,
  )
}

/** A missing transfer may have been matched meanwhile. */
async function withoutMatched(
  transaction: Queryable,
  account: string,
  breaks: readonly NewBreak[],
): Promise<readonly NewBreak[]> {
  const items = breaks.flatMap(({ kind, item }) => (kind === 'missing_there' && item ? [item] : []))
  if (items.length === 0) return breaks
  const { rows } = await transaction.query<{ key: string }>(sql`
select merchant_id || '/' || transfer_id as key from matched_transfers
 where account = ${account} and (merchant_id, transfer_id) in (
       select * from unnest(${items.map(({ merchantId }) => merchantId)}::text[], ${items.map(({ transferId }) => transferId)}::text[]))`)
  const matched = new Set(rows.map(({ key }) => key))
  return breaks.filter(
    ({ kind, item }) => kind !== 'missing_there' || !matched.has(`${item?.merchantId}/${item?.transferId}`),
  )
}

/** A transfer is compared with one line only; further lines have no counterpart. */
async function comparedOnce(
  transaction: Queryable,
  { account, breaks, nowMs }: Pick<Found, 'account' | 'breaks' | 'nowMs'>,
): Promise<readonly NewBreak[]> {
  const items = breaks.flatMap(({ kind, item }) => (kind === 'amount_differs' && item ? [item] : []))
  if (items.length === 0) return breaks
  const named = sql`account = ${account} and resolved_at is null and (merchant_id, transfer_id) in (
       select * from unnest(${items.map(({ merchantId }) => merchantId)}::text[], ${items.map(({ transferId }) => transferId)}::text[]))`
  await transaction.query(sql`
update reconciliation_breaks
   set resolved_at = ${nowMs}, resolved_by = 'matching', resolution = 'matched', reason = 'it came, with another amount'
 where ${named} and kind = 'missing_there' and correction_id is null`)
  const { rows } = await transaction.query<{ key: string }>(sql`
select merchant_id || '/' || transfer_id as key from reconciliation_breaks where ${named} and kind in ('missing_there', 'amount_differs')`)
  const taken = new Set(rows.map(({ key }) => key))
  return breaks.map((each) => {
    const { kind, item } = each
    if (kind !== 'amount_differs' || !item) return each
    const key = `${item.merchantId}/${item.transferId}`
    if (!taken.has(key)) {
      taken.add(key)
      return each
    }
    const amountMinor = item.kind === 'booked' ? each.amountMinor + item.amountMinor : each.amountMinor
    const sizeMinor = amountMinor < 0n ? -amountMinor : amountMinor
    return { ...each, kind: 'missing_here', item: undefined, amountMinor, sizeMinor }
  })
}

/** Changes a break after news, such as a batch that grew, unless an operator is resolving it. */
async function changeBreaks(
  transaction: Queryable,
  account: string,
  changed: readonly NewBreak[],
): Promise<void> {
  if (changed.length === 0) return
  const { rows } = await transaction.query<{ line_id: string }>(sql`
select b.line_id
  from unnest(${changed.map(({ lineId }) => lineId)}::text[], ${changed.map(({ kind }) => kind)}::text[],
              ${changed.map(({ item }) => item?.transferId ?? null)}::text[],
              ${changed.map(({ item }) => (item?.kind === 'settlement' ? itemText(item) : null))}::jsonb[])
    as c (line_id, kind, transfer_id, batch)
 cross join lateral (
   select * from reconciliation_breaks o
    where o.account = ${account} and o.line_id = c.line_id and o.resolved_at is null
    limit 1) as b
 where b.correction_id is null and b.kind in ('missing_here', 'amount_differs', 'twice')
   and ((b.kind, b.transfer_id) is distinct from (c.kind, c.transfer_id) or c.batch <> b.item)`)
  const other = new Set(rows.map((row) => row.line_id))
  // One by one, because each must see the previous one's result; there are few.
  for (const each of changed)
    if (each.lineId !== undefined && other.has(each.lineId)) await changeBreak(transaction, account, each)
}

async function changeBreak(transaction: Queryable, account: string, of: NewBreak): Promise<void> {
  const { lineId, kind, amountMinor, sizeMinor, item } = of
  await transaction.query(sql`
update reconciliation_breaks b
   set kind = ${kind}, amount_minor = ${amountMinor.toString()}, size_minor = ${sizeMinor.toString()},
       merchant_id = ${item?.merchantId}, transfer_id = ${item?.transferId}, item = ${item ? itemText(item) : null}
 where b.account = ${account} and b.line_id = ${lineId} and b.resolved_at is null and b.correction_id is null
   and not exists (select 1 from reconciliation_breaks o
                    where o.account = b.account and o.merchant_id = ${item?.merchantId} and o.transfer_id = ${item?.transferId}
                      and o.resolved_at is null and o.break_id <> b.break_id)`)
}

/** Already matched, or being resolved by an operator. */
async function lockLines(
  transaction: Queryable,
  account: string,
  lineIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await transaction.query<{ line_id: string; match_id: string | null }>(sql`
select line_id, match_id from statement_lines
 where account = ${account} and line_id = any (${lineIds})
 order by line_id
   for update`)
  const { rows: broken } = await transaction.query<{ line_id: string; correction_id: string | null }>(sql`
select line_id, correction_id from reconciliation_breaks
 where account = ${account} and line_id = any (${lineIds}) and resolved_at is null
 order by break_id
   for update`)
  return new Set([
    ...rows.filter((row) => row.match_id !== null).map((row) => row.line_id),
    ...broken.filter((row) => row.correction_id !== null).map((row) => row.line_id),
  ])
}

/** Returns the matches created; one whose transfer is already matched is skipped. */
export async function insertMatches(
  transaction: Queryable,
  { account, matches }: Pick<Found, 'account' | 'matches'>,
): Promise<readonly NewMatch[]> {
  if (matches.length === 0) return []
  const pairs = matches.flatMap(({ matchId, items }) => items.map((item) => ({ matchId, item })))
  const { rows } = await transaction.query<{ match_id: string }>(sql`
insert into matched_transfers (account, merchant_id, transfer_id, match_id, currency, amount_minor, day)
select ${account}, * from unnest(${pairs.map(({ item }) => item.merchantId)}::text[],
  ${pairs.map(({ item }) => item.transferId)}::text[], ${pairs.map(({ matchId }) => matchId)}::uuid[],
  ${pairs.map(({ item }) => item.currency)}::text[], ${pairs.map(({ item }) => item.amountMinor.toString())}::numeric[],
  ${pairs.map(({ item }) => item.bookDay)}::date[])
    on conflict do nothing
returning match_id`)
  const made = Map.groupBy(rows, (row) => row.match_id)
  const whole = matches.filter(({ matchId, items }) => (made.get(matchId)?.length ?? 0) === items.length)
  const partly = matches
    .filter(({ matchId, items }) => (made.get(matchId)?.length ?? 0) !== items.length)
    .map(({ matchId }) => matchId)
  if (partly.length > 0)
    await transaction.query(sql`delete from matched_transfers where match_id = any (${partly}::uuid[])`)
  await transaction.query(sql`
insert into reconciliation_matches (match_id, account, rule)
select m.match_id, ${account}, m.rule
  from unnest(${whole.map(({ matchId }) => matchId)}::uuid[], ${whole.map(({ rule }) => rule)}::text[]) as m (match_id, rule)`)
  return whole
}

async function resolveMatched(
  transaction: Queryable,
  { account, matches, nowMs }: Pick<Found, 'account' | 'matches' | 'nowMs'>,
): Promise<void> {
  const lines = matches.flatMap(({ matchId, lineIds }) => lineIds.map((lineId) => ({ matchId, lineId })))
  await transaction.query(sql`
update statement_lines l set match_id = m.match_id, break_id = null
  from unnest(${lines.map(({ lineId }) => lineId)}::text[], ${lines.map(({ matchId }) => matchId)}::uuid[]) as m (line_id, match_id)
 where l.account = ${account} and l.line_id = m.line_id and l.line_id = any (${lines.map(({ lineId }) => lineId)})`)
  const items = matches.flatMap((each) => [...each.items, ...(each.awaited ?? [])])
  // A new line resolves the break even if an operator requested a correction, which would then have no line of its own.
  await transaction.query(sql`
update reconciliation_breaks b
   set resolved_at = ${nowMs}, resolved_by = 'matching', resolution = 'matched', reason = 'the other side came'
 where b.account = ${account} and b.resolved_at is null and b.kind <> 'late'
   and (b.line_id = any (${lines.map(({ lineId }) => lineId)})
        or (b.kind = 'missing_there'
            and (b.merchant_id, b.transfer_id) in (select * from unnest(${items.map(({ merchantId }) => merchantId)}::text[],
                                                                        ${items.map(({ transferId }) => transferId)}::text[]))))`)
}

async function insertBreaks(
  transaction: Queryable,
  { account, breaks, nowMs }: Pick<Found, 'account' | 'breaks' | 'nowMs'>,
): Promise<number> {
  if (breaks.length === 0) return 0
  const { rows } = await transaction.query<{ break_id: string; line_id: string | null }>(sql`
insert into reconciliation_breaks (break_id, account, currency, kind, amount_minor, size_minor, day, line_id, merchant_id,
                                   transfer_id, item, found_at)
select b.break_id, ${account}, b.currency, b.kind, b.amount_minor, b.size_minor, b.day, b.line_id, b.item->>'merchantId',
       b.item->>'transferId', b.item, ${nowMs}
  from unnest(${breaks.map(({ breakId }) => breakId)}::uuid[], ${breaks.map(({ currency }) => currency)}::text[],
              ${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ amountMinor }) => amountMinor.toString())}::numeric[],
              ${breaks.map(({ sizeMinor }) => sizeMinor.toString())}::numeric[], ${breaks.map(({ day }) => day)}::date[],
              ${breaks.map(({ lineId }) => lineId ?? null)}::text[], ${breaks.map(({ item }) => (item ? itemText(item) : null))}::jsonb[])
    as b (break_id, currency, kind, amount_minor, size_minor, day, line_id, item)
    on conflict do nothing
returning break_id, line_id`)
  const lineIds = rows.map((row) => row.line_id)
  await transaction.query(sql`
update statement_lines l set break_id = b.break_id
  from unnest(${lineIds}::text[], ${rows.map((row) => row.break_id)}::uuid[]) as b (line_id, break_id)
 where l.account = ${account} and l.line_id = b.line_id and l.line_id = any (${lineIds}) and l.match_id is null`)
  return rows.length
}

function itemText(item: BookItem): string {
  return JSON.stringify({
    ...item,
    amountMinor: item.amountMinor.toString(),
    feeMinor: item.feeMinor?.toString(),
  })
}

/** Transfers and expected bookings overdue by this many days. Uses transfers_outside_debit and _credit. */
async function listOverdue(
  database: Queryable,
  outside: OutsideAccount,
  { graceDays, limit }: { graceDays: number; limit: number },
): Promise<BookItem[]> {
  const { account, owners, bankName } = outside
  const { rows: windows } = await database.query<{
    currency: string
    from: string
    paid: string
    before: string
  }>(sql`
select currency, extract(epoch from greatest(start_day, closed_through - 35))::bigint * 1000 as from,
       extract(epoch from start_day)::bigint * 1000 as paid,
       extract(epoch from seen_through + 1 - ${graceDays}::integer)::bigint * 1000 as before
  from outside_accounts
 where account = ${account}`)
  const accounts = windows.flatMap((each) =>
    owners.map((owner) => ({ ...each, id: `${owner}:${each.currency}` })),
  )
  const side = (column: Sql, sign: Sql) => sql`
  select t.merchant_id, t.transfer_id, t.currency, ${sign} t.amount_minor as amount_minor, t.kind, t.made_at, 'booked' as item_kind
    from unnest(${accounts.map(({ id }) => id)}::text[], ${accounts.map(({ from }) => from)}::bigint[],
                ${accounts.map(({ before }) => before)}::bigint[]) as a (account_id, from_ms, before_ms)
    join transfers t on ${column} = a.account_id and t.made_at >= a.from_ms and t.made_at < a.before_ms
   where (${column} like 'bank:%' or ${column} like 'rail:%' or ${column} like 'disputes:%') and t.phase in ('post', 'direct')
     and t.kind not in ('rail_settlement', 'rail_fee') and t.kind <> all (${innerKinds(outside)}) and ${isNoOpening(outside)}`
  const { rows } = await database.query(sql`
with r as materialized (
  select r.run_id, a.from_ms, a.before_ms
    from unnest(${windows.map(({ currency }) => currency)}::text[], ${windows.map(({ paid }) => paid)}::bigint[],
                ${windows.map(({ before }) => before)}::bigint[]) as a (currency, from_ms, before_ms)
    join payout_runs r on r.currency = a.currency
   where r.bank_name = ${bankName ?? null} and r.sent_at is not null and r.ended_at is null
), i as materialized (
  ${side(sql`t.debit_account`, sql``)}
   union all
  ${side(sql`t.credit_account`, sql`-`)}
   union all
  select p.merchant_id, p.payout_id, p.currency, -p.amount_minor, 'payout', p.sent_at, 'payout'
    from r join payouts p on p.run_id = r.run_id and p.status = 'sent' and p.sent_at >= r.from_ms and p.sent_at < r.before_ms
)
select ${overdueShape.columns}
  from i
 where not exists (select 1 from matched_transfers m where m.account = ${account} and m.merchant_id = i.merchant_id
                      and m.transfer_id = i.transfer_id)
   and not exists (select 1 from reconciliation_breaks b where b.account = ${account} and b.merchant_id = i.merchant_id
                      and b.transfer_id = i.transfer_id
                      and (b.resolved_at is null and b.kind in ('missing_there', 'amount_differs') or b.resolution = 'accepted'))
 order by i.made_at, i.transfer_id
 limit ${limit}`)
  return rows.map(overdueShape.read).map((item) => ({ ...item, references: [], isMatched: false }))
}

const overdueShape = rowShape<Omit<BookItem, 'references' | 'isMatched' | 'railId' | 'feeMinor'>>('item', {
  key: "i.merchant_id || '/' || i.transfer_id",
  kind: 'i.item_kind',
  merchantId: 'i.merchant_id',
  transferId: 'i.transfer_id',
  currency: 'i.currency',
  amountMinor: bigint('i.amount_minor'),
  day: "(to_timestamp(i.made_at / 1000.0) at time zone 'UTC')::date::text",
  bookDay: "(to_timestamp(i.made_at / 1000.0) at time zone 'UTC')::date::text",
  what: 'i.kind',
})

/** A sent payout without a line has ended; its transfers are looked for separately. */
async function resolveEndedPayouts(database: Queryable, account: string, nowMs: number): Promise<void> {
  const { rows: missing } = await database.query<{
    break_id: string
    merchant_id: string
    transfer_id: string
  }>(sql`
select break_id, merchant_id, transfer_id from reconciliation_breaks
 where account = ${account} and resolved_at is null and kind = 'missing_there' and item->>'kind' = 'payout'`)
  if (missing.length === 0) return
  const { rows: sent } = await database.query<{ payout_id: string }>(sql`
select payout_id from payouts
 where merchant_id = any (${missing.map((row) => row.merchant_id)})
   and payout_id = any (${missing.map((row) => row.transfer_id)}) and status = 'sent'`)
  const waiting = new Set(sent.map((row) => row.payout_id))
  const over = missing.filter((row) => !waiting.has(row.transfer_id)).map((row) => row.break_id)
  await database.query(sql`
update reconciliation_breaks
   set resolved_at = ${nowMs}, resolved_by = 'matching', resolution = 'matched', reason = 'the payout came to its end'
 where break_id = any (${over}::uuid[]) and resolved_at is null`)
}

/** Accounts with new lines, or with breaks that are being resolved. */
async function accountsWithWork(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ account: string }>(sql`
select distinct account from statement_lines where match_id is null and break_id is null
 union
select account from reconciliation_breaks where resolved_at is null and correction_id is not null`)
  return rows.map((row) => row.account)
}
