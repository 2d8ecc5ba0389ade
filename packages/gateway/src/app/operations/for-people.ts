// What operators do for every merchant and members for their own, at once or after a second operator's approval.

import { makeDecideApprovals } from '../../actions/approvals/decide-approvals.ts'
import { reading } from '../../core/authority/context.ts'
import { makePrepareCallback } from '../../core/callbacks/deliver-callbacks.ts'
import { makeManageEndpoints } from '../../core/callbacks/manage-endpoints.ts'
import { makePauseHosts } from '../../core/callbacks/pause-hosts.ts'
import { makeManageCallbacks } from '../../core/callbacks/resend-callbacks.ts'
import { makeSendTestEvent } from '../../core/callbacks/send-test-event.ts'
import { makeManageEmails } from '../../core/email-log/manage-emails.ts'
import { makeManagePlatformKeys } from '../../core/keys/manage-platform-keys.ts'
import { makeRotateMasterKey } from '../../core/keys/rotate-master-key.ts'
import { makeManageMerchants } from '../../core/merchants/manage-merchants.ts'
import { makeFindOrders } from '../../core/orders/find-orders.ts'
import { makeManageOrders } from '../../core/orders/manage-orders.ts'
import { makeManageLinks } from '../../finance/links/manage-links.ts'
import { makeManageBankAccounts } from '../../finance/payouts/manage-bank-accounts.ts'
import { makeManagePayouts } from '../../finance/payouts/manage-payouts.ts'
import { makeManagePlans } from '../../finance/payouts/manage-plans.ts'
import { makeManageRuns } from '../../finance/payouts/manage-runs.ts'
import { makeManageDisputes } from '../../finance/rails/disputes/manage-disputes.ts'
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
import { makeDecideApplications } from '../../identity/applications/decide-applications.ts'
import { makeManageWallets } from '../../identity/consumers/manage-wallets.ts'
import { makeManageMembers } from '../../identity/members/manage-members.ts'
import { makeManageOperators } from '../../identity/operators/manage-operators.ts'
import { placeOfSecret } from '../database/secret-places.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'
import type { OperationParts } from './parts.ts'

export function operationsForPeople(
  stores: Stores,
  common: Common,
  { sealingTools: tools }: Pick<OperationParts, 'sealingTools'>,
) {
  const { config } = common
  const parts = {
    ...stores,
    ...common,
    balanceLimits: config.walletLimits.balance,
    defaultLimits: config.walletLimits,
  }
  const perMerchant = { ...common, stores, askRailNow: common.payByRail.look }
  const callbacks = { history: stores.callbackHistory, resends: stores.callbackResends }
  const corrections = makeCorrectBooks(parts)
  const payouts = makeManagePayouts(parts)
  const transfers = makeRecordTransfers(parts)

  return {
    approvals: makeDecideApprovals({ ...parts, policy: config.approvals }),
    orders: {
      ...makeFindOrders({ stores: { list: stores.orderList } }),
      ...makeManageOrders(perMerchant),
    },
    callbacks: makeManageCallbacks({ ...common, stores: callbacks }),
    hosts: makePauseHosts({ ...parts, pauses: stores.callbackPauses }),
    endpoints: {
      ...makeManageEndpoints(perMerchant),
      sendTestEvent: makeSendTestEvent({
        ...perMerchant,
        prepareCallback: makePrepareCallback({ ...common, ...(tools && { tools }) }),
      }),
    },
    disputes: makeManageDisputes(perMerchant),
    merchants: makeManageMerchants(perMerchant),
    members: makeManageMembers({
      ...common,
      operatorName: config.operator.name,
      stores: { ...stores, links: stores.memberLinks },
    }),
    applications: makeDecideApplications({ ...parts, operatorName: config.operator.name }),
    operators: makeManageOperators({ ...parts, hasProvider: config.openId !== undefined }),
    emails: makeManageEmails(parts),
    platformKeys: makeManagePlatformKeys({ ...parts, keys: stores.platformKeys }),
    masterKey: makeRotateMasterKey({ ...parts, secrets: stores.sealedSecrets, placeOf: placeOfSecret }),
    wallets: makeManageWallets({ ...parts, limits: stores.walletLimits, resets: stores.pinResets }),
    funds: makeMoveFunds(parts),
    links: makeManageLinks(perMerchant),
    rails: makeManageRails({ ...parts, mode: config.mode }),
    transfers,
    returnLateMoney: makeReturnLateMoney(parts),
    prices: makeManagePrices({
      ...parts,
      prices: stores.priceLists,
      isRail: async (railId) => (await stores.rails.findRail(railId)) !== undefined,
    }),
    banks: makeManageBanks({ ...parts, banks: stores.bankAccounts }),
    ownMoney: makeMoveOwnMoney(parts),
    corrections: {
      ...corrections,
      listCorrections: reading(stores.corrections.listCorrections),
      listHeld: reading(stores.corrections.listHeld),
      listRefundsToSend: reading(stores.corrections.listRefundsToSend),
      findCorrectable: reading(stores.treasury.findCorrectable),
    },
    bankAccounts: makeManageBankAccounts({
      ...common,
      stores: { bankAccounts: stores.merchantBankAccounts },
      waitMs: config.bankAccountWaitMs,
    }),
    payouts,
    payoutPlans: makeManagePlans(parts),
    payoutRuns: makeManageRuns(parts),
    reconciliation: makeReconciling({
      ...parts,
      statements: stores.bankStatements,
      payouts,
      transfers,
      corrections,
      settleRail: makeSettleRail(parts),
      policy: config.approvals,
    }),
  }
}
