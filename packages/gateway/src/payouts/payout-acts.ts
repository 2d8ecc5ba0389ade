// The one way by which operators ask for payouts and set merchants' bank accounts: at once, or as a request where they
// want a second operator. The console, the admin API and the command line all come through here.
import { type AskApprovalParts, makeAskApproval, type Outcome } from '../operators/ask-approval.ts'
import type { ManageBankAccounts, NewBankAccount } from './manage-bank-accounts.ts'
import type { ManagePayouts, PayoutGiven, RequestedPayout } from './manage-payouts.ts'
import type { MerchantBankAccount } from './rules/bank-account.ts'

export interface PayoutActsParts extends AskApprovalParts {
  readonly payouts: ManagePayouts
  readonly bankAccounts: ManageBankAccounts
}

export type PayoutActs = ReturnType<typeof makePayoutActs>

export function makePayoutActs(parts: PayoutActsParts) {
  const { payouts, bankAccounts, approvals, policy } = parts
  const ask = makeAskApproval(parts)

  return {
    /**
     * What was sent before stays what it became then, also when the setting was changed meanwhile: a payout that was
     * requested is not asked for, and one that was asked for is not requested beside its request.
     */
    async payOut(
      given: PayoutGiven,
      { reason, actId }: { readonly reason: string; readonly actId?: string | undefined },
    ): Promise<Outcome<RequestedPayout>> {
      const { bankName, ...money } = given
      const request = { kind: 'merchant.payout', ...money, outside: { bankName } } as const
      const asked = actId === undefined ? undefined : await approvals.findRequest(actId)
      // Whoever asks again is told of the request, also when the money has left meanwhile because of it.
      if (asked) return ask(request, { reason, actId })
      const doneBeforeMs = actId === undefined ? undefined : await payouts.doneAt(actId)
      if (doneBeforeMs === undefined && policy.kinds.includes('merchant.payout')) {
        await payouts.checkRequest(given)
        return ask(request, { reason, actId })
      }
      const result = await payouts.requestPayout(given, { reason, actId })
      return { kind: 'done', result, ...(doneBeforeMs !== undefined && { doneBeforeMs }) }
    },

    async setBankAccount(
      merchantId: string,
      account: NewBankAccount,
      reason: string,
    ): Promise<Outcome<MerchantBankAccount>> {
      if (policy.kinds.includes('merchant.bank-account'))
        return ask({ kind: 'merchant.bank-account', merchantId, account }, { reason })
      return { kind: 'done', result: await bankAccounts.setBankAccount(merchantId, account, { reason }) }
    },
  }
}
