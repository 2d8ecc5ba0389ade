// What somebody who acts as one merchant can reach: everything of that merchant, and nothing of another. Made over stores
// that know no other merchant, so that no page and no act can forget it.

import type { OperatorService } from '../../acts/service.ts'
import type { Bill } from '../../bills/rules/bill.ts'
import type { BillStore } from '../../bills/store/bills.ts'
import type { ManageEndpoints, ShownEndpoint } from '../../callbacks/manage-endpoints.ts'
import type { CallbackPage, ManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import type { Endpoint } from '../../callbacks/rules/endpoint.ts'
import type { CallbackFilter } from '../../callbacks/store/callback-history.ts'
import type { Account } from '../../ledger/store/ledger.ts'
import type { StatementRange } from '../../ledger/store/statements.ts'
import type { ManageLinks, ShownLink } from '../../links/manage-links.ts'
import type { PaymentLink } from '../../links/rules/link.ts'
import type { ManageMembers } from '../../members/manage-members.ts'
import type { ManageMerchants } from '../../merchants/manage-merchants.ts'
import type { Merchant, MerchantKey } from '../../merchants/rules/merchant.ts'
import type { ManageOrders } from '../../orders/manage-orders.ts'
import type { CallbackWithAttempts, OrderDetails } from '../../orders/show-order.ts'
import type { FoundOrders, ListedOrder, OrderFilter, OrderPage } from '../../orders/store/order-list.ts'
import type { Attention, OrderTally } from '../../overview/store/merchant-figures.ts'
import type { ManageBankAccounts } from '../../payouts/manage-bank-accounts.ts'
import type { MerchantBankAccount } from '../../payouts/rules/bank-account.ts'
import type { Payout } from '../../payouts/rules/payout.ts'
import type { PayoutPlan } from '../../payouts/rules/payout-plan.ts'
import type { LoggedRequest, RequestPlace } from '../../system/store/request-log.ts'

import type { Price } from '../../treasury/rules/price.ts'

export interface MerchantScope extends MerchantReads {
  readonly merchantId: string
  /** For acts of the catalogue: of the operators' service what an act of a merchant may use. */
  readonly service: ScopedService
}

export interface MerchantReads {
  /** Throws where the merchant is gone. */
  merchant(): Promise<{ merchant: Merchant; keys: readonly MerchantKey[] }>
  accounts(): Promise<readonly Account[]>
  tallyOrders(sinceMs: number): Promise<readonly OrderTally[]>
  countAttention(sinceMs: number): Promise<Attention>
  listOrders(filter: Omit<OrderFilter, 'merchantId'>, page: OrderPage): Promise<FoundOrders>
  searchOrders(number: string): Promise<readonly ListedOrder[]>
  showOrder(paymentId: string): Promise<OrderDetails | undefined>
  listCallbacks(
    filter: Omit<CallbackFilter, 'merchantId'>,
    page: { before?: string | undefined; limit: number },
  ): Promise<CallbackPage>
  listEndpoints(): Promise<readonly Endpoint[]>
  /** Throws where there is none, here and below. */
  showEndpoint(endpointId: string): Promise<ShownEndpoint>
  showCallback(callbackId: string): Promise<CallbackWithAttempts>
  /** Only what is this merchant's for certain. */
  listRequests(
    filter: { requestId?: string | undefined },
    page: { before?: RequestPlace | undefined; limit: number },
  ): Promise<readonly LoggedRequest[]>
  statement(range: Omit<StatementRange, 'merchantId'>): AsyncIterable<string>
  members(): ReturnType<ManageMembers['listMembers']>
  /** The newest first. */
  listBills(page: { before?: string | undefined; limit: number }): Promise<readonly Bill[]>
  /** Undefined: there is none of that day. */
  findBill(day: string): Promise<AsyncIterable<string> | undefined>
  /** What bills since that day say that fees took, below zero. */
  billedFees(since: string): ReturnType<BillStore['sumFees']>
  /** The newest first. */
  listPayouts(page: { before?: string | undefined; limit: number }): Promise<readonly Payout[]>
  findPayout(payoutId: string): Promise<Payout | undefined>
  payoutPlans(): Promise<readonly PayoutPlan[]>
  bankAccounts(): Promise<readonly MerchantBankAccount[]>
  /** False: a second operator looks at such changes, so an operator makes them. */
  readonly mayChangeBank: boolean
  /** For this merchant and for all. */
  prices(): Promise<readonly Price[]>
  /** The newest first. */
  listLinks(page: { before?: string | undefined; limit: number }): Promise<readonly PaymentLink[]>
  /** With totals of the newest payments. Throws where there is none. */
  showLink(linkId: string): Promise<ShownLink>
}

export interface ScopedService
  extends Pick<
    OperatorService,
    'memberActs' | 'merchantActs' | 'moneyActs' | 'payoutActs' | 'publicUrl' | 'platformPublicKey'
  > {
  as(actor: string): {
    readonly orders: Omit<ManageOrders, 'refundOrder'>
    readonly callbacks: ManageCallbacks
    readonly endpoints: ManageEndpoints
    readonly merchants: Omit<ManageMerchants, 'addKey' | 'changeMerchant'>
    readonly members: Omit<ManageMembers, 'inviteMember' | 'changeRole' | 'recoverAccount'>
    readonly bankAccounts: ManageBankAccounts
    readonly links: ManageLinks
  }
}
