// Imported statement files with their lines and balances, and CSV mappings. A file is unique by its hash, a line by
// its content. An import is one transaction.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { CsvMapping } from '../rules/csv.ts'
import type { Format } from '../rules/decode.ts'
import type { AccountSpan } from '../rules/file-summary.ts'
import type { AccountLine, FileBatch, FileMapping } from '../rules/statement-file.ts'
import { bookAt } from './days.ts'

export interface StatementImport {
  readonly importId: string
  readonly fileSha256: string
  readonly fileName: string
  readonly format: Format
  readonly mapping: string | undefined
  readonly lines: number
  /** Lines that an earlier file contained. */
  readonly known: number
  /** Not booked yet, or skipped by the mapping. */
  readonly skipped: number
  readonly accounts: readonly string[]
  readonly firstDay: string | undefined
  readonly lastDay: string | undefined
  readonly importedAtMs: number
}

/** For a rail: `settlesTo` is the bank account that receives its money. */
export interface SavedMapping extends FileMapping {
  readonly changedAtMs: number
}

export interface FileToImport {
  readonly spans: readonly AccountSpan[]
  readonly read: (
    put: (batch: Pick<FileBatch, 'lines' | 'balances'>) => Promise<void>,
  ) => Promise<Pick<StatementImport, 'skipped'>>
}

export type StatementStore = ReturnType<typeof makeStatementStore>

export function makeStatementStore(database: Pool) {
  return {
    /** Imports the whole file or nothing. Undefined if it was already imported. */
    importFile: (given: StatementImport, entry: AuditEntry, file: FileToImport) =>
      database.transaction((transaction) => importFile(transaction, { given, entry, file }), {
        statementTimeoutMs: 0,
      }),
    findByHash: (fileSha256: string) =>
      findImports(database, sql`file_sha256 = ${fileSha256}`).then(([found]) => found),
    findImport: (importId: string) =>
      findImports(database, sql`import_id = ${importId}`).then(([found]) => found),
    listImports: ({ before, limit }: { before?: string | undefined; limit: number }) =>
      findImports(
        database,
        sql`(${before ?? null}::uuid is null or import_id < ${before ?? null}::uuid) order by import_id desc limit ${limit}`,
      ),
    saveMapping: (mapping: SavedMapping, entry: AuditEntry) =>
      audited(database, entry, (transaction) => saveMapping(transaction, mapping)),
    listMappings: () => listMappings(database),
    listAccounts: () => listAccounts(database),
  }
}

export interface OutsideAccountRow {
  readonly account: string
  readonly currency: string
  readonly startDay: string
  readonly seenThrough: string
  readonly closedThrough: string | undefined
}

const importShape = rowShape<StatementImport>('import', {
  importId: 'import_id',
  fileSha256: 'file_sha256',
  fileName: 'file_name',
  format: 'format',
  mapping: 'mapping',
  lines: number('lines'),
  known: number('known'),
  skipped: number('skipped'),
  accounts: 'accounts',
  firstDay: 'first_day::text',
  lastDay: 'last_day::text',
  importedAtMs: number('imported_at'),
})

async function findImports(database: Queryable, where: ReturnType<typeof sql>): Promise<StatementImport[]> {
  const { rows } = await database.query(
    sql`select ${importShape.columns} from statement_imports where ${where}`,
  )
  return rows.map(importShape.read)
}

async function importFile(
  transaction: Queryable,
  { given, entry, file }: { given: StatementImport; entry: AuditEntry; file: FileToImport },
): Promise<StatementImport | undefined> {
  const { importId, importedAtMs } = given
  // Inserted first, so that a concurrent import of the same file waits here and then sees it.
  const { rowCount } = await transaction.query(sql`
insert into statement_imports (import_id, file_sha256, file_name, format, mapping, lines, known, skipped, accounts,
                               imported_at, audit_id)
values (${importId}, ${given.fileSha256}, ${given.fileName}, ${given.format}, ${given.mapping}, 0, 0, 0, '{}',
        ${importedAtMs}, ${entry.auditId})
    on conflict do nothing`)
  if (rowCount === 0) return undefined
  await openAccounts(transaction, file.spans)
  let lines = 0
  let inserted = 0
  const { skipped } = await file.read(async (batch) => {
    inserted += await putBatch(transaction, { importId, linesBefore: lines }, batch)
    lines += batch.lines.length
  })
  await transaction.query(sql`
update statement_imports
   set lines = ${inserted}, known = ${lines - inserted}, skipped = ${skipped}, accounts = f.accounts, first_day = f.first_day,
       last_day = f.last_day
  from (select coalesce(array_agg(distinct account order by account), '{}') as accounts, min(day) as first_day,
               max(day) as last_day
          from statement_lines where import_id = ${importId}) as f
 where import_id = ${importId}`)
  await insertAuditEntry(transaction, entry)
  return (await findImports(transaction, sql`import_id = ${importId}`))[0]
}

/** Returns how many lines are new. */
async function putBatch(
  transaction: Queryable,
  { importId, linesBefore }: { readonly importId: string; readonly linesBefore: number },
  { lines, balances }: Pick<FileBatch, 'lines' | 'balances'>,
): Promise<number> {
  if (lines.length + balances.length === 0) return 0
  await transaction.query(sql`
insert into statement_balances (account, currency, day, amount_minor)
select distinct on (account, currency, day) *
  from unnest(${balances.map(({ account }) => account)}::text[], ${balances.map(({ currency }) => currency)}::text[],
              ${balances.map(({ day }) => day)}::date[], ${balances.map(({ amountMinor }) => amountMinor.toString())}::numeric[])
    as b (account, currency, day, amount_minor)
    on conflict (account, currency, day) do update set amount_minor = excluded.amount_minor`)
  const { rows } = await transaction.query<{ line_id: string }>(sql`
insert into statement_lines (account, line_id, import_id, line_number, position, day, value_day, accounting_day, currency,
                             amount_minor, fee_minor, mark, refs, batch, is_return, party, description, party_iban)
select l.account, l.line_id, ${importId}, l.line_number, ${linesBefore} + l.position, l.day, l.value_day,
       greatest(l.day, a.closed_through + 1), l.currency, l.amount_minor, l.fee_minor, l.mark, string_to_array(l.refs, ' '),
       l.batch, l.is_return, l.party, l.description, l.party_iban
  from unnest(${lines.map(({ account }) => account)}::text[], ${lines.map(({ lineId }) => lineId)}::text[],
              ${lines.map(({ lineNumber }) => lineNumber)}::integer[], ${lines.map(({ day }) => day)}::date[],
              ${lines.map(({ valueDay }) => valueDay)}::date[], ${lines.map(({ currency }) => currency)}::text[],
              ${lines.map(({ amountMinor }) => amountMinor.toString())}::numeric[],
              ${lines.map(({ feeMinor }) => feeMinor.toString())}::numeric[], ${lines.map(({ mark }) => mark)}::text[],
              ${lines.map(({ references, entryReference }) => [...(entryReference === undefined ? [] : [entryReference.replace(/\s/g, '')]), ...references].join(' '))}::text[],
              ${lines.map(({ batch }) => batch ?? null)}::text[], ${lines.map(({ isReturn }) => isReturn)}::boolean[],
              ${lines.map(({ party }) => party ?? null)}::text[], ${lines.map(({ description }) => description ?? null)}::text[],
              ${lines.map(({ partyIban }) => partyIban ?? null)}::text[])
  with ordinality
    as l (account, line_id, line_number, day, value_day, currency, amount_minor, fee_minor, mark, refs, batch, is_return,
          party, description, party_iban, position)
  join outside_accounts a on a.account = l.account and a.currency = l.currency
    on conflict do nothing
returning line_id`)
  const fresh = new Set(rows.map((row) => row.line_id))
  await forgetDisputedIbans(
    transaction,
    lines.filter(({ lineId }) => !fresh.has(lineId)),
  )
  await addToBatches(
    transaction,
    lines.filter(({ lineId, settlesTo }) => settlesTo !== undefined && fresh.has(lineId)),
  )
  return fresh.size
}

/**
 * The counterparty's IBAN is no part of a line's identity: where two files differ, none of them is shown as true, also
 * where refunds of the transfer would be sent.
 */
async function forgetDisputedIbans(transaction: Queryable, known: readonly AccountLine[]): Promise<void> {
  if (known.length === 0) return
  const { rows } = await transaction.query<{ mark: string; party: string | null }>(sql`
update statement_lines l set party_iban = null
  from unnest(${known.map(({ account }) => account)}::text[], ${known.map(({ lineId }) => lineId)}::text[],
              ${known.map(({ partyIban }) => partyIban ?? null)}::text[]) as g (account, line_id, party_iban)
 where l.account = g.account and l.line_id = g.line_id and l.party_iban is not null
   and l.party_iban is distinct from g.party_iban
returning l.mark, l.party`)
  for (const { mark, party } of rows)
    await transaction.query(sql`
update transfer_entries set party = ${party} where upper(outside_reference) = upper(${mark}) and direction = 'in'`)
}

/** Records the books' balance at an account's first statement. A fixed order prevents deadlocks. */
async function openAccounts(transaction: Queryable, spans: readonly AccountSpan[]): Promise<void> {
  const keyOf = ({ account, currency }: AccountSpan) => `${account} ${currency}`
  for (const span of spans.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const { account, currency, from, through } = span
    const { rowCount } = await transaction.query(sql`
update outside_accounts set seen_through = greatest(seen_through, ${through}::date)
 where account = ${account} and currency = ${currency}`)
    if (rowCount > 0) continue
    const startMinor = await bookAt(transaction, { account, currency }, from)
    await transaction.query(sql`
insert into outside_accounts (account, currency, start_day, start_minor, seen_through)
values (${account}, ${currency}, ${from}, ${startMinor.toString()}, ${through})
    on conflict (account, currency) do update set seen_through = greatest(outside_accounts.seen_through, excluded.seen_through)`)
  }
}

async function addToBatches(transaction: Queryable, lines: readonly AccountLine[]): Promise<void> {
  await transaction.query(sql`
insert into rail_batches as b (account, currency, batch, settles_to, gross_minor, fee_minor, last_day)
select account, currency, batch, settles_to, sum(amount_minor), sum(fee_minor), max(day)
  from unnest(${lines.map(({ account }) => account)}::text[], ${lines.map(({ currency }) => currency)}::text[],
              ${lines.map(({ batch }) => batch ?? '')}::text[], ${lines.map(({ settlesTo }) => settlesTo ?? '')}::text[],
              ${lines.map(({ amountMinor }) => amountMinor.toString())}::numeric[],
              ${lines.map(({ feeMinor }) => feeMinor.toString())}::numeric[], ${lines.map(({ day }) => day)}::date[])
    as l (account, currency, batch, settles_to, amount_minor, fee_minor, day)
 group by account, currency, batch, settles_to
    on conflict (account, currency, batch) do update
   set gross_minor = b.gross_minor + excluded.gross_minor, fee_minor = b.fee_minor + excluded.fee_minor,
       last_day = greatest(b.last_day, excluded.last_day)`)
}

const mappingShape = rowShape<Omit<SavedMapping, 'columns'>>('mapping', {
  mappingName: 'mapping_name',
  account: 'account',
  settlesTo: 'settles_to',
  changedAtMs: number('changed_at'),
})

async function listMappings(database: Queryable): Promise<SavedMapping[]> {
  const { rows } = await database.query(sql`
select ${mappingShape.columns}, columns from statement_mappings order by mapping_name`)
  // Safe: only saveMapping writes it.
  return rows.map((row) => ({ ...mappingShape.read(row), columns: row['columns'] as CsvMapping }))
}

async function saveMapping(transaction: Queryable, mapping: SavedMapping): Promise<boolean> {
  const { mappingName, account, settlesTo, columns, changedAtMs } = mapping
  const { rowCount } = await transaction.query(sql`
insert into statement_mappings (mapping_name, account, settles_to, columns, changed_at)
values (${mappingName}, ${account}, ${settlesTo}, ${JSON.stringify(columns)}, ${changedAtMs})
    on conflict (mapping_name) do update
   set account = excluded.account, settles_to = excluded.settles_to, columns = excluded.columns,
       changed_at = excluded.changed_at`)
  return rowCount === 1
}

const accountShape = rowShape<OutsideAccountRow>('account', {
  account: 'account',
  currency: 'currency',
  startDay: 'start_day::text',
  seenThrough: 'seen_through::text',
  closedThrough: 'closed_through::text',
})

async function listAccounts(database: Queryable): Promise<OutsideAccountRow[]> {
  const { rows } = await database.query(sql`
select ${accountShape.columns} from outside_accounts order by account, currency`)
  return rows.map(accountShape.read)
}
