// The operations that actions and their pages use. `makeOperations` creates them once.

import type { ExportAudit } from '../core/audit/export-audit.ts'
import type { AuditLogStore } from '../core/audit/store/audit-log.ts'
import type { AnyContext, Reading } from '../core/authority/context.ts'
import type { ApprovalPolicy } from '../core/authority/rules/approval.ts'
import type { ReadEvents } from '../core/callbacks/events/read-events.ts'
import type { ManageEndpoints } from '../core/callbacks/manage-endpoints.ts'
import type { PauseHosts } from '../core/callbacks/pause-hosts.ts'
import type { ManageCallbacks } from '../core/callbacks/resend-callbacks.ts'
import type { SendTestEvent } from '../core/callbacks/send-test-event.ts'
import type { CallbackCounts } from '../core/callbacks/store/callback-history.ts'
import type { ManageEmails } from '../core/email-log/manage-emails.ts'
import type { ManagePlatformKeys } from '../core/keys/manage-platform-keys.ts'
import type { ReadBooks } from '../core/ledger/read-books.ts'
import type { Account } from '../core/ledger/store/ledger.ts'
import type { Verification } from '../core/ledger/store/ledger-checks.ts'
import type { MerchantStatementStore, StatementRange } from '../core/ledger/store/merchant-statements.ts'
import type { ListMovements } from '../core/ledger/store/movements.ts'
import type { BalanceLine } from '../core/ledger/store/trial-balance.ts'
import type { ManageMerchants } from '../core/merchants/manage-merchants.ts'
import type { FindOrders } from '../core/orders/find-orders.ts'
import type { ManageOrders } from '../core/orders/manage-orders.ts'
import type { ReadBill } from '../finance/bills/read-bill.ts'
import type { BillStore } from '../finance/bills/store/bills.ts'
import type { ManageLinks } from '../finance/links/manage-links.ts'
import type { ReadMerchant } from '../finance/overview/read-merchant.ts'
import type { ReadOverview } from '../finance/overview/read-overview.ts'
import type { CallbackWithAttempts, ShowOrder } from '../finance/overview/show-order.ts'
import type { ReadNames } from '../finance/overview/store/names.ts'
import type { SearchBooks } from '../finance/overview/store/search.ts'
import type { SystemState } from '../finance/overview/store/system-state.ts'
import type { ManageBankAccounts } from '../finance/payouts/manage-bank-accounts.ts'
import type { ManagePayouts } from '../finance/payouts/manage-payouts.ts'
import type { ManagePlans } from '../finance/payouts/manage-plans.ts'
import type { ManageRuns } from '../finance/payouts/manage-runs.ts'
import type { ManageDisputes } from '../finance/rails/disputes/manage-disputes.ts'
import type { ManageRails } from '../finance/rails/manage-rails.ts'
import type { RecordTransfers } from '../finance/rails/record-transfers.ts'
import type { ReturnLateMoney } from '../finance/rails/return-late-money.ts'
import type { Reconciling } from '../finance/reconciliation/reconciling.ts'
import type { CorrectBooks } from '../finance/treasury/correct-books.ts'
import type { ManageBanks } from '../finance/treasury/manage-banks.ts'
import type { ManagePrices } from '../finance/treasury/manage-prices.ts'
import type { MoveFunds } from '../finance/treasury/move-funds.ts'
import type { MoveOwnMoney } from '../finance/treasury/move-own-money.ts'
import type { CorrectionStore } from '../finance/treasury/store/corrections.ts'
import type { TreasuryStore } from '../finance/treasury/store/treasury.ts'
import type { SecondStep } from '../identity/accounts/second-step.ts'
import type { DecideApplications } from '../identity/applications/decide-applications.ts'
import type { ManageWallets } from '../identity/consumers/manage-wallets.ts'
import type { ManageMembers } from '../identity/members/manage-members.ts'
import type { IdempotencyKeyOf } from '../identity/operators/idempotency-keys.ts'
import type { ManageTokens } from '../identity/operators/manage-api-tokens.ts'
import type { ManageOperators } from '../identity/operators/manage-operators.ts'
import type { RequestLogStore } from '../platform/request-log/store/request-log.ts'
import type { DecideApprovals } from './approvals/decide-approvals.ts'

/** The limit for counts on pages, which show "more than" beyond it. */
export const countedAtMost = 10_000

/** Operations for one merchant, with a context that may be limited to it. */
export interface MerchantOperations {
  readonly approvalPolicy: ApprovalPolicy
  /** The public address of the gateway. */
  readonly publicUrl: string
  platformPublicKey(): Promise<string>
  readonly orders: FindOrders & ManageOrders
  readonly showOrder: ShowOrder
  readonly callbacks: ManageCallbacks
  readonly endpoints: ManageEndpoints & { readonly sendTestEvent: SendTestEvent }
  readonly merchants: ManageMerchants
  readonly members: ManageMembers
  readonly bankAccounts: ManageBankAccounts
  readonly links: ManageLinks
  readonly disputes: ManageDisputes
  readonly readMerchant: ReadMerchant
  findRailName(railId: string, language: string): Promise<string>
}

export interface Operations extends MerchantOperations {
  readonly approvals: DecideApprovals
  readonly hosts: PauseHosts
  readonly applications: DecideApplications
  readonly operators: ManageOperators
  readonly operatorAccounts: { readonly secondStep: Pick<SecondStep, 'reset'> }
  readonly memberAccounts: { readonly secondStep: Pick<SecondStep, 'reset'> }
  readonly apiTokens: ManageTokens
  readonly idempotencyKeyOf: IdempotencyKeyOf
  readonly emails: ManageEmails
  readonly platformKeys: ManagePlatformKeys
  readonly wallets: ManageWallets
  readonly funds: MoveFunds
  readonly rails: ManageRails
  readonly transfers: RecordTransfers
  readonly returnLateMoney: ReturnLateMoney
  readonly prices: ManagePrices
  readonly banks: ManageBanks
  readonly ownMoney: MoveOwnMoney
  readonly corrections: CorrectBooks & {
    readonly listCorrections: Reading<CorrectionStore['listCorrections']>
    readonly listHeld: Reading<CorrectionStore['listHeld']>
    readonly listRefundsToSend: Reading<CorrectionStore['listRefundsToSend']>
    /** A transfer that an operator may correct, and how much of it was corrected. */
    readonly findCorrectable: Reading<TreasuryStore['findCorrectable']>
  }
  readonly payouts: ManagePayouts
  readonly payoutPlans: ManagePlans
  readonly payoutRuns: ManageRuns
  readonly reconciliation: Reconciling
  readonly readEvents: Pick<ReadEvents, 'read'>
  readonly readOverview: ReadOverview
  readonly listAuditEntries: Reading<AuditLogStore['listEntries']>
  readonly exportAuditCsv: ExportAudit
  /** Rejected or slow requests, newest first. */
  readonly listRequests: Reading<RequestLogStore['list']>
  findCallback(context: AnyContext, callbackId: string): Promise<CallbackWithAttempts | undefined>
  /** Counts up to `countedAtMost`. */
  countCallbacks(context: AnyContext, nowMs: number): Promise<CallbackCounts>
  /** Rejected and exhausted emails, up to `countedAtMost`. */
  countFailedEmails(context: AnyContext, sinceMs: number): Promise<number>
  listMerchantAccounts(context: AnyContext, merchantId: string): Promise<readonly Account[]>
  /** The accounts that hold late money. */
  listSuspenseAccounts(context: AnyContext): Promise<readonly Account[]>
  listRailAccounts(context: AnyContext, railId: string): Promise<readonly Account[]>
  readonly searchBooks: Reading<SearchBooks>
  /** The names of IDs and logins, as far as there are any. */
  readonly readNames: Reading<ReadNames>
  /** Lists the movements of a wallet or one of the operator's bank accounts. */
  readonly listMovements: Reading<ListMovements>
  writeStatement(context: AnyContext, range: StatementRange): AsyncIterable<string>
  readonly readStatement: Reading<MerchantStatementStore['read']>
  /** Newest first. */
  readonly listBills: Reading<BillStore['listBills']>
  /** Throws if there is none yet. */
  readonly readBill: ReadBill
  trialBalance(context: AnyContext): Promise<readonly BalanceLine[]>
  /** The trial balance for pages, which may be some seconds old if there are many accounts. */
  readonly readBooks: ReadBooks
  verifyLedger(): Promise<Verification>
  /** `isOverdue` only in live mode. */
  backup(
    context: AnyContext,
    nowMs: number,
  ): Promise<{ readonly lastAtMs: number | undefined; readonly isOverdue: boolean }>
  system(
    context: AnyContext,
    nowMs: number,
  ): Promise<{ readonly about: AboutProcess; readonly state: SystemState }>
}

export interface AboutProcess {
  readonly version: string
  readonly mode: 'sandbox' | 'live'
  readonly publicUrl: string
  readonly node: string
  readonly pid: number
  readonly upMs: number
  readonly memoryBytes: number
}
