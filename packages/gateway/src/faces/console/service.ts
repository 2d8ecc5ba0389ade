// What the console needs from the gateway, once the database is there: the operations that the command line uses
// too, each in the name of the operator who acts, and what its pages read.

import type { RandomBytes } from '@tillgate/protocol'
import type { PauseHosts } from '../../callbacks/pause-hosts.ts'
import type { ManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import type { CallbackCounts } from '../../callbacks/store/callback-history.ts'
import type { Downloads } from '../../http/downloads.ts'
import type { Sealing } from '../../http/sealing.ts'
import type { Account } from '../../ledger/store/ledger.ts'
import type { Verification } from '../../ledger/store/ledger-verification.ts'
import type { StatementRange } from '../../ledger/store/statements.ts'
import type { BalanceLine } from '../../ledger/store/trial-balance.ts'
import type { ManageMerchants } from '../../merchants/manage-merchants.ts'
import type { MerchantActs } from '../../merchants/merchant-acts.ts'
import type { AuthenticateOperator } from '../../operators/authenticate-operator.ts'
import type { DecideApprovals, Decider } from '../../operators/decide-approvals.ts'
import type { ManageOperators } from '../../operators/manage-operators.ts'
import type { ManageTokens } from '../../operators/manage-tokens.ts'
import type { OperatorSessions } from '../../operators/operator-sessions.ts'
import type { ApprovalPolicy } from '../../operators/rules/approval.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { SecondStep } from '../../operators/second-step.ts'
import type { AuditLogStore } from '../../operators/store/audit-log.ts'
import type { FindOrders } from '../../orders/find-orders.ts'
import type { ManageOrders } from '../../orders/manage-orders.ts'
import type { CallbackWithAttempts, ShowOrder } from '../../orders/show-order.ts'
import type { ReadOverview } from '../../overview/read-overview.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Tokens } from '../../platform/tokens.ts'
import type { SystemState } from '../../system/store/system.ts'
import type { MoneyActs } from '../../treasury/money-acts.ts'
import type { ManageWallets } from '../../wallets/manage-wallets.ts'

/** Pages count no further: more than this is "more than this". */
export const countedAtMost = 10_000

export interface ConsoleParts {
  readonly mode: 'sandbox' | 'live'
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => ConsoleService
}

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
  /** What changes a merchant's keys and settings, likewise. */
  merchantActs(by: Decider): MerchantActs
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
  readonly merchants: Omit<ManageMerchants, 'addKey' | 'changeMerchant'>
  readonly wallets: Omit<ManageWallets, 'topUp'>
}
