// What people do in the name of one of them: at once, or after a second operator's yes.
import { makeChangePassword } from '../../accounts/change-password.ts'
import type { SecondStep } from '../../accounts/second-step.ts'
import type { Asking } from '../../acts/service.ts'
import { makeDecideApplications } from '../../applications/decide-applications.ts'
import { makeManageEndpoints } from '../../callbacks/manage-endpoints.ts'
import { makePauseHosts } from '../../callbacks/pause-hosts.ts'
import { makeManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import { makeManagePlatformKeys } from '../../keys/manage-platform-keys.ts'
import { makeRotateMasterKey } from '../../keys/rotate-master-key.ts'
import { makeStoreLink } from '../../links/create-link.ts'
import { makeManageLinks } from '../../links/manage-links.ts'
import { makeManageMembers } from '../../members/manage-members.ts'
import { makeMemberActs } from '../../members/member-acts.ts'
import { makeManageMerchants } from '../../merchants/manage-merchants.ts'
import { makeMerchantActs } from '../../merchants/merchant-acts.ts'
import { makeManageNotices } from '../../notices/manage-notices.ts'
import { makeDecideApprovals } from '../../operators/decide-approvals.ts'
import { makeManageOperators } from '../../operators/manage-operators.ts'
import { makeManageOrders } from '../../orders/manage-orders.ts'
import { makeManageBankAccounts } from '../../payouts/manage-bank-accounts.ts'
import { makeManagePayouts } from '../../payouts/manage-payouts.ts'
import { makeManagePlans } from '../../payouts/manage-plans.ts'
import { makeManageRuns } from '../../payouts/manage-runs.ts'
import { makePayoutActs } from '../../payouts/payout-acts.ts'
import { makeManageRails } from '../../rails/manage-rails.ts'
import { makeRecordTransfers } from '../../rails/record-transfers.ts'
import { makeReturnLateMoney } from '../../rails/return-late-money.ts'
import { makeTransferActs } from '../../rails/transfer-acts.ts'
import { makeReconciling } from '../../reconciliation/reconciling.ts'
import { makeCorrectBooks } from '../../treasury/correct-books.ts'
import { makeManageBanks } from '../../treasury/manage-banks.ts'
import { makeManagePrices } from '../../treasury/manage-prices.ts'
import { makeMoneyActs } from '../../treasury/money-acts.ts'
import { makeMoveFunds } from '../../treasury/move-funds.ts'
import { makeManageWallets } from '../../wallets/manage-wallets.ts'
import type { Stores } from '../stores.ts'
import type { Common } from './common.ts'

export function operationsByActor(
  stores: Stores,
  common: Common,
  { memberSecondStep }: { readonly memberSecondStep: Pick<SecondStep, 'reset'> },
) {
  const { config, hints } = common
  const onWork = () => hints.payouts()
  const callbacks = { history: stores.callbackHistory, resends: stores.callbackResends }

  const manageMembers = (actor: string) =>
    makeManageMembers({ ...stores, ...common, links: stores.memberLinks, actor })

  /** What may need a second operator. */
  const movingAs = (actor: string) => {
    const by = { ...stores, ...common, actor, balanceLimits: config.walletLimits.balance }
    return {
      orders: makeManageOrders(by),
      funds: makeMoveFunds(by),
      wallets: makeManageWallets({
        ...by,
        limits: stores.walletLimits,
        resets: stores.pinResets,
      }),
      corrections: makeCorrectBooks(by),
      merchants: makeManageMerchants(by),
      payouts: makeManagePayouts(by),
      transfers: makeRecordTransfers({
        ...by,
        onAlert: (message, about) => hints.railAlert(message, about),
      }),
      bankAccounts: makeManageBankAccounts({ ...by, waitMs: config.bankAccountWaitMs }),
      members: manageMembers(actor),
    }
  }
  const reconcilingAs = (actor: string) => {
    const { payouts, transfers } = movingAs(actor)
    return makeReconciling({
      ...stores,
      ...common,
      statements: stores.bankStatements,
      payouts,
      transfers,
      policy: config.approvals,
      actor,
      onUnexplained: (day) => hints.unexplained(day),
    })
  }
  const askingAs = ({ operator, actor }: Asking) => ({
    ...common,
    ...movingAs(actor),
    approvals: stores.approvals,
    policy: config.approvals,
    actor,
    operator,
  })

  return {
    manageMembers,
    reconcilingAs,
    decideApprovals: makeDecideApprovals({
      ...stores,
      ...common,
      memberSecondStep,
      carryOutAs: movingAs,
      onBooked: () => hints.reconcile(),
    }),
    moneyActs: (by: Asking) => makeMoneyActs(askingAs(by)),
    merchantActs: (by: Asking) => makeMerchantActs(askingAs(by)),
    payoutActs: (by: Asking) => makePayoutActs(askingAs(by)),
    transferActs: (by: Asking) => makeTransferActs(askingAs(by)),
    memberActs: (by: Asking) => makeMemberActs({ ...askingAs(by), memberSecondStep }),

    as: (actor: string) => {
      const by = { ...stores, ...common, actor }
      return {
        ...movingAs(actor),
        operators: makeManageOperators({ ...by, hasProvider: config.openId !== undefined }),
        applications: makeDecideApplications(by),
        changeMemberPassword: makeChangePassword({
          ...by,
          kind: 'member',
          setPassword: stores.members.setPassword,
        }),
        callbacks: makeManageCallbacks({ ...by, ...callbacks }),
        hosts: makePauseHosts({ ...by, pauses: stores.callbackPauses }),
        endpoints: makeManageEndpoints(by),
        notices: makeManageNotices(by),
        returnLateMoney: makeReturnLateMoney(by),
        links: makeManageLinks({ ...by, storeLink: makeStoreLink(by) }),
        reconciliation: reconcilingAs(actor),
        rails: makeManageRails({ ...by, mode: config.mode }),
        prices: makeManagePrices({ ...by, prices: stores.priceLists }),
        banks: makeManageBanks({ ...by, banks: stores.bankAccounts }),
        payoutPlans: makeManagePlans({ ...by, onWork }),
        payoutRuns: makeManageRuns({ ...by, onWork }),
        platformKeys: makeManagePlatformKeys({ ...by, keys: stores.platformKeys }),
        masterKey: makeRotateMasterKey({ ...by, secrets: stores.sealedSecrets }),
      }
    },
  }
}
