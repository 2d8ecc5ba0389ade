// Composes reconciliation: imports, passes, breaks and days.

import { type AnyContext, reading } from '../../core/authority/context.ts'
import { type BookLinesParts, makeBookLine } from './book-lines.ts'
import { type BookOwnParts, makeBookOwn } from './book-own.ts'
import { type CloseDaysParts, makeCloseDays } from './close-days.ts'
import { type ImportStatementParts, makeImportStatement } from './import-statement.ts'
import { type ManageMappingsParts, makeManageMappings } from './manage-mappings.ts'
import { type MatchLines, type MatchLinesParts, makeMatchLines } from './match-lines.ts'
import { makeReadStandings } from './read-standings.ts'
import { makeReportBreaks, type ReportBreaksParts } from './report-breaks.ts'
import { makeResolveBreaks, type ResolveBreaksParts } from './resolve-breaks.ts'

export type ReconcilingParts = Omit<ImportStatementParts, 'matchLines' | 'reportBreaks'> &
  Omit<MatchLinesParts, 'bookLine'> &
  Omit<ResolveBreaksParts, 'bookLine' | 'matchLines'> &
  BookLinesParts &
  BookOwnParts &
  CloseDaysParts &
  ReportBreaksParts &
  ManageMappingsParts

export type Reconciling = ReturnType<typeof makeReconciling>

export function makeReconciling(given: ReconcilingParts) {
  const { statements, matching, breaks } = given
  const bookLine = makeBookLine(given)
  const underWay = new Set<string>()
  const matchLines = noting(underWay, makeMatchLines({ ...given, bookLine }))
  const reportBreaks = makeReportBreaks(given)
  const matchAndReport: MatchLines = async (context, account) => {
    const counts = await matchLines(context, account)
    await reportBreaks([account], counts)
    return counts
  }
  const parts = { ...given, bookLine, matchLines: matchAndReport }
  const resolveBreaks = makeResolveBreaks(parts)
  return {
    ...makeImportStatement({ ...parts, matchLines, reportBreaks }),
    findImport: reading(statements.findImport),
    listImports: reading(statements.listImports),
    listMatches: reading(breaks.listMatches),
    listOutsideAccounts: reading(matching.listOutsideAccounts),
    listStandings: reading(makeReadStandings(parts)),
    mappings: makeManageMappings(parts),
    breaks: { ...resolveBreaks, ...makeBookOwn(parts) },
    days: makeCloseDays(parts),
    matchLines: matchAndReport,

    /** Continues interrupted work. Returns how many accounts had some. */
    async work(context: AnyContext): Promise<number> {
      // An import that is matching its lines was not interrupted.
      const accounts = (await matching.accountsWithWork()).filter((account) => !underWay.has(account))
      for (const account of accounts) {
        await resolveBreaks.finishAll(context, account)
        await matchAndReport(context, account)
      }
      return accounts.length
    },
  }
}

/** Notes the accounts of passes that this process is making. */
function noting(underWay: Set<string>, matchLines: MatchLines): MatchLines {
  return async (context, account) => {
    underWay.add(account)
    try {
      return await matchLines(context, account)
    } finally {
      underWay.delete(account)
    }
  }
}
