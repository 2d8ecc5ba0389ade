// One merchant's side of the operations, over stores that reach its rows alone.

import { type ManageEndpointsParts, makeManageEndpoints } from '../../callbacks/manage-endpoints.ts'
import { makeManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import type { MerchantScope } from '../../faces/portal/merchant-scope.ts'
import { streamStatement } from '../../ledger/write-statement.ts'
import { makeManageMembers } from '../../members/manage-members.ts'
import { makeManageMerchants } from '../../merchants/manage-merchants.ts'
import { makeMerchantActs } from '../../merchants/merchant-acts.ts'
import { scopedTo } from '../../merchants/store/scoped.ts'
import type { MakeNotices } from '../../notices/make-notices.ts'
import type { ApprovalPolicy } from '../../operators/rules/approval.ts'
import { makeCurrentOrder } from '../../orders/current-order.ts'
import { makeFindOrders } from '../../orders/find-orders.ts'
import { makeManageOrders } from '../../orders/manage-orders.ts'
import { makeShowOrder } from '../../orders/show-order.ts'
import type { ClockAndRandom } from '../../platform/clock.ts'
import { makeTokens } from '../../platform/tokens.ts'
import type { Vault } from '../../platform/vault.ts'
import { makeCorrectBooks } from '../../treasury/correct-books.ts'
import { makeMoneyActs } from '../../treasury/money-acts.ts'
import { makeMoveFunds } from '../../treasury/move-funds.ts'
import { makeManageWallets } from '../../wallets/manage-wallets.ts'
import type { Stores } from '../stores.ts'

export interface MerchantScopeParts extends ClockAndRandom {
  readonly stores: Stores
  readonly vault: Vault
  readonly publicUrl: string
  readonly platformPublicKey: () => Promise<string>
  readonly refusalOfCallbackUrl: ManageEndpointsParts['refusalOfCallbackUrl']
  readonly onSubmitted: (railId?: string) => void
  readonly onTask: () => void
  readonly makeNotices: MakeNotices
}

/** Second operators are the gateway's own: what a merchant does with its own asks none of them. */
const ownPolicy: ApprovalPolicy = { refundLimits: undefined, kinds: [], lifeMs: 0 }

export function makeMerchantScope(parts: MerchantScopeParts) {
  const {
    vault,
    publicUrl,
    platformPublicKey,
    refusalOfCallbackUrl,
    onSubmitted,
    onTask,
    makeNotices,
    clock,
    random,
  } = parts

  return (merchantId: string): MerchantScope => {
    const stores = scopedTo(parts.stores, merchantId)
    const { merchants, wallets, treasury, members, callbackHistory: history } = stores
    const currentOrder = makeCurrentOrder({ orders: stores.orders, random })
    const by = (actor: string) => ({ clock, random, actor })
    const manageMerchants = (actor: string) =>
      makeManageMerchants({
        merchants,
        vault,
        makeNotices,
        refusalOfCallbackUrl,
        ...by(actor),
      })
    const manageEndpoints = (actor: string) =>
      makeManageEndpoints({
        ...{ endpoints: stores.endpoints, merchants, vault, refusalOfCallbackUrl },
        ...by(actor),
      })
    const manageOrders = (actor: string) =>
      makeManageOrders({ ...partsOf(stores), currentOrder, onSubmitted, onTask, by: 'member', ...by(actor) })
    const manageCallbacks = (actor: string) =>
      makeManageCallbacks({ history, resends: stores.callbackResends, ...by(actor) })
    const manageMembers = (actor: string) =>
      makeManageMembers({
        ...{ members, links: stores.memberLinks, merchants, makeNotices, publicUrl },
        ...by(actor),
      })
    const asking = (actor: string) => ({
      ...{ approvals: stores.approvals, policy: ownPolicy, operator: undefined, makeNotices },
      ...by(actor),
    })
    const reader = 'portal'
    const find = makeFindOrders({ list: stores.orderList })
    const showOrder = makeShowOrder({
      ...{ refunds: stores.refunds, merchants, details: stores.orderDetails, attempts: stores.attempts },
      ...{ transferEntries: stores.transferEntries, history, currentOrder, clock, random },
    })
    return {
      merchantId,
      merchant: () => manageMerchants(reader).showMerchant(merchantId),
      accounts: () => treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId }),
      tallyOrders: (sinceMs) => stores.merchantFigures.tallyOrders({ merchantId, sinceMs }),
      countAttention: (sinceMs) => stores.merchantFigures.countAttention({ merchantId, sinceMs }),
      listOrders: (filter, page) => find.listOrders({ ...filter, merchantId }, page),
      searchOrders: (number) => find.search(number, merchantId),
      showOrder: (paymentId) => showOrder({ merchantId, paymentId }),
      listCallbacks: (filter, page) => manageCallbacks(reader).listPage({ ...filter, merchantId }, page),
      listEndpoints: () => manageEndpoints(reader).listEndpoints(merchantId),
      showEndpoint: (endpointId) => manageEndpoints(reader).showEndpoint({ merchantId, endpointId }),
      showCallback: (callbackId) => manageCallbacks(reader).showCallback(callbackId, merchantId),
      listRequests: (filter, page) => stores.requestLog.list({ ...filter, merchantId, isOpened: true }, page),
      statement: (range) => streamStatement(stores.statements, { ...range, merchantId }),
      members: () => manageMembers(reader).listMembers(merchantId),
      service: {
        publicUrl,
        platformPublicKey,
        as: (actor) => ({
          orders: manageOrders(actor),
          callbacks: manageCallbacks(actor),
          endpoints: manageEndpoints(actor),
          merchants: manageMerchants(actor),
          members: manageMembers(actor),
        }),
        merchantActs: ({ actor }) =>
          makeMerchantActs({ merchants: manageMerchants(actor), ...asking(actor) }),
        moneyActs: ({ actor }) =>
          makeMoneyActs({
            orders: manageOrders(actor),
            funds: makeMoveFunds({ treasury, ...by(actor) }),
            corrections: makeCorrectBooks({ treasury, ...by(actor) }),
            wallets: makeManageWallets({
              ...{ wallets, treasury, vault, ...by(actor) },
              ...{ limits: stores.walletLimits, consumerData: stores.consumerData },
              ...{ resets: stores.pinResets, pinResetCodes: makeTokens(vault.deriveKeys('PIN reset codes')) },
            }),
            ...asking(actor),
          }),
      },
    }
  }
}

/** Spreading a proxy would take the stores themselves. */
function partsOf({ orders, refunds, merchants }: Stores) {
  return { orders, refunds, merchants }
}
