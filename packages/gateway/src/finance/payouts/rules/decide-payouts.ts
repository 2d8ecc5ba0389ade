// Decides on due plans: a payout, or the reason for none. Pure: the caller holds locks on the merchants' accounts, so
// that decisions stay valid until they are written.
import {
  accountIdOf,
  availableMinor,
  type Balances,
  bankAccount,
  merchantAccount,
  type Transfer,
  walletAccount,
} from '../../../core/ledger/rules/transfer.ts'
import type { BankDetails } from '../../treasury/rules/operator-bank-account.ts'
import { payableMinor, reserveMinor } from './payout-amount.ts'
import { dueDay, nextPlanDay, type PayoutPlan, type PlanOutcome } from './payout-plan.ts'

export interface DuePlan {
  readonly plan: PayoutPlan
  /** Undefined if the merchant never received money. */
  readonly balances: Balances | undefined
  /** Recent sales, if the reserve is a share of them. */
  readonly salesMinor: bigint
  /** Undefined if no account may receive payouts. */
  readonly account: BankDetails | undefined
  readonly isSuspended: boolean
  readonly isBankOpen: boolean
}

export interface Decided {
  readonly plan: PayoutPlan
  readonly day: string
  readonly nextDay: string | undefined
  readonly outcome: PlanOutcome
  readonly amountMinor: bigint
  readonly account: BankDetails | undefined
}

export function decidePlan(due: DuePlan, today: string): Decided {
  const { plan, balances, salesMinor, account, isSuspended, isBankOpen } = due
  const day = dueDay(plan, today)
  if (day === undefined) throw new Error('only plans that are due are decided')
  const payable = payableMinor({
    currency: plan.currency,
    availableMinor: balances ? availableMinor(balances) : 0n,
    keptMinor: reserveMinor(plan.reserve, salesMinor),
    leastMinor: plan.leastMinor,
  })
  const outcome = outcomeOf()
  return {
    plan,
    day,
    nextDay: nextPlanDay(plan, today),
    outcome,
    amountMinor: outcome === 'paid_out' ? (payable ?? 0n) : 0n,
    account,
  }

  function outcomeOf(): PlanOutcome {
    if (isSuspended) return 'suspended'
    if (!isBankOpen) return 'bank_closed'
    if (payable === undefined) return 'nothing_to_pay'
    return account === undefined ? 'no_bank_account' : 'paid_out'
  }
}

/** The hold of a payout has the payout's id. */
export function holdOf({
  merchantId,
  walletId,
  payoutId,
  bankName,
  currency,
  amountMinor,
  auditId,
  nowMs,
}: {
  readonly merchantId: string
  readonly walletId?: string | undefined
  readonly payoutId: string
  readonly bankName: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly auditId: string | undefined
  readonly nowMs: number
}): Transfer {
  return {
    merchantId,
    transferId: payoutId,
    kind: 'payout',
    phase: 'hold',
    holdId: undefined,
    debitAccountId: accountIdOf(
      walletId === undefined ? merchantAccount(merchantId, currency) : walletAccount(walletId, currency),
    ),
    creditAccountId: accountIdOf(bankAccount(bankName, currency)),
    currency,
    amountMinor,
    paymentId: undefined,
    refundId: undefined,
    auditId,
    madeAtMs: nowMs,
    outside: undefined,
  }
}
