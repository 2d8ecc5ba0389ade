// What acts and the faces that show them need from the gateway, once the database is there: the operations, each in the
// name of whoever acts, and what pages read.
import type { Authenticate } from '../accounts/authenticate.ts'
import type { Passkeys } from '../accounts/passkeys.ts'
import type { SecondStep } from '../accounts/second-step.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { DecideApplications } from '../applications/decide-applications.ts'
import type { ReadBill } from '../bills/read-bill.ts'
import type { BillStore } from '../bills/store/bills.ts'
import type { ManageEndpoints } from '../callbacks/manage-endpoints.ts'
import type { PauseHosts } from '../callbacks/pause-hosts.ts'
import type { ManageCallbacks } from '../callbacks/resend-callbacks.ts'
import type { CallbackCounts } from '../callbacks/store/callback-history.ts'
import type { ReadEvents } from '../events/read-events.ts'
import type { ManagePlatformKeys } from '../keys/manage-platform-keys.ts'
import type { ReadBooks } from '../ledger/read-books.ts'
import type { Account } from '../ledger/store/ledger.ts'
import type { Verification } from '../ledger/store/ledger-checks.ts'
import type { ListMovements } from '../ledger/store/movements.ts'
import type { StatementRange, StatementStore } from '../ledger/store/statements.ts'
import type { BalanceLine } from '../ledger/store/trial-balance.ts'
import type { ManageLinks } from '../links/manage-links.ts'
import type { ManageMembers } from '../members/manage-members.ts'
import type { MemberActs } from '../members/member-acts.ts'
import type { ManageMerchants } from '../merchants/manage-merchants.ts'
import type { MerchantActs } from '../merchants/merchant-acts.ts'
import type { ManageNotices } from '../notices/manage-notices.ts'
import type { AskApprovalParts } from '../operators/ask-approval.ts'
import type { DecideApprovals } from '../operators/decide-approvals.ts'
import type { ManageTokens } from '../operators/manage-api-tokens.ts'
import type { ManageOperators } from '../operators/manage-operators.ts'
import type { ApprovalPolicy } from '../operators/rules/approval.ts'
import type { Operator } from '../operators/rules/operator.ts'
import type { SignInByProvider } from '../operators/sign-in-by-provider.ts'
import type { AuditLogStore } from '../operators/store/audit-log.ts'
import type { FindOrders } from '../orders/find-orders.ts'
import type { ManageOrders } from '../orders/manage-orders.ts'
import type { CallbackWithAttempts, ShowOrder } from '../orders/show-order.ts'
import type { ReadOverview } from '../overview/read-overview.ts'
import type { ManageBankAccounts } from '../payouts/manage-bank-accounts.ts'
import type { ManagePayouts } from '../payouts/manage-payouts.ts'
import type { ManagePlans } from '../payouts/manage-plans.ts'
import type { ManageRuns } from '../payouts/manage-runs.ts'
import type { PayoutActs } from '../payouts/payout-acts.ts'
import type { OpenIdClient } from '../platform/outside/openid.ts'
import type { Sealing } from '../platform/sealing.ts'
import type { Tokens } from '../platform/tokens.ts'
import type { ManageRails } from '../rails/manage-rails.ts'
import type { RecordTransfers } from '../rails/record-transfers.ts'
import type { ReturnLateMoney } from '../rails/return-late-money.ts'
import type { TransferActs } from '../rails/transfer-acts.ts'
import type { Reconciling } from '../reconciliation/reconciling.ts'
import type { RequestLogStore } from '../system/store/request-log.ts'
import type { SystemState } from '../system/store/system.ts'
import type { ManageBanks } from '../treasury/manage-banks.ts'
import type { ManagePrices } from '../treasury/manage-prices.ts'
import type { MoneyActs } from '../treasury/money-acts.ts'
import type { CorrectionStore } from '../treasury/store/corrections.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import type { ManageWallets } from '../wallets/manage-wallets.ts'

/** Pages count no further: more than this is "more than this". */
export const countedAtMost = 10_000

/** Who asks, where an act may need a second operator. */
export type Asking = Pick<AskApprovalParts, 'operator' | 'actor'>

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
  /** What moves money, at once or after a second operator's yes. */
  moneyActs(by: Asking): MoneyActs
  /** What changes a merchant's keys and settings, likewise. */
  merchantActs(by: Asking): MerchantActs
  /** What asks for payouts and says where they go, likewise. */
  payoutActs(by: Asking): PayoutActs
  transferActs(by: Asking): TransferActs
  /** What says who acts for a merchant in its portal, likewise. */
  memberActs(by: Asking): MemberActs
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
  /** The operations of one operator. */
  as(actor: string): OperatorActs
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

export interface OperatorActs {
  readonly operators: ManageOperators
  readonly orders: Omit<ManageOrders, 'refundOrder'>
  readonly callbacks: ManageCallbacks
  readonly hosts: PauseHosts
  readonly endpoints: ManageEndpoints
  readonly links: ManageLinks
  readonly rails: ManageRails
  readonly returnLateMoney: ReturnLateMoney
  readonly notices: ManageNotices
  readonly transfers: RecordTransfers
  readonly reconciliation: Reconciling
  readonly merchants: Omit<ManageMerchants, 'addKey' | 'changeMerchant'>
  readonly wallets: Omit<ManageWallets, 'topUp'>
  readonly prices: ManagePrices
  readonly banks: ManageBanks
  readonly bankAccounts: Omit<ManageBankAccounts, 'setBankAccount'>
  readonly payoutPlans: ManagePlans
  readonly payoutRuns: ManageRuns
  readonly payouts: Omit<ManagePayouts, 'requestPayout'>
  readonly platformKeys: ManagePlatformKeys
  readonly members: Omit<ManageMembers, 'inviteMember' | 'changeRole' | 'recoverAccount'>
  readonly applications: DecideApplications
}
