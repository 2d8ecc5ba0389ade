// Breaks as a work list, and operators' changes: assign, note, resolve.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Transfer } from '../../../core/ledger/rules/transfer.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, type Sql, sql } from '../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../platform/database/transient.ts'
import { moveWithin } from '../../treasury/store/treasury.ts'
import type { Break, BreakNote, MatchedPair, Resolution } from '../rules/break.ts'
import type { BookItem, BreakKind, Rule } from '../rules/match.ts'
import type { KnownLine } from '../rules/statement.ts'
import { findByMarks } from './expected.ts'
import { insertMatches, lineShape, lockAccount, type NewMatch } from './matching.ts'
import { listOutsideAccounts } from './owners.ts'

export interface BreakFilter {
  readonly status: 'open' | 'resolved'
  readonly account?: string | undefined
  readonly kind?: BreakKind | undefined
  readonly owner?: string | undefined
}

export interface BreakResolution {
  /** As of the decision. A break that changed meanwhile rejects the resolution. */
  readonly breaks: readonly Pick<Break, 'breakId' | 'correctionId'>[]
  readonly resolution: Resolution
  readonly reason: string
  readonly by: string
  readonly account: string
  /** Undefined if the books are right as they are. */
  readonly matched?: NewMatch | undefined
}

export interface BreakBooking extends Omit<BreakResolution, 'matched'> {
  readonly transfers: readonly Transfer[]
  readonly matched: NewMatch
  readonly line: KnownLine
}

export type BreakStore = ReturnType<typeof makeBreakStore>

export function makeBreakStore(database: Pool) {
  return {
    findBreak: (breakId: string) => find(database, breakId),
    listNotes: (breakId: string) => listNotes(database, breakId),
    listBreaks: (filter: BreakFilter, page: { skip: number; limit: number }) => list(database, filter, page),
    countOpen: () => countOpen(database),
    listBeingResolved: (account: string) =>
      findBreaks(
        database,
        sql`b.resolved_at is null and b.correction_id is not null and b.account = ${account} order by b.break_id limit 1000`,
      ),
    assign: (breakId: string, owner: string | undefined, entry: AuditEntry) =>
      audited(database, entry, (transaction) => assign(transaction, breakId, owner)),
    addNote: (note: BreakNote & { breakId: string }, entry: AuditEntry) =>
      audited(database, entry, (transaction) => addNote(transaction, note)),
    /** False if the break is resolved or another action is resolving it. */
    beginResolving: (
      breakId: string,
      {
        correctionId,
        before,
        entry,
      }: { correctionId: string; before: string | undefined; entry: AuditEntry },
    ) =>
      audited(database, entry, (transaction) =>
        beginResolving(transaction, breakId, { correctionId, before }),
      ),
    /** The action failed, so the break is open again. */
    release: (breakId: string, given: { correctionId: string; begunBeforeMs?: number }) =>
      release(database, breakId, given),
    /** False if another resolution came first; nothing was done. */
    resolve: (resolution: BreakResolution, entry: AuditEntry | undefined, nowMs: number) =>
      database
        .transaction((transaction) => resolve(transaction, resolution, { entry, nowMs }))
        .catch((error: unknown) => {
          if (error instanceof ResolvedMeanwhile) return false
          throw error
        }),
    /** Books and resolves together. `taken`: another action is resolving or has resolved the break. */
    bookOwn: (booking: BreakBooking, entry: AuditEntry) => bookOwn(database, booking, entry),
    /** The transfer of a correction by its action, from the outside account's perspective. */
    findCorrection: (auditId: string, owners: readonly string[]) => findCorrection(database, auditId, owners),
    /** The transfer into suspense that resolved it. */
    findParked: (breakId: string) => findParked(database, breakId),
    /** Parked money that is still in suspense, newest first. */
    listParked: (limit: number) => listParked(database, limit),
    findSuppliers: ({ account, lineId }: Pick<Break, 'account' | 'lineId'>) =>
      findSuppliers(database, account, lineId),
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
  correctionId: 'b.correction_id',
  resolvedAtMs: number('b.resolved_at'),
  resolvedBy: 'b.resolved_by',
  resolution: 'b.resolution',
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

function itemOf(stored: unknown): BookItem | undefined {
  if (stored === null) return undefined
  // Safe: only the matcher writes it, with amounts as text.
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

/** Oldest first, and within a day the largest; resolved ones newest first. */
async function list(
  database: Queryable,
  filter: BreakFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<Break[]> {
  const { status, account, kind, owner } = filter
  const wanted = allOf([
    status === 'open' ? sql`b.resolved_at is null` : sql`b.resolved_at is not null`,
    account !== undefined && sql`b.account = ${account}`,
    kind !== undefined && sql`b.kind = ${kind}`,
    owner !== undefined && sql`b.owner = ${owner}`,
  ])
  const order =
    status === 'open' ? sql`b.day, b.size_minor desc, b.break_id` : sql`b.resolved_at desc, b.break_id`
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
select ${countShape.columns} from reconciliation_breaks where resolved_at is null group by account, currency, kind order by 1, 2, 3`)
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
update reconciliation_breaks set owner = ${owner} where break_id = ${breakId} and resolved_at is null`)
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

async function beginResolving(
  transaction: Queryable,
  breakId: string,
  { correctionId, before }: { correctionId: string; before: string | undefined },
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update reconciliation_breaks set correction_id = ${correctionId}
 where break_id = ${breakId} and resolved_at is null and correction_id is not distinct from ${before ?? null}::uuid`)
  return rowCount === 1
}

async function release(
  database: Queryable,
  breakId: string,
  { correctionId, begunBeforeMs }: { correctionId: string; begunBeforeMs?: number },
): Promise<void> {
  await database.query(sql`
update reconciliation_breaks set correction_id = null
 where break_id = ${breakId} and resolved_at is null and correction_id = ${correctionId}
   and not exists (select 1 from audit
                    where subject = ${breakId} and acted_at >= ${begunBeforeMs ?? null}
                      and act in ('reconcile.confirm', 'reconcile.write-off'))`)
}

class ResolvedMeanwhile extends Error {}
class TooLittle extends Error {}

async function bookOwn(
  database: Pool,
  booking: BreakBooking,
  entry: AuditEntry,
): Promise<'done' | 'taken' | 'insufficient_funds' | 'unknown'> {
  try {
    await database.transaction(async (transaction) => {
      await resolve(
        transaction,
        { ...booking, matched: undefined },
        { entry: undefined, nowMs: entry.actedAtMs },
      )
      await checkNotBooked(transaction, booking)
      if (!(await moveWithin(transaction, booking.transfers))) throw new TooLittle('too little money')
      await matchResolved(transaction, booking)
      await insertAuditEntry(transaction, entry)
    })
    return 'done'
  } catch (error) {
    if (error instanceof CommitUnknown) return 'unknown'
    if (error instanceof ResolvedMeanwhile) return 'taken'
    if (error instanceof TooLittle) return 'insufficient_funds'
    throw error
  }
}

/** A crashed pass may have booked the line without its match, which the next pass records. */
async function checkNotBooked(transaction: Queryable, { account, line }: BreakBooking): Promise<void> {
  const outside = (await listOutsideAccounts(transaction)).find((each) => each.account === account)
  if (!outside) throw new Error('a break is of an outside account')
  const { mark, currency, amountMinor } = line
  const booked = await findByMarks(transaction, outside, { marks: [mark], currencies: [currency] })
  const minor = booked.map((item) => item.amountMinor)
  if (minor.includes(amountMinor) || minor.reduce((sum, each) => sum + each, 0n) === amountMinor)
    throw new ResolvedMeanwhile('the books have this line')
}

async function matchResolved(
  transaction: Queryable,
  { account, matched, line }: BreakBooking,
): Promise<void> {
  const made = await insertMatches(transaction, { account, matches: [matched] })
  if (made.length === 0) throw new ResolvedMeanwhile('its transfer was matched meanwhile')
  const { rowCount } = await transaction.query(sql`
update statement_lines set match_id = ${matched.matchId}
 where account = ${account} and line_id = ${line.lineId} and match_id is null`)
  if (rowCount !== 1) throw new ResolvedMeanwhile('the line was matched meanwhile')
}

async function resolve(
  transaction: Queryable,
  { breaks, resolution, reason, by, account, matched }: BreakResolution,
  { entry, nowMs }: { entry: AuditEntry | undefined; nowMs: number },
): Promise<boolean> {
  await lockAccount(transaction, account)
  const { rows } = await transaction.query<{ line_id: string | null }>(sql`
update reconciliation_breaks b
   set resolved_at = ${nowMs}, resolved_by = ${by}, resolution = ${resolution}, reason = ${reason}
  from unnest(${breaks.map(({ breakId }) => breakId)}::uuid[], ${breaks.map(({ correctionId }) => correctionId ?? null)}::uuid[])
    as d (break_id, correction_id)
 where b.break_id = d.break_id and b.resolved_at is null and b.correction_id is not distinct from d.correction_id
returning b.line_id`)
  if (rows.length !== breaks.length) throw new ResolvedMeanwhile('one of them was settled meanwhile')
  const made = matched ? await insertMatches(transaction, { account, matches: [matched] }) : []
  if (matched && made.length === 0) throw new ResolvedMeanwhile('its transfer was matched meanwhile')
  await transaction.query(sql`
update statement_lines set break_id = null, match_id = coalesce(match_id, ${matched?.matchId ?? null}::uuid)
 where account = ${account} and line_id = any (${rows.flatMap((row) => row.line_id ?? [])})`)
  if (entry) await insertAuditEntry(transaction, entry)
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

async function findParked(database: Queryable, breakId: string): Promise<string | undefined> {
  const { rows } = await database.query<{ transfer_id: string }>(sql`
select m.transfer_id
  from reconciliation_breaks b
  join statement_lines l on l.account = b.account and l.line_id = b.line_id
  join matched_transfers m on m.match_id = l.match_id
 where b.break_id = ${breakId}`)
  return rows[0]?.transfer_id
}

export interface ParkedMoney extends Pick<KnownLine, 'party' | 'partyIban' | 'description'> {
  readonly breakId: string
  readonly transferId: string
  readonly currency: string
  /** What corrections left of it. */
  readonly leftMinor: bigint
  readonly parkedAtMs: number
}

const parkedShape = rowShape<ParkedMoney>('parked', {
  breakId: 'b.break_id',
  transferId: 'm.transfer_id',
  currency: 'b.currency',
  leftMinor: bigint('m.amount_minor'),
  parkedAtMs: number('b.resolved_at'),
  party: 'l.party',
  partyIban: 'l.party_iban',
  description: 'l.description',
})

/** Past money that has moved on, however much of it is newer than what is left. */
async function listParked(database: Queryable, limit: number): Promise<ParkedMoney[]> {
  const left: ParkedMoney[] = []
  for (let skip = 0; left.length < limit; skip += limit) {
    const page = await readParked(database, { skip, limit })
    left.push(...page.filter(({ leftMinor }) => leftMinor > 0n))
    if (page.length < limit) break
  }
  return left.slice(0, limit)
}

/** Two statements, because corrections are in a table that a cluster distributes. Parked money has no merchant. */
async function readParked(
  database: Queryable,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): Promise<ParkedMoney[]> {
  const { rows } = await database.query(sql`
select ${parkedShape.columns}
  from reconciliation_breaks b
  join statement_lines l on l.account = b.account and l.line_id = b.line_id
  join matched_transfers m on m.match_id = l.match_id
 where b.resolved_at is not null and b.resolution = 'parked'
 order by b.resolved_at desc, b.break_id
offset ${skip} limit ${limit}`)
  const parked = rows.map(parkedShape.read)
  const { rows: corrected } = await database.query<{ transfer_id: string; minor: string }>(sql`
select transfer_id, corrected_minor::text as minor from corrected_transfers
 where merchant_id = '' and transfer_id = any (${parked.map(({ transferId }) => transferId)})`)
  const gone = new Map(corrected.map((row) => [row.transfer_id, BigInt(row.minor)]))
  return parked.map((each) => ({ ...each, leftMinor: each.leftMinor - (gone.get(each.transferId) ?? 0n) }))
}

/** Who supplied a line, as in the audit log. */
export interface Suppliers {
  /** Undefined if no file contained the line. */
  readonly importedBy: string | undefined
  /** Who saved the mapping of its CSV file last, which decides what the line says. */
  readonly mappedBy: string | undefined
}

async function findSuppliers(
  database: Queryable,
  account: string,
  lineId: string | undefined,
): Promise<Suppliers> {
  const { rows } = await database.query<{ imported_by: string; mapped_by: string | null }>(sql`
select a.actor as imported_by, m.actor as mapped_by
  from statement_lines l
  join statement_imports i on i.import_id = l.import_id
  join audit a on a.audit_id = i.audit_id
  left join statement_mappings s on s.mapping_name = i.mapping
  left join audit m on m.acted_at = s.changed_at and m.act = 'reconcile.mapping' and m.subject = s.mapping_name
 where l.account = ${account} and l.line_id = ${lineId}`)
  return { importedBy: rows[0]?.imported_by, mappedBy: rows[0]?.mapped_by ?? undefined }
}

/** A file's lines in file order with the rule of each match. */
async function listMatches(
  database: Queryable,
  importId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<MatchedPair[]> {
  const { rows } = await database.query(sql`
select ${lineShape.columns}, l.account, m.rule, l.break_id
  from statement_lines l left join reconciliation_matches m on m.match_id = l.match_id
 where l.import_id = ${importId}
 order by l.position offset ${skip} limit ${limit}`)
  return rows.map((row) => ({
    ...lineShape.read(row),
    account: String(row['account']),
    // Safe: a rule that the matcher wrote, or null.
    rule: (row['rule'] ?? undefined) as Rule | undefined,
    breakId: (row['break_id'] ?? undefined) as string | undefined,
  }))
}
