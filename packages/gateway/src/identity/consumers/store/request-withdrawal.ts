// Requests a consumer's withdrawal: the hold, the payout in a run and the audit entry are one transaction.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import {
  accountIdOf,
  availableMinor,
  bankAccount,
  noBalances,
  walletAccount,
} from '../../../core/ledger/rules/transfer.ts'
import { lockAccounts, openAccounts } from '../../../core/ledger/store/ledger.ts'
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import type { Wallet } from '../../../core/wallets/rules/wallet.ts'
import type { Payout } from '../../../finance/payouts/rules/payout.ts'
import { findOpenRun, writeHeld } from '../../../finance/payouts/store/payout-batches.ts'
import { findPayouts } from '../../../finance/payouts/store/payouts.ts'
import type { BankDetails } from '../../../finance/treasury/rules/operator-bank-account.ts'
import { checkBanks } from '../../../finance/treasury/store/bank-accounts.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../platform/database/transient.ts'
import { dayMs, utcDay } from '../../../platform/runtime/utc.ts'
import { holdAccess } from '../../accounts/store/account-sessions.ts'
import { walletTables } from './wallet-sessions.ts'

export interface WithdrawalRequest {
  /** `accessVersion` is that of the session that requested the withdrawal. */
  readonly wallet: Pick<Wallet, 'walletId' | 'login' | 'accessVersion'>
  /** Identifies the form; payouts_form rejects a second request of the same wallet. */
  readonly formNumber: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly account: BankDetails
  readonly bankName: string
  readonly payoutId: string
  readonly newRunId: () => string
  /** The amount that may be withdrawn in 24 hours without an operator's review. */
  readonly automaticUpToMinor: bigint
}

/** `unknown`: the response to COMMIT was lost. */
export type RequestedWithdrawal = 'requested' | 'insufficient_funds' | 'unknown'

export type WithdrawalStore = ReturnType<typeof makeWithdrawalStore>

export function makeWithdrawalStore(database: Pool) {
  return {
    /** Uses payouts_of_wallets. */
    async find(walletId: string, formNumber: string): Promise<Payout | undefined> {
      const [found] = await findPayouts(
        database,
        sql`merchant_id = ${ownMerchantId} and wallet_id = ${walletId}
   and form_number = ${formNumber}`,
      )
      return found
    },

    async request(request: WithdrawalRequest, entry: AuditEntry): Promise<RequestedWithdrawal> {
      const bank = bankAccount(request.bankName, request.currency)
      await openAccounts(database, [bank])
      try {
        const isRequested = await audited(database, entry, async (transaction) => {
          await checkBanks(transaction, [bank])
          return writeRequest(transaction, request, entry)
        })
        return isRequested ? 'requested' : 'insufficient_funds'
      } catch (error) {
        if (error instanceof CommitUnknown) return 'unknown'
        throw error
      }
    },
  }
}

/** False if the balance is too low. Throws if the access ended after the check. */
async function writeRequest(
  transaction: Queryable,
  request: WithdrawalRequest,
  { actedAtMs: nowMs, auditId }: AuditEntry,
): Promise<boolean> {
  const { wallet, currency, amountMinor, bankName, newRunId, automaticUpToMinor } = request
  const { walletId } = wallet
  // Locks the wallet before its account, as locking and closing do.
  await holdAccess(transaction, wallet, walletTables)
  const from = accountIdOf(walletAccount(walletId, currency))
  const balances = await lockAccounts(transaction, [from])
  if (availableMinor(balances.get(from) ?? noBalances) < amountMinor) return false
  // The lock above serializes withdrawals of one wallet, so that each counts the earlier ones.
  const automaticMinor = await sumAutomatic(transaction, request, nowMs)
  const isReviewed = automaticMinor + amountMinor > automaticUpToMinor
  const runId = isReviewed
    ? await insertRun(transaction, request, nowMs)
    : await findOpenRun(transaction, { bankName, currency, day: utcDay(nowMs + dayMs) }, { nowMs, newRunId })
  const { payoutId, account, formNumber } = request
  const payout = {
    merchantId: ownMerchantId,
    payoutId,
    runId,
    walletId,
    planDay: undefined,
    currency,
    amountMinor,
    account,
    bankName,
    formNumber,
    isReviewed,
  }
  await writeHeld(transaction, [payout], { nowMs, auditId })
  return true
}

/** The total of the last 24 hours without returned payouts. Uses payouts_of_wallets. */
async function sumAutomatic(
  transaction: Queryable,
  { wallet: { walletId }, currency }: WithdrawalRequest,
  nowMs: number,
): Promise<bigint> {
  const { rows } = await transaction.query<{ minor: string }>(sql`
select coalesce(sum(amount_minor), 0) as minor from payouts
 where merchant_id = ${ownMerchantId} and wallet_id = ${walletId} and currency = ${currency} and not is_reviewed
   and status not in ('cancelled', 'returned') and requested_at > ${nowMs - dayMs}`)
  return BigInt(rows[0]?.minor ?? 0)
}

async function insertRun(
  transaction: Queryable,
  { bankName, currency, newRunId }: WithdrawalRequest,
  nowMs: number,
): Promise<string> {
  const runId = newRunId()
  await transaction.query(sql`
insert into payout_runs (run_id, bank_name, currency, day, created_at, closed_at)
values (${runId}, ${bankName}, ${currency}, ${utcDay(nowMs)}, ${nowMs}, ${nowMs})`)
  return runId
}
