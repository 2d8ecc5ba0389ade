// Reconciliation put together, in the name of one actor: an operator, or the worker that goes on where somebody stopped.

import type { AuditParts } from '../../core/audit/audit-entries.ts'
import type { MakeNotices } from '../../core/emails/make-notices.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { type BookLinesParts, makeBookLine } from './book-lines.ts'
import { makeBookOwn } from './book-own.ts'
import { makeCloseDays } from './close-days.ts'
import { type ImportStatementParts, makeImportStatement } from './import-statement.ts'
import { makeManageMappings } from './manage-mappings.ts'
import { makeMatchLines } from './match-lines.ts'
import { makeResolveBreaks, type ResolveBreaksParts } from './resolve-breaks.ts'
import type { BreakStore } from './store/breaks.ts'
import type { DayStore } from './store/days.ts'
import type { MatchingStore } from './store/matching.ts'
import type { StatementStore } from './store/statements.ts'

/** The operations that book what a line says. */
type Booking = BookLinesParts & Pick<ResolveBreaksParts, 'corrections'>

export interface ReconcilingParts extends AuditParts, Pick<ImportStatementParts, 'statementFiles'> {
  /** In the name of the person who resolves a break. */
  readonly moving: Booking
  /** In the name of the pass over statements, which never has a second operator's approval. */
  readonly passing: Booking
  readonly statements: StatementStore
  readonly matching: MatchingStore
  readonly breaks: BreakStore
  readonly days: DayStore
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
  readonly treasury: TreasuryStore
  readonly makeNotices: MakeNotices
  readonly log: Log
}

export type Reconciling = ReturnType<typeof makeReconciling>

export function makeReconciling(parts: ReconcilingParts) {
  const { statements, matching, breaks } = parts
  const matchLines = makeMatchLines({ ...parts, bookLine: makeBookLine(parts.passing) })
  const bookLine = makeBookLine(parts.moving)
  const resolveBreaks = makeResolveBreaks({ ...parts, ...parts.moving, bookLine, matchLines })
  return {
    ...makeImportStatement({ ...parts, matchLines }),
    findImport: statements.findImport,
    listImports: statements.listImports,
    listMatches: breaks.listMatches,
    listOutsideAccounts: matching.listOutsideAccounts,
    mappings: makeManageMappings(parts),
    breaks: { ...resolveBreaks, ...makeBookOwn(parts) },
    days: makeCloseDays(parts),
    matchLines,

    /** What somebody began and nobody ended. How many accounts had work. */
    async work(): Promise<number> {
      const accounts = await matching.accountsWithWork()
      for (const account of accounts) {
        await resolveBreaks.finishAll(account)
        await matchLines(account)
      }
      return accounts.length
    },
  }
}
