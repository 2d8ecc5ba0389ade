// One merchant's side of the operations, over stores that reach its rows alone.

import { type ManageEndpointsParts, makeManageEndpoints } from '../../callbacks/manage-endpoints.ts'
import { makeManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import type { MerchantScope } from '../../faces/portal/merchant-scope.ts'
import { streamStatement } from '../../ledger/write-statement.ts'
import { makeStoreLink } from '../../links/create-link.ts'
import { makeManageLinks } from '../../links/manage-links.ts'
import { makeManageMembers } from '../../members/manage-members.ts'
import { makeMemberActs } from '../../members/member-acts.ts'
import { makeManageMerchants } from '../../merchants/manage-merchants.ts'
import { makeMerchantActs } from '../../merchants/merchant-acts.ts'
import { scopedTo } from '../../merchants/store/scoped.ts'
import type { MakeNotices } from '../../notices/make-notices.ts'
import type { ApprovalPolicy } from '../../operators/rules/approval.ts'
import { makeCurrentOrder } from '../../orders/current-order.ts'
import { makeFindOrders } from '../../orders/find-orders.ts'
import { makeManageOrders } from '../../orders/manage-orders.ts'
import type { PlaceOrder } from '../../orders/place-order.ts'
import { makeShowOrder } from '../../orders/show-order.ts'
import { makeManageBankAccounts } from '../../payouts/manage-bank-accounts.ts'
import type { ManagePayouts } from '../../payouts/manage-payouts.ts'
import { makePayoutActs } from '../../payouts/payout-acts.ts'
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
  readonly placeOrder: Pick<PlaceOrder, 'refusalOfAddresses'>
  readonly policy: ApprovalPolicy
  readonly bankAccountWaitMs: number
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
        endpoints: stores.endpoints,
        merchants,
        vault,
        refusalOfCallbackUrl,
        ...by(actor),
      })
    const manageOrders = (actor: string) =>
      makeManageOrders({ ...partsOf(stores), currentOrder, onSubmitted, onTask, by: 'member', ...by(actor) })
    const manageCallbacks = (actor: string) =>
      makeManageCallbacks({ history, resends: stores.callbackResends, ...by(actor) })
    const manageMembers = (actor: string) =>
      makeManageMembers({
        members,
        links: stores.memberLinks,
        merchants,
        makeNotices,
        publicUrl,
        ...by(actor),
      })
    const asking = (actor: string) => ({
      approvals: stores.approvals,
      policy: ownPolicy,
      operator: undefined,
      makeNotices,
      ...by(actor),
    })
    const manageBankAccounts = (actor: string) =>
      makeManageBankAccounts({
        merchantBankAccounts: stores.merchantBankAccounts,
        makeNotices,
        waitMs: parts.bankAccountWaitMs,
        ...by(actor),
      })
    const linkParts = { links: stores.links, placeOrder: parts.placeOrder, publicUrl, clock, random }
    const manageLinks = (actor: string) =>
      makeManageLinks({ ...linkParts, merchants, storeLink: makeStoreLink(linkParts), ...by(actor) })
    const reader = 'portal'
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
      mayChangeBank: !parts.policy.kinds.includes('merchant.bank-account'),
      prices: () => stores.priceLists.listPrices(merchantId, maxPrices),
      listLinks: (page) => manageLinks(reader).listLinks({ ...page, merchantId }),
      showLink: (linkId) => manageLinks(reader).showOnPage({ merchantId, linkId }),
      service: {
        publicUrl,
        platformPublicKey,
        as: (actor) => ({
          orders: manageOrders(actor),
          callbacks: manageCallbacks(actor),
          endpoints: manageEndpoints(actor),
          merchants: manageMerchants(actor),
          members: manageMembers(actor),
          bankAccounts: manageBankAccounts(actor),
          links: manageLinks(actor),
        }),
        payoutActs: ({ actor }) =>
          makePayoutActs({
            ...asking(actor),
            // Where payouts go is never the merchant's alone to say if operators want a second one for it.
            policy: parts.policy,
            bankAccounts: manageBankAccounts(actor),
            payouts: noPayouts,
          }),
        memberActs: ({ actor }) =>
          makeMemberActs({ members: manageMembers(actor), memberSecondStep: noReset, ...asking(actor) }),
        merchantActs: ({ actor }) =>
          makeMerchantActs({ merchants: manageMerchants(actor), ...asking(actor) }),
        moneyActs: ({ actor }) =>
          makeMoneyActs({
            orders: manageOrders(actor),
            funds: makeMoveFunds({ treasury, ...by(actor) }),
            corrections: makeCorrectBooks({ treasury, ...by(actor) }),
            wallets: makeManageWallets({
              wallets,
              treasury,
              vault,
              ...by(actor),
              limits: stores.walletLimits,
              consumerData: stores.consumerData,
              resets: stores.pinResets,
              pinResetCodes: makeTokens(vault.deriveKeys('PIN reset codes')),
            }),
            ...asking(actor),
          }),
      },
    }
  }
}

/** More are not shown. */
const maxPrices = 10_000

/** No act of the portal takes another's second step away. */
const noReset = {
  reset: () => {
    throw new Error('members reset nobody’s second step')
  },
}

/** No act of the portal asks for a payout. */
const noPayouts = new Proxy({} as ManagePayouts, {
  get: () => () => {
    throw new Error('members ask for no payouts')
  },
})

/** Spreading a proxy would take the stores themselves. */
function partsOf({ orders, refunds, merchants }: Stores) {
  return { orders, refunds, merchants }
}
