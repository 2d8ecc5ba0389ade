// Proves the books with the claims of the ledger and of every module that books money.
import {
  checkClaims,
  type LedgerClaims,
  ledgerClaims,
  type Verification,
} from '../../../core/ledger/store/ledger-checks.ts'
import type { Pool } from '../../../platform/database/pool.ts'
import { billClaims } from '../../bills/store/bill-claims.ts'
import { reconciliationClaims } from '../../reconciliation/store/reconciliation-claims.ts'
import { ownMoneyClaims } from '../../treasury/store/own-money-claims.ts'

const claims: LedgerClaims = { ...ledgerClaims, ...ownMoneyClaims, ...reconciliationClaims, ...billClaims }

export function verifyLedger(database: Pool): Promise<Verification> {
  return checkClaims(database, claims)
}
