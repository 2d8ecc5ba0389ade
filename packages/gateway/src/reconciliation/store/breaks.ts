// Breaks as a work list, and what operators do with them: take one on, note something, settle it.
import type { Pool, Queryable } from '../../database/pool.ts'
import { bigint, number, rowShape } from '../../database/row-shape.ts'
import { allOf, type Sql, sql } from '../../database/sql.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited, insertAct } from '../../operators/store/audit.ts'
import type { Break, BreakNote, MatchedPair, Settlement } from '../rules/break.ts'
import type { BookItem, BreakKind, Rule } from '../rules/match.ts'
import { insertMatches, lineShape, lockAccount, type NewMatch } from './matching.ts'

export interface BreakFilter {
  readonly status: 'open' | 'settled'
  readonly account?: string | undefined
  readonly kind?: BreakKind | undefined
  readonly owner?: string | undefined
}

/** How one is settled, as one change. */
export interface Settling {
  /** As they were when that was decided: what settles one of them meanwhile goes before. */
  readonly breaks: readonly Pick<Break, 'breakId' | 'actId'>[]
  readonly settlement: Settlement
  readonly reason: string
  readonly by: string
  readonly account: string
  /** What belongs together by it; none where the books are right as they are. */
  readonly matched?: NewMatch | undefined
}

export type BreakStore = ReturnType<typeof makeBreakStore>

export function makeBreakStore(database: Pool) {
  return {
    findBreak: (breakId: string) => find(database, breakId),
    listNotes: (breakId: string) => listNotes(database, breakId),
    listBreaks: (filter: BreakFilter, page: { skip: number; limit: number }) => list(database, filter, page),
    countOpen: () => countOpen(database),
    listSettling: (account: string) =>
      findBreaks(
        database,
        sql`b.settled_at is null and b.act_id is not null and b.account = ${account} order by b.break_id limit 1000`,
      ),
    assign: (breakId: string, owner: string | undefined, act: Act) =>
      audited(database, act, (transaction) => assign(transaction, breakId, owner)),
    addNote: (note: BreakNote & { breakId: string }, act: Act) =>
      audited(database, act, (transaction) => addNote(transaction, note)),
    /** False: it is settled, or somebody settles it by another act that is not over. */
    beginSettling: (
      breakId: string,
      { actId, before, act }: { actId: string; before: string | undefined; act: Act },
    ) => audited(database, act, (transaction) => beginSettling(transaction, breakId, { actId, before })),
    /** What was to settle it came to nothing. */
    release: (breakId: string, given: { actId: string; begunBeforeMs?: number }) =>
      release(database, breakId, given),
    /** False: another was quicker, and nothing was done. */
    settle: (settling: Settling, act: Act | undefined, nowMs: number) =>
      database
        .transaction((transaction) => settle(transaction, settling, { act, nowMs }))
        .catch((error: unknown) => {
          if (error instanceof SettledMeanwhile) return false
          throw error
        }),
    /** The transfer of a correction, by its act, as the outside account sees it. */
    findCorrection: (auditId: string, owners: readonly string[]) => findCorrection(database, auditId, owners),
    listMatches: (importId: string, page: { skip: number; limit: number }) =>
      listMatches(database, importId, page),
  }
}

const shape = rowShape<Omit<Break, 'item' | 'line'>>('break', {
  breakId: 'b.break_id',
  account: 'b.account',
  currency: 'b.currency',
  kind: 'b.kind',
  amountMinor: bigint('b.amount_minor'),
  sizeMinor: bigint('b.size_minor'),
  day: 'b.day::text',
  lineId: 'b.line_id',
  foundAtMs: number('b.found_at'),
  owner: 'b.owner',
  actId: 'b.act_id',
  settledAtMs: number('b.settled_at'),
  settledBy: 'b.settled_by',
  settlement: 'b.settlement',
  reason: 'b.reason',
})

async function findBreaks(database: Queryable, where: Sql): Promise<Break[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}, ${lineShape.columns}, b.item
  from reconciliation_breaks b
  left join statement_lines l on l.account = b.account and l.line_id = b.line_id
 where ${where}`)
  return rows.map((row) => {
    const line = lineShape.read(row)
    return {
      ...shape.read(row),
      line: line.lineId === undefined ? undefined : line,
      item: itemOf(row['item']),
    }
  })
}

/** As it was written with the break. */
function itemOf(stored: unknown): BookItem | undefined {
  if (stored === null) return undefined
  // Safe: written by the matcher alone, amounts as text.
  const item = stored as Omit<BookItem, 'amountMinor' | 'feeMinor'> & {
    amountMinor: string
    feeMinor?: string
  }
  return {
    ...item,
    amountMinor: BigInt(item.amountMinor),
    feeMinor: item.feeMinor === undefined ? undefined : BigInt(item.feeMinor),
  }
}

async function find(database: Queryable, breakId: string): Promise<Break | undefined> {
  return (await findBreaks(database, sql`b.break_id = ${breakId}`))[0]
}

/** The oldest first, and of a day the largest; the newest first of those that are settled. */
async function list(
  database: Queryable,
  filter: BreakFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<Break[]> {
  const { status, account, kind, owner } = filter
  const wanted = allOf([
    status === 'open' ? sql`b.settled_at is null` : sql`b.settled_at is not null`,
    account !== undefined && sql`b.account = ${account}`,
    kind !== undefined && sql`b.kind = ${kind}`,
    owner !== undefined && sql`b.owner = ${owner}`,
  ])
  const order =
    status === 'open' ? sql`b.day, b.size_minor desc, b.break_id` : sql`b.settled_at desc, b.break_id`
  return findBreaks(database, sql`${wanted} order by ${order} offset ${skip} limit ${limit}`)
}

export interface OpenBreaks {
  readonly account: string
  readonly currency: string
  readonly kind: BreakKind
  readonly breaks: number
}

const countShape = rowShape<OpenBreaks>('open', {
  account: 'account',
  currency: 'currency',
  kind: 'kind',
  breaks: number('count(*)'),
})

async function countOpen(database: Queryable): Promise<OpenBreaks[]> {
  const { rows } = await database.query(sql`
select ${countShape.columns} from reconciliation_breaks where settled_at is null group by account, currency, kind order by 1, 2, 3`)
  return rows.map(countShape.read)
}

const noteShape = rowShape<BreakNote>('note', {
  noteId: 'note_id',
  actor: 'actor',
  notedAtMs: number('noted_at'),
  text: 'text',
})

async function listNotes(database: Queryable, breakId: string): Promise<BreakNote[]> {
  const { rows } = await database.query(sql`
select ${noteShape.columns} from break_notes where break_id = ${breakId} order by noted_at, note_id`)
  return rows.map(noteShape.read)
}

async function assign(transaction: Queryable, breakId: string, owner: string | undefined): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update reconciliation_breaks set owner = ${owner} where break_id = ${breakId} and settled_at is null`)
  return rowCount === 1
}

async function addNote(
  transaction: Queryable,
  { breakId, noteId, actor, notedAtMs, text }: BreakNote & { breakId: string },
): Promise<boolean> {
  await transaction.query(sql`
insert into break_notes (break_id, note_id, actor, noted_at, text) values (${breakId}, ${noteId}, ${actor}, ${notedAtMs}, ${text})`)
  return true
}

async function beginSettling(
  transaction: Queryable,
  breakId: string,
  { actId, before }: { actId: string; before: string | undefined },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update reconciliation_breaks set act_id = ${actId}
 where break_id = ${breakId} and settled_at is null and act_id is not distinct from ${before ?? null}::uuid`)
  return rowCount === 1
}

async function release(
  database: Queryable,
  breakId: string,
  { actId, begunBeforeMs }: { actId: string; begunBeforeMs?: number },
): Promise<void> {
  await database.query(sql`
update reconciliation_breaks set act_id = null
 where break_id = ${breakId} and settled_at is null and act_id = ${actId}
   and not exists (select 1 from audit
                    where subject = ${breakId} and acted_at >= ${begunBeforeMs ?? null}
                      and act in ('reconcile.confirm', 'reconcile.write-off'))`)
}

class SettledMeanwhile extends Error {}

async function settle(
  transaction: Queryable,
  { breaks, settlement, reason, by, account, matched }: Settling,
  { act, nowMs }: { act: Act | undefined; nowMs: number },
): Promise<boolean> {
  await lockAccount(transaction, account)
  const { rows } = await transaction.query<{ line_id: string | null }>(sql`
update reconciliation_breaks b
   set settled_at = ${nowMs}, settled_by = ${by}, settlement = ${settlement}, reason = ${reason}
  from unnest(${breaks.map(({ breakId }) => breakId)}::uuid[], ${breaks.map(({ actId }) => actId ?? null)}::uuid[])
    as d (break_id, act_id)
 where b.break_id = d.break_id and b.settled_at is null and b.act_id is not distinct from d.act_id
returning b.line_id`)
  if (rows.length !== breaks.length) throw new SettledMeanwhile('one of them was settled meanwhile')
  const made = matched ? await insertMatches(transaction, { account, matches: [matched], nowMs }) : []
  if (matched && made.length === 0) throw new SettledMeanwhile('its transfer was matched meanwhile')
  await transaction.query(sql`
update statement_lines set break_id = null, match_id = coalesce(match_id, ${matched?.matchId ?? null}::uuid)
 where account = ${account} and line_id = any (${rows.flatMap((row) => row.line_id ?? [])})`)
  if (act) await insertAct(transaction, act)
  return true
}

async function findCorrection(
  database: Queryable,
  auditId: string,
  owners: readonly string[],
): Promise<BookItem | undefined> {
  const { rows } = await database.query<{
    merchant_id: string
    transfer_id: string
    currency: string
    minor: string
    day: string
  }>(sql`
select t.merchant_id, t.transfer_id, t.currency,
       case when split_part(t.debit_account, ':', 1) || ':' || split_part(t.debit_account, ':', 2) = any (${owners})
            then t.amount_minor else -t.amount_minor end as minor,
       (to_timestamp(t.made_at / 1000.0) at time zone 'UTC')::date::text as day
  from transfers t
 where t.kind = 'correction' and t.audit_id = ${auditId}`)
  const [row] = rows
  if (!row) return undefined
  const { merchant_id: merchantId, transfer_id: transferId, currency, minor, day } = row
  const key = `${merchantId}/${transferId}`
  return {
    key,
    kind: 'booked',
    merchantId,
    transferId,
    currency,
    amountMinor: BigInt(minor),
    day,
    bookDay: day,
    references: [],
    isMatched: false,
    what: 'correction',
  }
}

/** Lines of a file in their order, with the rule by which each was matched. Many may stand in one line of an XML file. */
async function listMatches(
  database: Queryable,
  importId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<MatchedPair[]> {
  const { rows } = await database.query(sql`
select ${lineShape.columns}, l.account, m.rule, l.break_id
  from statement_lines l left join reconciliation_matches m on m.match_id = l.match_id
 where l.import_id = ${importId}
 order by l.line_number, l.day, l.line_id offset ${skip} limit ${limit}`)
  return rows.map((row) => ({
    ...lineShape.read(row),
    account: String(row['account']),
    // Safe: a rule that the matcher wrote, or null.
    rule: (row['rule'] ?? undefined) as Rule | undefined,
    breakId: (row['break_id'] ?? undefined) as string | undefined,
  }))
}
