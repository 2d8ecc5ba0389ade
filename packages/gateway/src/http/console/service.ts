// What the console needs from the gateway, once the database is there: the operations that the command line uses
// too, each in the name of the operator who acts, and what its pages read.
import type { ApprovalPolicy } from '../../domain/approval.ts'
import type { Operator } from '../../domain/operator.ts'
import type { AuthenticateOperator } from '../../operations/authenticate-operator.ts'
import type { DecideApprovals, Decider } from '../../operations/decide-approvals.ts'
import type { FindOrders } from '../../operations/find-orders.ts'
import type { ManageMerchants } from '../../operations/manage-merchants.ts'
import type { ManageOperators } from '../../operations/manage-operators.ts'
import type { ManageOrders } from '../../operations/manage-orders.ts'
import type { ManageTokens } from '../../operations/manage-tokens.ts'
import type { ManageWallets } from '../../operations/manage-wallets.ts'
import type { MoneyActs } from '../../operations/money-acts.ts'
import type { OperatorSessions } from '../../operations/operator-sessions.ts'
import type { PauseHosts } from '../../operations/pause-hosts.ts'
import type { ReadOverview } from '../../operations/read-overview.ts'
import type { ManageCallbacks } from '../../operations/resend-callbacks.ts'
import type { SecondStep } from '../../operations/second-step.ts'
import type { CallbackWithAttempts, ShowOrder } from '../../operations/show-order.ts'
import type { AuditLogStore } from '../../store/audit-log.ts'
import type { CallbackCounts } from '../../store/callback-history.ts'
import type { Account } from '../../store/ledger.ts'
import type { Verification } from '../../store/ledger-verification.ts'
import type { StatementRange } from '../../store/statements.ts'
import type { SystemState } from '../../store/system.ts'
import type { BalanceLine } from '../../store/trial-balance.ts'
import type { Sealing, Tokens } from '../checkout/sealing.ts'

/** Pages count no further: more than this is "more than this". */
export const countedAtMost = 10_000

export interface ConsoleService {
  readonly authenticate: AuthenticateOperator
  readonly sessions: OperatorSessions
  findOperator(login: string): Promise<Operator | undefined>
  readonly secondStep: SecondStep
  /** Must switch the second step on before anything else. */
  needsSecondStep(operator: Operator): boolean
  readonly apiTokens: ManageTokens
  readonly sealing: Sealing
  readonly tokens: Tokens
  readonly overview: ReadOverview
  readonly orders: FindOrders
  readonly showOrder: ShowOrder
  readonly audit: AuditLogStore
  readonly approvalPolicy: ApprovalPolicy
  readonly approvals: DecideApprovals
  /** What moves money, at once or after a second operator's yes. */
  moneyActs(by: Decider): MoneyActs
  findCallback(callbackId: string): Promise<CallbackWithAttempts | undefined>
  /** No further than `countedAtMost`. */
  countCallbacks(nowMs: number): Promise<CallbackCounts>
  merchantAccounts(merchantId: string): Promise<readonly Account[]>
  statement(range: StatementRange): AsyncIterable<string>
  platformPublicKey(): Promise<string>
  trialBalance(): Promise<readonly BalanceLine[]>
  verifyLedger(): Promise<Verification>
  system(nowMs: number): Promise<{ readonly about: AboutProcess; readonly state: SystemState }>
  /** The operations of one operator. */
  as(actor: string): ConsoleOperations
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

export interface ConsoleOperations {
  readonly operators: ManageOperators
  readonly orders: Omit<ManageOrders, 'refundOrder'>
  readonly callbacks: ManageCallbacks
  readonly hosts: PauseHosts
  readonly merchants: ManageMerchants
  readonly wallets: Omit<ManageWallets, 'topUp'>
}
