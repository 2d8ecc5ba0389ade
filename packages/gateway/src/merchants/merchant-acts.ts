// The one way by which operators give a merchant keys and change its settings: at once, or as a request where keys or
// callback hosts want a second operator. The console, the admin API and the command line all come through here.

import { type AskApprovalParts, makeAskApproval, type Outcome } from '../operators/ask-approval.ts'
import type { ApprovalRequest } from '../operators/rules/approval.ts'
import { checkSettings, type MadeKey, type ManageMerchants } from './manage-merchants.ts'
import { describeChanges, type Merchant, type MerchantSettings, type NewKey } from './rules/merchant.ts'

export interface MerchantActsParts extends AskApprovalParts {
  readonly merchants: ManageMerchants
}

export interface ChangedMerchant {
  readonly merchant: Merchant
  /** For its callback hosts, where they want a second operator: the other settings do not wait for it. */
  readonly waiting: ApprovalRequest | undefined
}

export type MerchantActs = ReturnType<typeof makeMerchantActs>

export function makeMerchantActs(parts: MerchantActsParts) {
  const { merchants, policy } = parts
  const ask = makeAskApproval(parts)

  return {
    async addKey(merchantId: string, key: NewKey, reason: string): Promise<Outcome<MadeKey>> {
      if (!policy.kinds.includes('key.add'))
        return { kind: 'done', result: await merchants.addKey(merchantId, key, { reason }) }
      return ask({ kind: 'key.add', merchantId, key: await merchants.checkKey(merchantId, key) }, { reason })
    },

    async changeMerchant(
      merchantId: string,
      settings: MerchantSettings,
      reason: string,
    ): Promise<ChangedMerchant> {
      const { merchant } = await merchants.showMerchant(merchantId)
      const checked = checkSettings(settings)
      const { callbackHosts, ...others } = checked
      const wantsApproval = policy.kinds.includes('merchant.callback-hosts')
      const isWaiting =
        wantsApproval && 'callbackHosts' in settings && describeChanges(merchant, { callbackHosts }) !== ''
      // First, so that whoever cannot ask changes nothing.
      const waiting = isWaiting
        ? (await ask({ kind: 'merchant.callback-hosts', merchantId, callbackHosts }, { reason })).request
        : undefined
      // Hosts that are as they were when they were read may be others by now, so they are never written from here.
      const changes = wantsApproval ? others : checked
      return { merchant: await merchants.changeMerchant(merchantId, changes, { reason }), waiting }
    },
  }
}
