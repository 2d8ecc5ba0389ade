// Requests a single payout: its own run, the hold and the audit entry in one transaction.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import {
  accountIdOf,
  availableMinor,
  bankAccount,
  merchantAccount,
  noBalances,
} from '../../../core/ledger/rules/transfer.ts'
import { type Account, listAccounts, lockAccounts, openAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../platform/database/transient.ts'
import { utcDay } from '../../../platform/runtime/utc.ts'
import { checkBanks } from '../../treasury/store/bank-accounts.ts'
import { findPayableAccounts } from './merchant-bank-accounts.ts'
import { writeHeld } from './payout-batches.ts'

export interface PayoutRequest {
  readonly merchantId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly bankName: string
  readonly payoutId: string
  readonly runId: string
}

/** `unknown`: the response to COMMIT was lost. */
export type Requested = 'requested' | 'no_bank_account' | 'insufficient_funds' | 'unknown'

export type RequestPayoutStore = ReturnType<typeof makeRequestPayoutStore>

export function makeRequestPayoutStore(database: Pool) {
  return {
    requestPayout: (request: PayoutRequest, entry: AuditEntry) => requestPayout(database, request, entry),
    listBalances: (merchantId: string): Promise<Account[]> =>
      listAccounts(database, { ownerKind: 'merchant', ownerId: merchantId }),
    /** The payout that this action requested. */
    findByAuditId: (merchantId: string, auditId: string) => findByAuditId(database, merchantId, auditId),
  }
}

async function requestPayout(database: Pool, request: PayoutRequest, entry: AuditEntry): Promise<Requested> {
  const { bankName, currency } = request
  await checkBanks(database, [bankAccount(bankName, currency)])
  // Before the transaction, which must not wait for a new account while it holds others.
  await openAccounts(database, [bankAccount(bankName, currency)])
  let outcome: Requested = 'requested'
  try {
    await audited(database, entry, async (transaction) => {
      outcome = await writeRequest(transaction, request, entry)
      return outcome === 'requested'
    })
    return outcome
  } catch (error) {
    if (error instanceof CommitUnknown) return 'unknown'
    throw error
  }
}

async function writeRequest(
  transaction: Queryable,
  request: PayoutRequest,
  { actedAtMs: nowMs, auditId }: AuditEntry,
): Promise<Requested> {
  const { merchantId, currency, amountMinor, bankName, runId } = request
  await checkBanks(transaction, [bankAccount(bankName, currency)])
  const accounts = await findPayableAccounts(transaction, [merchantId], nowMs)
  const found = accounts.find((each) => each.currency === currency)
  if (!found) return 'no_bank_account'
  const from = accountIdOf(merchantAccount(merchantId, currency))
  const balances = await lockAccounts(transaction, [from])
  if (availableMinor(balances.get(from) ?? noBalances) < amountMinor) return 'insufficient_funds'
  await transaction.query(sql`
insert into payout_runs (run_id, bank_name, currency, day, created_at, closed_at)
values (${runId}, ${bankName}, ${currency}, ${utcDay(nowMs)}, ${nowMs}, ${nowMs})`)
  const { holder, iban, lines, bic } = found
  const payout = { ...request, planDay: undefined, account: { holder, iban, lines, bic } }
  await writeHeld(transaction, [payout], { nowMs, auditId })
  return 'requested'
}

async function findByAuditId(
  database: Queryable,
  merchantId: string,
  auditId: string,
): Promise<string | undefined> {
  const { rows } = await database.query<{ transfer_id: string }>(sql`
select transfer_id from transfers
 where merchant_id = ${merchantId} and audit_id = ${auditId} and kind = 'payout' and phase in ('hold', 'direct')`)
  return rows[0]?.transfer_id
}
