// What becomes of plans that are due: a payout, or the reason why there is none. Pure: whoever calls holds the merchants'
// accounts locked, so that what is decided is still true when it is written.
import {
  accountIdOf,
  availableMinor,
  type Balances,
  bankAccount,
  merchantAccount,
  type Transfer,
  walletAccount,
} from '../../../core/ledger/rules/transfer.ts'
import type { BankDetails } from '../../treasury/rules/bank-account.ts'
import { payableMinor, reserveMinor } from './payout-amount.ts'
import { dueDay, nextPlanDay, type PayoutPlan, type PlanOutcome } from './payout-plan.ts'

/** A plan that is due, with what its merchant has. */
export interface DuePlan {
  readonly plan: PayoutPlan
  /** Undefined: nothing ever came in. */
  readonly balances: Balances | undefined
  /** Of the last days, where the reserve is a share of them. */
  readonly salesMinor: bigint
  /** Undefined: the merchant has none that may be paid to. */
  readonly account: BankDetails | undefined
  readonly isSuspended: boolean
  /** The operator's account is open and holds the currency. */
  readonly isBankOpen: boolean
}

export interface Decided {
  readonly plan: PayoutPlan
  readonly day: string
  readonly nextDay: string | undefined
  readonly outcome: PlanOutcome
  /** Above nothing where it is paid out. */
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

/** The hold of a payout; its number is the payout's. */
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
