// Named mappings for CSV files, one outside account each.

import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import { checkMapping } from './rules/csv.ts'
import type { MatchingStore } from './store/matching.ts'
import type { SavedMapping, StatementStore } from './store/statements.ts'

export interface ManageMappingsParts extends ClockAndRandom {
  readonly statements: StatementStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts'>
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
}

export function makeManageMappings(parts: ManageMappingsParts) {
  const { statements, matching, bankAccounts } = parts
  return {
    listMappings: reading(statements.listMappings),

    /** Lines that were already imported do not change. */
    async saveMapping(
      context: AnyContext,
      given: Omit<SavedMapping, 'changedAtMs'>,
      reason: string,
    ): Promise<SavedMapping> {
      const { mappingName, account, settlesTo, columns } = given
      checkMapping(columns)
      if (!(await matching.listOutsideAccounts()).some((each) => each.account === account))
        throw wrong(
          'account',
          `Bank account or rail ${account} does not exist. Write it as bank:main or rail:card.`,
        )
      if (settlesTo !== undefined) {
        if (!account.startsWith('rail:')) throw wrong('settlesTo', 'Only a rail has a settlement account.')
        if (!(await bankAccounts.listBanks()).some(({ bankName }) => bankName === settlesTo))
          throw wrong('settlesTo', `Bank account ${settlesTo} does not exist.`)
      } else if (columns.fee !== undefined || columns.batch !== undefined)
        throw wrong('settlesTo', 'Enter the bank account that receives the rail’s settlements.')
      const entry = makeAuditEntry(parts, context, 'reconcile.mapping', mappingName, { reason })
      // The same time, by which the entry is found.
      const mapping = { ...given, changedAtMs: entry.actedAtMs }
      await statements.saveMapping(mapping, entry)
      return mapping
    },
  }
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
