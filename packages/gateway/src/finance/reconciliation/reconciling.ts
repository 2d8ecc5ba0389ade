// Composes reconciliation: imports, passes, breaks and days.

import { type AnyContext, reading } from '../../core/audit/context.ts'
import { type BookLinesParts, makeBookLine } from './book-lines.ts'
import { type BookOwnParts, makeBookOwn } from './book-own.ts'
import { type CloseDaysParts, makeCloseDays } from './close-days.ts'
import { type ImportStatementParts, makeImportStatement } from './import-statement.ts'
import { type ManageMappingsParts, makeManageMappings } from './manage-mappings.ts'
import { type MatchLinesParts, makeMatchLines } from './match-lines.ts'
import { makeResolveBreaks, type ResolveBreaksParts } from './resolve-breaks.ts'

export type ReconcilingParts = Omit<ImportStatementParts, 'matchLines'> &
  Omit<MatchLinesParts, 'bookLine'> &
  Omit<ResolveBreaksParts, 'bookLine' | 'matchLines'> &
  BookLinesParts &
  BookOwnParts &
  CloseDaysParts &
  ManageMappingsParts

export type Reconciling = ReturnType<typeof makeReconciling>

export function makeReconciling(given: ReconcilingParts) {
  const { statements, matching, breaks } = given
  const bookLine = makeBookLine(given)
  const matchLines = makeMatchLines({ ...given, bookLine })
  const parts = { ...given, bookLine, matchLines }
  const resolveBreaks = makeResolveBreaks(parts)
  return {
    ...makeImportStatement(parts),
    findImport: reading(statements.findImport),
    listImports: reading(statements.listImports),
    listMatches: reading(breaks.listMatches),
    listOutsideAccounts: reading(matching.listOutsideAccounts),
    mappings: makeManageMappings(parts),
    breaks: { ...resolveBreaks, ...makeBookOwn(parts) },
    days: makeCloseDays(parts),
    matchLines,

    /** Continues interrupted work. Returns how many accounts had some. */
    async work(context: AnyContext): Promise<number> {
      const accounts = await matching.accountsWithWork()
      for (const account of accounts) {
        await resolveBreaks.finishAll(context, account)
        await matchLines(context, account)
      }
      return accounts.length
    },
  }
}
