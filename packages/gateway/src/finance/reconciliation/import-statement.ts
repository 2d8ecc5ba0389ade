// Imports a statement: one read reports all errors before any lock is taken, and a second one writes everything or
// nothing. Matching follows.

import { Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { dayAfter, utcDay } from '../../platform/runtime/utc.ts'
import { addCounts, type MatchLines, nothingFound, type PassCounts } from './match-lines.ts'
import { readHere, type StatementFile, type StatementFiles } from './read-file.ts'
import type { ReportBreaks } from './report-breaks.ts'
import type { FileSummary } from './rules/file-summary.ts'
import type { FileGiven } from './rules/statement-file.ts'
import type { MatchingStore } from './store/matching.ts'
import type { SavedMapping, StatementImport, StatementStore } from './store/statements.ts'

export interface ImportGiven {
  readonly file: StatementFile
  readonly mapping?: string | undefined
  /** For a file that names no known account. */
  readonly account?: string | undefined
  readonly reason?: string | undefined
}

export interface ImportStatementParts extends ClockAndRandom {
  readonly statements: StatementStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts'>
  readonly matchLines: MatchLines
  readonly reportBreaks: ReportBreaks
  /** If omitted, files are read on the calling thread. */
  readonly statementFiles?: StatementFiles
}

export interface ImportOutcome {
  readonly statement: StatementImport
  /** The file was already imported: nothing was written, and the remaining lines were matched. */
  readonly isRepeated: boolean
  readonly counts: PassCounts
}

/** Banks in the east are a day ahead of UTC. */
const maxDaysAhead = 2

export type ImportStatement = ReturnType<typeof makeImportStatement>['importStatement']

export function makeImportStatement(parts: ImportStatementParts) {
  const { statements, matching, matchLines, reportBreaks, clock, random, statementFiles = readHere } = parts

  return {
    /** Writes nothing. */
    dryRun: async (_context: AnyContext, { file, ...given }: ImportGiven): Promise<FileSummary> =>
      (await statementFiles.inspect(file, await givenFor(given))).summary,

    async importStatement(context: AnyContext, given: ImportGiven): Promise<ImportOutcome> {
      const by = await givenFor(given)
      const { mapping } = by
      const { summary, sha256, spans } = await statementFiles.inspect(given.file, by)
      // Announced rail settlements may match the bank account's lines.
      const others = mapping?.settlesTo === undefined ? [] : [`bank:${mapping.settlesTo}`]
      // Includes accounts without new lines, because their expected bookings may be overdue by now.
      const accounts = new Set([...spans.map((span) => span.account), ...others])
      const known = await statements.findByHash(sha256)
      // A crash may have interrupted the first import's matching.
      if (known) return { statement: known, isRepeated: true, counts: await matchAll(context, accounts) }
      const importId = makeUuid(clock.now(), random)
      const entry = makeAuditEntry(parts, context, 'reconcile.import', importId, { reason: given.reason })
      const { name } = given.file
      const statement = await statements.importFile(
        {
          importId,
          fileSha256: sha256,
          fileName: name.slice(0, 200),
          format: summary.format,
          mapping: mapping?.mappingName,
          lines: 0,
          known: 0,
          skipped: 0,
          accounts: [],
          firstDay: undefined,
          lastDay: undefined,
          importedAtMs: entry.actedAtMs,
        },
        entry,
        {
          spans,
          async read(put) {
            const read = await statementFiles.batches(given.file, by, put)
            if (read.sha256 !== sha256)
              throw wrong('file', 'The file changed while it was read. Import it again.')
            return read
          },
        },
      )
      // A concurrent request imported the same file.
      if (!statement)
        return {
          statement: found(await statements.findByHash(sha256)),
          isRepeated: true,
          counts: nothingFound,
        }
      return { statement, isRepeated: false, counts: await matchAll(context, accounts) }
    },
  }

  async function matchAll(context: AnyContext, accounts: Iterable<string>): Promise<PassCounts> {
    let counts = nothingFound
    const withBreaks: string[] = []
    for (const account of accounts) {
      const found = await matchLines(context, account)
      counts = addCounts(counts, found)
      if (found.breaks > 0) withBreaks.push(account)
    }
    await reportBreaks(withBreaks, counts)
    return counts
  }

  async function givenFor(given: Omit<ImportGiven, 'file'>): Promise<FileGiven> {
    const mapping = await mappingOf(given)
    const accounts = (await matching.listOutsideAccounts()).map(({ account, iban, number, currency }) => ({
      account,
      iban,
      number,
      currency,
    }))
    const today = utcDay(clock.now())
    return { mapping, account: given.account, accounts, lastDay: dayAfter(today, maxDaysAhead) }
  }

  async function mappingOf({
    mapping: name,
    account,
  }: Omit<ImportGiven, 'file'>): Promise<SavedMapping | undefined> {
    if (name === undefined) return undefined
    const mapping = (await statements.listMappings()).find(({ mappingName }) => mappingName === name)
    if (!mapping) throw wrong('mapping', `Mapping ${name} does not exist. Save it first.`)
    if (account !== undefined && account !== mapping.account)
      throw wrong('account', `The mapping ${name} is for ${mapping.account}.`)
    return mapping
  }
}

function found(statement: StatementImport | undefined): StatementImport {
  if (!statement) throw new Error('a file that was imported is there')
  return statement
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
