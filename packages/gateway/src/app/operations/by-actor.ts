// What people do in the name of one of them: at once, or after a second operator's yes.

import { makeDecideApprovals } from '../../actions/approvals/decide-approvals.ts'
import { type Actor, actorFrom } from '../../core/audit/audit-entries.ts'
import { makeManageEndpoints } from '../../core/callbacks/manage-endpoints.ts'
import { makePauseHosts } from '../../core/callbacks/pause-hosts.ts'
import { makeManageCallbacks } from '../../core/callbacks/resend-callbacks.ts'
import { makeManageNotices } from '../../core/email-log/manage-notices.ts'
import { makeManagePlatformKeys } from '../../core/keys/manage-platform-keys.ts'
import { makeRotateMasterKey } from '../../core/keys/rotate-master-key.ts'
import { makeManageMerchants } from '../../core/merchants/manage-merchants.ts'
import { makeManageOrders } from '../../core/orders/manage-orders.ts'
import { makeStoreLink } from '../../finance/links/create-link.ts'
import { makeManageLinks } from '../../finance/links/manage-links.ts'
import { makeManageBankAccounts } from '../../finance/payouts/manage-bank-accounts.ts'
import { makeManagePayouts } from '../../finance/payouts/manage-payouts.ts'
import { makeManagePlans } from '../../finance/payouts/manage-plans.ts'
import { makeManageRuns } from '../../finance/payouts/manage-runs.ts'
import { makeManageRails } from '../../finance/rails/manage-rails.ts'
import { makeRecordTransfers } from '../../finance/rails/record-transfers.ts'
import { makeReturnLateMoney } from '../../finance/rails/return-late-money.ts'
import { makeReconciling } from '../../finance/reconciliation/reconciling.ts'
import { makeCorrectBooks } from '../../finance/treasury/correct-books.ts'
import { makeManageBanks } from '../../finance/treasury/manage-banks.ts'
import { makeManagePrices } from '../../finance/treasury/manage-prices.ts'
import { makeMoveFunds } from '../../finance/treasury/move-funds.ts'
import { makeMoveOwnMoney } from '../../finance/treasury/move-own-money.ts'
import { makeSettleRail } from '../../finance/treasury/settle-rail.ts'
import { makeChangePassword } from '../../identity/accounts/change-password.ts'
import type { SecondStep } from '../../identity/accounts/second-step.ts'
import { makeDecideApplications } from '../../identity/applications/decide-applications.ts'
import { makeManageWallets } from '../../identity/consumers/manage-wallets.ts'
import { makeManageMembers } from '../../identity/members/manage-members.ts'
import { makeManageOperators } from '../../identity/operators/manage-operators.ts'
import { placeOfSecret } from '../database/secret-places.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

export function operationsByActor(
  stores: Stores,
  common: Common,
  { memberSecondStep }: { readonly memberSecondStep: Pick<SecondStep, 'reset'> },
) {
  const { config } = common
  const callbacks = { history: stores.callbackHistory, resends: stores.callbackResends }

  const manageMembers = (by: Actor) =>
    makeManageMembers({ ...stores, ...common, links: stores.memberLinks, ...by })

  const movingAs = (acting: Actor) => {
    const by = { ...stores, ...common, ...acting, balanceLimits: config.walletLimits.balance }
    return {
      orders: makeManageOrders(by),
      funds: makeMoveFunds(by),
      wallets: makeManageWallets({
        ...by,
        limits: stores.walletLimits,
        resets: stores.pinResets,
      }),
      corrections: makeCorrectBooks(by),
      settleRail: makeSettleRail(by),
      merchants: makeManageMerchants(by),
      payouts: makeManagePayouts(by),
      transfers: makeRecordTransfers(by),
      bankAccounts: makeManageBankAccounts({ ...by, waitMs: config.bankAccountWaitMs }),
      members: manageMembers(acting),
    }
  }
  const reconcilingAs = (acting: Actor) => {
    const passing: Actor = {
      actor: acting.actor,
      authority: { kind: 'statement', policy: config.approvals },
    }
    return makeReconciling({
      ...stores,
      ...common,
      statements: stores.bankStatements,
      moving: movingAs(acting),
      passing: movingAs(passing),
      ...acting,
    })
  }

  return {
    manageMembers,
    reconcilingAs,
    decideApprovals: makeDecideApprovals({ ...stores, ...common, policy: config.approvals }),

    as: (acting: string | Actor) => {
      const own = actorFrom(acting)
      const by = { ...stores, ...common, ...own }
      return {
        ...movingAs(own),
        operators: makeManageOperators({ ...by, hasProvider: config.openId !== undefined }),
        applications: makeDecideApplications(by),
        changeMemberPassword: makeChangePassword({
          ...by,
          kind: 'member',
          setPassword: stores.members.setPassword,
        }),
        resetMemberSecondStep: (login: string, reason: string) =>
          memberSecondStep.reset(login, { ...own, reason }),
        callbacks: makeManageCallbacks({ ...by, ...callbacks }),
        hosts: makePauseHosts({ ...by, pauses: stores.callbackPauses }),
        endpoints: makeManageEndpoints(by),
        notices: makeManageNotices(by),
        returnLateMoney: makeReturnLateMoney(by),
        links: makeManageLinks({ ...by, storeLink: makeStoreLink(by) }),
        reconciliation: reconcilingAs(own),
        rails: makeManageRails({ ...by, mode: config.mode }),
        prices: makeManagePrices({
          ...by,
          prices: stores.priceLists,
          isRail: async (railId) => (await stores.rails.findRail(railId)) !== undefined,
        }),
        banks: makeManageBanks({ ...by, banks: stores.bankAccounts }),
        ownMoney: makeMoveOwnMoney(by),
        payoutPlans: makeManagePlans(by),
        payoutRuns: makeManageRuns(by),
        platformKeys: makeManagePlatformKeys({ ...by, keys: stores.platformKeys }),
        masterKey: makeRotateMasterKey({ ...by, secrets: stores.sealedSecrets, placeOf: placeOfSecret }),
      }
    },
  }
}
