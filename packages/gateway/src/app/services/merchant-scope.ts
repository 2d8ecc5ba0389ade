// One merchant's side of the operations, over stores that reach its rows alone.

import type { MerchantScope } from '../../adapters/portal/merchant-scope.ts'
import type { Actor } from '../../core/audit/audit-entries.ts'
import type { ApprovalPolicy } from '../../core/audit/rules/approval.ts'
import { type ManageEndpointsParts, makeManageEndpoints } from '../../core/callbacks/manage-endpoints.ts'
import { makeManageCallbacks } from '../../core/callbacks/resend-callbacks.ts'
import type { MakeNotices } from '../../core/emails/make-notices.ts'
import { streamStatement } from '../../core/ledger/write-statement.ts'
import { makeManageMerchants } from '../../core/merchants/manage-merchants.ts'
import { scopedTo } from '../../core/merchants/store/scoped.ts'
import { makeCurrentOrder } from '../../core/orders/current-order.ts'
import { makeFindOrders } from '../../core/orders/find-orders.ts'
import { makeManageOrders } from '../../core/orders/manage-orders.ts'
import type { PlaceOrder } from '../../core/orders/place-order.ts'
import { makeStoreLink } from '../../finance/links/create-link.ts'
import { makeManageLinks } from '../../finance/links/manage-links.ts'
import { makeShowOrder } from '../../finance/overview/show-order.ts'
import { makeManageBankAccounts } from '../../finance/payouts/manage-bank-accounts.ts'
import { makeManageMembers } from '../../identity/members/manage-members.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Stores } from '../database/stores.ts'

export interface MerchantScopeParts extends ClockAndRandom {
  readonly stores: Stores
  readonly vault: Vault
  readonly publicUrl: string
  readonly platformPublicKey: () => Promise<string>
  readonly refusalOfCallbackUrl: ManageEndpointsParts['refusalOfCallbackUrl']
  readonly makeNotices: MakeNotices
  readonly placeOrder: Pick<PlaceOrder, 'refusalOfAddresses'>
  readonly policy: ApprovalPolicy
  readonly bankAccountWaitMs: number
}

export function makeMerchantScope(parts: MerchantScopeParts) {
  const { vault, publicUrl, platformPublicKey, refusalOfCallbackUrl, makeNotices, clock, random } = parts

  return (merchantId: string): MerchantScope => {
    const stores = scopedTo(parts.stores, merchantId)
    const { merchants, treasury, members, callbackHistory: history } = stores
    const currentOrder = makeCurrentOrder({ orders: stores.orders, random })
    const by = (own: Actor) => ({ clock, random, ...own })
    const manageMerchants = (own: Actor) =>
      makeManageMerchants({
        merchants,
        vault,
        makeNotices,
        refusalOfCallbackUrl,
        ...by(own),
      })
    const manageEndpoints = (own: Actor) =>
      makeManageEndpoints({
        endpoints: stores.endpoints,
        merchants,
        vault,
        refusalOfCallbackUrl,
        ...by(own),
      })
    const manageOrders = (own: Actor) =>
      makeManageOrders({ ...partsOf(stores), currentOrder, by: 'member', ...by(own) })
    const manageCallbacks = (own: Actor) =>
      makeManageCallbacks({ history, resends: stores.callbackResends, ...by(own) })
    const manageMembers = (own: Actor) =>
      makeManageMembers({
        members,
        links: stores.memberLinks,
        merchants,
        makeNotices,
        publicUrl,
        ...by(own),
      })
    const manageBankAccounts = (own: Actor) =>
      makeManageBankAccounts({
        merchantBankAccounts: stores.merchantBankAccounts,
        makeNotices,
        waitMs: parts.bankAccountWaitMs,
        ...by(own),
      })
    const linkParts = { links: stores.links, placeOrder: parts.placeOrder, publicUrl, clock, random }
    const manageLinks = (own: Actor) =>
      makeManageLinks({ ...linkParts, merchants, storeLink: makeStoreLink(linkParts), ...by(own) })
    const reader: Actor = { actor: 'portal' }
    const find = makeFindOrders({ list: stores.orderList })
    const showOrder = makeShowOrder({
      refunds: stores.refunds,
      merchants,
      details: stores.orderDetails,
      attempts: stores.attempts,
      transferEntries: stores.transferEntries,
      history,
      currentOrder,
      clock,
      random,
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
      callbackHealth: () => history.healthOf(merchantId),
      listEndpoints: () => manageEndpoints(reader).listEndpoints(merchantId),
      showEndpoint: (endpointId) => manageEndpoints(reader).showEndpoint({ merchantId, endpointId }),
      showCallback: (callbackId) => manageCallbacks(reader).showCallback(callbackId, merchantId),
      listRequests: (filter, page) => stores.requestLog.list({ ...filter, merchantId, isOpened: true }, page),
      statement: (range) => streamStatement(stores.statements, { ...range, merchantId }),
      members: () => manageMembers(reader).listMembers(merchantId),
      listBills: (page) => stores.bills.listBills(merchantId, page),
      findBill: async (day) => {
        const key = { merchantId, day }
        return (await stores.bills.findBill(key)) && stores.bills.readParts(key)
      },
      billedFees: (since) => stores.bills.sumFees(merchantId, since),
      listPayouts: (page) => stores.payouts.listPayouts({ merchantId }, page),
      findPayout: (payoutId) => stores.payouts.findPayout({ merchantId, payoutId }),
      payoutPlans: () => stores.payoutPlans.listPlans(merchantId),
      bankAccounts: () => stores.merchantBankAccounts.listAccounts(merchantId),
      mayChangeBank: !parts.policy.words.includes('destination'),
      prices: () => stores.priceLists.listPrices(merchantId, maxPrices),
      listLinks: (page) => manageLinks(reader).listLinks({ ...page, merchantId }),
      showLink: (linkId) => manageLinks(reader).showOnPage({ merchantId, linkId }),
      service: {
        publicUrl,
        platformPublicKey,
        approvalPolicy: parts.policy,
        as: (own) => ({
          orders: manageOrders(own),
          callbacks: manageCallbacks(own),
          endpoints: manageEndpoints(own),
          merchants: manageMerchants(own),
          members: manageMembers(own),
          bankAccounts: manageBankAccounts(own),
          links: manageLinks(own),
        }),
      },
    }
  }
}

/** More are not shown. */
const maxPrices = 10_000

/** Spreading a proxy would take the stores themselves. */
function partsOf({ orders, refunds, merchants }: Stores) {
  return { orders, refunds, merchants }
}
