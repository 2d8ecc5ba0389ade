// A consumer's withdrawal: the money is held in the wallet, and the payout is in a run, in one transaction with the act.
import type { Pool, Queryable } from '../../database/pool.ts'
import { sql } from '../../database/sql.ts'
import { CommitUnknown } from '../../database/transient.ts'
import {
  accountIdOf,
  availableMinor,
  bankAccount,
  noBalances,
  walletAccount,
} from '../../ledger/rules/transfer.ts'
import { lockAccounts, openAccounts } from '../../ledger/store/ledger.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import type { BankDetails } from '../../treasury/rules/bank-account.ts'
import { checkBanks } from '../../treasury/store/bank-accounts.ts'
import { ownMerchantId } from '../../wallets/rules/top-up.ts'
import type { Payout } from '../rules/payout.ts'
import { dayMs, dayOf } from '../rules/payout-plan.ts'
import { findOpenRun, writeHeld } from './payout-batches.ts'
import { findPayouts } from './payouts.ts'

export interface WithdrawalRequest {
  readonly walletId: string
  /** Of the form; a second one of the same wallet is refused by payouts_form. */
  readonly formNumber: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly account: BankDetails
  readonly bankName: string
  readonly payoutId: string
  readonly newRunId: () => string
  /** An operator looks at it before it goes. */
  readonly isOfItsOwn: boolean
}

/** `unknown`: the answer to COMMIT was lost. */
export type RequestedWithdrawal = 'requested' | 'insufficient_funds' | 'unknown'

export type WithdrawalStore = ReturnType<typeof makeWithdrawalStore>

export function makeWithdrawalStore(database: Pool) {
  return {
    /** By payouts_of_wallets. An older gateway that still runs beside this one gives the number to the act alone. */
    async find(walletId: string, formNumber: string): Promise<Payout | undefined> {
      const [found] = await findPayouts(
        database,
        sql`merchant_id = ${ownMerchantId} and wallet_id = ${walletId}
   and (form_number = ${formNumber}
        or (form_number is null
            and exists (select 1 from transfers t
                         where t.merchant_id = ${ownMerchantId} and t.transfer_id = payout_id
                           and t.audit_id = ${formNumber})))`,
      )
      return found
    },

    async request(request: WithdrawalRequest, act: Act): Promise<RequestedWithdrawal> {
      const bank = bankAccount(request.bankName, request.currency)
      await openAccounts(database, [bank])
      try {
        const isRequested = await audited(database, act, async (transaction) => {
          await checkBanks(transaction, [bank])
          return writeRequest(transaction, request, act)
        })
        return isRequested ? 'requested' : 'insufficient_funds'
      } catch (error) {
        if (error instanceof CommitUnknown) return 'unknown'
        throw error
      }
    },
  }
}

/** False: there is too little money. */
async function writeRequest(
  transaction: Queryable,
  request: WithdrawalRequest,
  { actedAtMs: nowMs, auditId }: Act,
): Promise<boolean> {
  const { walletId, currency, amountMinor, bankName, newRunId } = request
  const from = accountIdOf(walletAccount(walletId, currency))
  const balances = await lockAccounts(transaction, [from])
  if (availableMinor(balances.get(from) ?? noBalances) < amountMinor) return false
  const runId = request.isOfItsOwn
    ? await insertRun(transaction, request, nowMs)
    : await findOpenRun(transaction, { bankName, currency, day: dayOf(nowMs + dayMs) }, { nowMs, newRunId })
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
  }
  await writeHeld(transaction, [payout], { nowMs, auditId })
  return true
}

async function insertRun(
  transaction: Queryable,
  { bankName, currency, newRunId }: WithdrawalRequest,
  nowMs: number,
): Promise<string> {
  const runId = newRunId()
  await transaction.query(sql`
insert into payout_runs (run_id, bank_name, currency, day, created_at, closed_at)
values (${runId}, ${bankName}, ${currency}, ${dayOf(nowMs)}, ${nowMs}, ${nowMs})`)
  return runId
}
