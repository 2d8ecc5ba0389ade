// Payout plans of merchants per currency, and manual runs.

import { digitsOf, Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { utcDay } from '../../platform/runtime/utc.ts'
import { checkUsable } from '../treasury/rules/operator-bank-account.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import { describePlan, nextPlanDay, type PayoutPlan } from './rules/payout-plan.ts'
import type { PayoutPlanStore } from './store/payout-plans.ts'

export interface ManagePlansParts extends ClockAndRandom {
  readonly payoutPlans: PayoutPlanStore
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
}

export type PlanGiven = Omit<PayoutPlan, 'nextDay' | 'lastDay' | 'lastOutcome'>

export type ManagePlans = ReturnType<typeof makeManagePlans>

export function makeManagePlans(parts: ManagePlansParts) {
  const { payoutPlans: plans, bankAccounts: banks, clock } = parts

  const checkBank = async (bankName: string, currency: string): Promise<void> => {
    const all = await banks.listBanks()
    checkUsable(
      all.find((bank) => bank.bankName === bankName),
      bankName,
      currency,
    )
  }

  return {
    listPlans: (_context: AnyContext, merchantId: string) => plans.listPlans(merchantId),

    /** The first payout day is tomorrow, because today's run may be closed. */
    async setPlan(context: AnyContext, given: PlanGiven, reason: string): Promise<PayoutPlan> {
      const { merchantId, currency, bankName } = given
      digitsOf(currency)
      await checkBank(bankName, currency)
      const today = utcDay(clock.now())
      return plans.setPlan(
        given,
        (before) => {
          const { lastDay, lastOutcome } = before ?? { lastDay: undefined, lastOutcome: undefined }
          const after = lastDay !== undefined && lastDay > today ? lastDay : today
          return { ...given, lastDay, lastOutcome, nextDay: nextPlanDay(given, after) }
        },
        makeAuditEntry(parts, context, 'payout-plan.set', merchantId, {
          merchantId,
          reason: `${describePlan(given)}: ${reason}`,
        }),
      )
    },

    /** Returns how many manual plans are paid out now. */
    async startRun(context: AnyContext, bankName: string, currency: string, reason: string): Promise<number> {
      await checkBank(bankName, currency)
      const today = utcDay(clock.now())
      const subject = `${bankName} ${currency} ${today}`
      const started = await plans.startByHand(
        { bankName, currency, today },
        makeAuditEntry(parts, context, 'payout-run.start', subject, { reason }),
      )
      if (started > 0) return started
      throw new Failure('status_does_not_allow', {
        message: `No merchant with a manual schedule is due for ${currency} from ${bankName}. Set manual schedules on the merchants’ pages. Each merchant is paid at most once a day.`,
      })
    },
  }
}
