// What somebody who acts as one merchant can reach: everything of that merchant, and nothing of another. Made over stores
// that know no other merchant, so that no page and no action can forget it.

import type { OperatorService } from '../../actions/service.ts'
import type { Actor } from '../../core/audit/audit-entries.ts'
import type {
  EndpointWithHealth,
  ManageEndpoints,
  ShownEndpoint,
} from '../../core/callbacks/manage-endpoints.ts'
import type { CallbackPage, ManageCallbacks } from '../../core/callbacks/resend-callbacks.ts'
import type { MerchantHealth } from '../../core/callbacks/store/callback-health.ts'
import type { CallbackFilter } from '../../core/callbacks/store/callback-history.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import type { StatementRange } from '../../core/ledger/store/statements.ts'
import type { ManageMerchants, ShownKey } from '../../core/merchants/manage-merchants.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { Price } from '../../core/orders/fees/rules/price.ts'
import type { ManageOrders } from '../../core/orders/manage-orders.ts'
import type { FoundOrders, ListedOrder, OrderFilter, OrderPage } from '../../core/orders/store/order-list.ts'
import type { Bill } from '../../finance/bills/rules/bill.ts'
import type { BillStore } from '../../finance/bills/store/bills.ts'
import type { ManageLinks, ShownLink } from '../../finance/links/manage-links.ts'
import type { PaymentLink } from '../../finance/links/rules/link.ts'
import type { CallbackWithAttempts, OrderDetails } from '../../finance/overview/show-order.ts'
import type { Attention, OrderTally } from '../../finance/overview/store/merchant-figures.ts'
import type { ManageBankAccounts } from '../../finance/payouts/manage-bank-accounts.ts'
import type { MerchantBankAccount } from '../../finance/payouts/rules/bank-account.ts'
import type { Payout } from '../../finance/payouts/rules/payout.ts'
import type { PayoutPlan } from '../../finance/payouts/rules/payout-plan.ts'
import type { ManageMembers } from '../../identity/members/manage-members.ts'
import type { LoggedRequest, RequestPlace } from '../../platform/request-log/store/request-log.ts'

export interface MerchantScope extends MerchantReads {
  readonly merchantId: string
  /** For acts of the catalogue: of the operators' service what an action of a merchant may use. */
  readonly service: ScopedService
}

export interface MerchantReads {
  /** Throws where the merchant is gone. */
  merchant(): Promise<{ merchant: Merchant; keys: readonly ShownKey[] }>
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
  /** What of its destinations and their hosts fails just now. */
  callbackHealth(): Promise<MerchantHealth>
  listEndpoints(): Promise<readonly EndpointWithHealth[]>
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
  extends Pick<OperatorService, 'publicUrl' | 'platformPublicKey' | 'approvalPolicy'> {
  as(by: Actor): {
    readonly orders: ManageOrders
    readonly callbacks: ManageCallbacks
    readonly endpoints: ManageEndpoints
    readonly merchants: ManageMerchants
    readonly members: ManageMembers
    readonly bankAccounts: ManageBankAccounts
    readonly links: ManageLinks
  }
}
