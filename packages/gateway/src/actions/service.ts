// What acts and the faces that show them need from the gateway, once the database is there: the operations, each in the
// name of whoever acts, and what pages read.

import type { Actor } from '../core/audit/audit-entries.ts'
import type { ApprovalPolicy } from '../core/audit/rules/approval.ts'
import type { AuditLogStore } from '../core/audit/store/audit-log.ts'
import type { ReadEvents } from '../core/callbacks/events/read-events.ts'
import type { ManageEndpoints } from '../core/callbacks/manage-endpoints.ts'
import type { PauseHosts } from '../core/callbacks/pause-hosts.ts'
import type { ManageCallbacks } from '../core/callbacks/resend-callbacks.ts'
import type { CallbackCounts } from '../core/callbacks/store/callback-history.ts'
import type { ManageNotices } from '../core/email-log/manage-notices.ts'
import type { ManagePlatformKeys } from '../core/keys/manage-platform-keys.ts'
import type { ReadBooks } from '../core/ledger/read-books.ts'
import type { Account } from '../core/ledger/store/ledger.ts'
import type { Verification } from '../core/ledger/store/ledger-checks.ts'
import type { ListMovements } from '../core/ledger/store/movements.ts'
import type { StatementRange, StatementStore } from '../core/ledger/store/statements.ts'
import type { BalanceLine } from '../core/ledger/store/trial-balance.ts'
import type { ManageMerchants } from '../core/merchants/manage-merchants.ts'
import type { FindOrders } from '../core/orders/find-orders.ts'
import type { ManageOrders } from '../core/orders/manage-orders.ts'
import type { ReadBill } from '../finance/bills/read-bill.ts'
import type { BillStore } from '../finance/bills/store/bills.ts'
import type { ManageLinks } from '../finance/links/manage-links.ts'
import type { ReadOverview } from '../finance/overview/read-overview.ts'
import type { CallbackWithAttempts, ShowOrder } from '../finance/overview/show-order.ts'
import type { SystemState } from '../finance/overview/store/system-state.ts'
import type { ManageBankAccounts } from '../finance/payouts/manage-bank-accounts.ts'
import type { ManagePayouts } from '../finance/payouts/manage-payouts.ts'
import type { ManagePlans } from '../finance/payouts/manage-plans.ts'
import type { ManageRuns } from '../finance/payouts/manage-runs.ts'
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
import type { Authenticate } from '../identity/accounts/authenticate.ts'
import type { Passkeys } from '../identity/accounts/passkeys.ts'
import type { SecondStep } from '../identity/accounts/second-step.ts'
import type { Sessions } from '../identity/accounts/sessions.ts'
import type { DecideApplications } from '../identity/applications/decide-applications.ts'
import type { ManageWallets } from '../identity/consumers/manage-wallets.ts'
import type { ManageMembers } from '../identity/members/manage-members.ts'
import type { ManageTokens } from '../identity/operators/manage-api-tokens.ts'
import type { ManageOperators } from '../identity/operators/manage-operators.ts'
import type { Operator } from '../identity/operators/rules/operator.ts'
import type { SignInByProvider } from '../identity/operators/sign-in-by-provider.ts'
import type { RequestLogStore } from '../platform/request-log/store/request-log.ts'
import type { OpenIdClient } from '../platform/runtime/outside/openid.ts'
import type { Sealing } from '../platform/runtime/secrets/sealing.ts'
import type { Tokens } from '../platform/runtime/secrets/tokens.ts'
import type { DecideApprovals } from './approvals/decide-approvals.ts'

/** Pages count no further: more than this is "more than this". */
export const countedAtMost = 10_000

export interface OperatorService {
  readonly authenticate: Authenticate<Operator>
  readonly sessions: Sessions<Operator>
  /** Where operators sign in at an identity provider. */
  readonly provider: (OpenIdClient & { readonly signIn: SignInByProvider }) | undefined
  findOperator(login: string): Promise<Operator | undefined>
  readonly secondStep: SecondStep
  readonly passkeys: Passkeys
  /** Must switch the second step on before anything else. */
  needsSecondStep(operator: Operator): boolean
  readonly apiTokens: ManageTokens
  readonly sealing: Sealing
  readonly tokens: Tokens
  readonly overview: ReadOverview
  readonly orders: FindOrders
  readonly events: Pick<ReadEvents, 'read'>
  readonly showOrder: ShowOrder
  readonly audit: AuditLogStore
  /** Requests that were refused or slow, the newest first. */
  readonly requests: RequestLogStore['list']
  readonly approvalPolicy: ApprovalPolicy
  /** Whether strangers may apply for live keys. */
  readonly takesApplications: boolean
  readonly approvals: DecideApprovals
  findCallback(callbackId: string): Promise<CallbackWithAttempts | undefined>
  /** No further than `countedAtMost`. */
  countCallbacks(nowMs: number): Promise<CallbackCounts>
  readonly corrections: CorrectionStore
  /** A transfer that an operator may correct, with how much of it was. */
  findCorrectable: TreasuryStore['findCorrectable']
  merchantAccounts(merchantId: string): Promise<readonly Account[]>
  /** Money that came late. */
  suspenseAccounts(): Promise<readonly Account[]>
  /** Refused or given up; no further than `countedAtMost`. */
  countFailedNotices(sinceMs: number): Promise<number>
  railAccounts(railId: string): Promise<readonly Account[]>
  /** On a wallet, or on one of the operator's bank accounts. */
  readonly listMovements: ListMovements
  statement(range: StatementRange): AsyncIterable<string>
  readStatement: StatementStore['read']
  platformPublicKey(): Promise<string>
  /** Where merchants and consumers reach the gateway. */
  readonly publicUrl: string
  trialBalance(): Promise<readonly BalanceLine[]>
  /** The same for pages, some seconds old where there are many accounts. */
  readonly readBooks: ReadBooks
  /** The newest first. */
  readonly listBills: BillStore['listBills']
  /** Throws where there is none yet. */
  readonly readBill: ReadBill
  verifyLedger(): Promise<Verification>
  system(nowMs: number): Promise<{ readonly about: AboutProcess; readonly state: SystemState }>
  /** The operations in one person's name. */
  as(by: string | Actor): OperatorActions
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

export interface OperatorActions {
  readonly operators: ManageOperators
  readonly orders: ManageOrders
  readonly funds: MoveFunds
  readonly corrections: CorrectBooks
  resetMemberSecondStep(login: string, reason: string): Promise<void>
  readonly callbacks: ManageCallbacks
  readonly hosts: PauseHosts
  readonly endpoints: ManageEndpoints
  readonly links: ManageLinks
  readonly rails: ManageRails
  readonly returnLateMoney: ReturnLateMoney
  readonly notices: ManageNotices
  readonly transfers: RecordTransfers
  readonly reconciliation: Reconciling
  readonly merchants: ManageMerchants
  readonly wallets: ManageWallets
  readonly prices: ManagePrices
  readonly banks: ManageBanks
  readonly ownMoney: MoveOwnMoney
  readonly bankAccounts: ManageBankAccounts
  readonly payoutPlans: ManagePlans
  readonly payoutRuns: ManageRuns
  readonly payouts: ManagePayouts
  readonly platformKeys: ManagePlatformKeys
  readonly members: ManageMembers
  readonly applications: DecideApplications
}
