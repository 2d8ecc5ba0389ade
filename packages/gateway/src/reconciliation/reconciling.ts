// Reconciliation put together, in the name of one actor: an operator, or the worker that goes on where somebody stopped.
import type { MakeNotices } from '../notices/make-notices.ts'
import type { ActParts } from '../operators/audit-entries.ts'
import type { ApprovalStore } from '../operators/store/approvals.ts'
import { makeSettleRail } from '../treasury/settle-rail.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { type BookLinesParts, makeBookLine } from './book-lines.ts'
import { makeCloseDays } from './close-days.ts'
import { makeImportStatement } from './import-statement.ts'
import { makeManageMappings } from './manage-mappings.ts'
import { makeMatchLines } from './match-lines.ts'
import { makeSettleBreaks } from './settle-breaks.ts'
import type { BreakStore } from './store/breaks.ts'
import type { DayStore, ReconciledDay } from './store/days.ts'
import type { MatchingStore } from './store/matching.ts'
import type { StatementStore } from './store/statements.ts'

export interface ReconcilingParts extends ActParts, Pick<BookLinesParts, 'payouts' | 'transfers' | 'policy'> {
  readonly statements: StatementStore
  readonly matching: MatchingStore
  readonly breaks: BreakStore
  readonly days: DayStore
  readonly approvals: Pick<ApprovalStore, 'findRequest'>
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
  readonly treasury: TreasuryStore
  readonly makeNotices: MakeNotices
  readonly onUnexplained: (day: ReconciledDay) => void
}

export type Reconciling = ReturnType<typeof makeReconciling>

export function makeReconciling(parts: ReconcilingParts) {
  const { statements, matching, breaks } = parts
  const bookLine = makeBookLine({ ...parts, settleRail: makeSettleRail(parts) })
  const matchLines = makeMatchLines({ ...parts, bookLine })
  const settleBreaks = makeSettleBreaks({ ...parts, bookLine, matchLines })
  return {
    ...makeImportStatement({ ...parts, matchLines }),
    findImport: statements.findImport,
    listImports: statements.listImports,
    listMatches: breaks.listMatches,
    listOutsideAccounts: matching.listOutsideAccounts,
    mappings: makeManageMappings(parts),
    breaks: settleBreaks,
    days: makeCloseDays(parts),
    matchLines,

    /** What somebody began and nobody ended. How many accounts had work. */
    async work(): Promise<number> {
      const accounts = await matching.accountsWithWork()
      for (const account of accounts) {
        await settleBreaks.finishAll(account)
        await matchLines(account)
      }
      return accounts.length
    },
  }
}
