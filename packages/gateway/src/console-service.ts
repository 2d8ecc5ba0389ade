// Puts the console together: what its pages need from the operations and stores of an open core.
import type { RandomBytes } from '@tillgate/protocol'
import type { Clock } from './clock.ts'
import type { Core } from './core.ts'
import type { ApprovalPolicy } from './domain/approval.ts'
import type { Role } from './domain/operator.ts'
import { makeSealing, makeTokens } from './http/checkout/sealing.ts'
import { type ConsoleService, countedAtMost } from './http/console/service.ts'
import type { Log } from './log.ts'
import { makeAuthenticateOperator } from './operations/authenticate-operator.ts'
import type { CurrentOrder } from './operations/current-order.ts'
import { makeDecideApprovals } from './operations/decide-approvals.ts'
import { makeFindOrders } from './operations/find-orders.ts'
import { makeManageMerchants } from './operations/manage-merchants.ts'
import { makeManageOperators } from './operations/manage-operators.ts'
import { makeManageOrders } from './operations/manage-orders.ts'
import { makeManageTokens } from './operations/manage-tokens.ts'
import { makeManageWallets } from './operations/manage-wallets.ts'
import { makeMoneyActs } from './operations/money-acts.ts'
import { makeMoveFunds } from './operations/move-funds.ts'
import { makeOperatorSessions } from './operations/operator-sessions.ts'
import { makePauseHosts } from './operations/pause-hosts.ts'
import { makeReadOverview } from './operations/read-overview.ts'
import { makeRecentFigures } from './operations/recent-figures.ts'
import { makeManageCallbacks } from './operations/resend-callbacks.ts'
import { makeSecondStep } from './operations/second-step.ts'
import { makeShowOrder } from './operations/show-order.ts'
import { makeVerifyLedger } from './operations/verify-ledger.ts'
import { streamStatement } from './operations/write-statement.ts'
import type { OrderStore } from './store/orders.ts'
import { version } from './version.ts'

export interface ConsoleServiceParts {
  readonly core: Core
  readonly mode: 'sandbox' | 'live'
  readonly publicUrl: string
  /** Tells the checkout of what changes. */
  readonly orders: OrderStore
  readonly currentOrder: CurrentOrder
  readonly approvalPolicy: ApprovalPolicy
  /** Who must sign in with a second step. */
  readonly secondStepRoles: readonly Role[]
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
  /** A refund waits for its rail. */
  readonly onSubmitted: () => void
}

export function makeConsoleService(parts: ConsoleServiceParts): ConsoleService {
  const { core, orders, currentOrder, clock, random, onSubmitted } = parts
  const { operators, merchants, refunds, wallets, treasury, vault } = core
  const { history, resends, pauses } = core.callbacks
  const movingAs = (actor: string) => {
    const by = { clock, random, actor }
    return {
      orders: makeManageOrders({ orders, refunds, merchants, currentOrder, onSubmitted, ...by }),
      funds: makeMoveFunds({ treasury, ...by }),
      wallets: makeManageWallets({ wallets, treasury, ...by }),
    }
  }
  return {
    authenticate: makeAuthenticateOperator({ operators, clock }),
    sessions: makeOperatorSessions({ operators, clock, random }),
    findOperator: operators.findOperator,
    secondStep: makeSecondStep({
      totp: core.operatorTotp,
      operators,
      vault,
      issuer: `Tillgate ${new URL(parts.publicUrl).host}`,
      clock,
      random,
    }),
    needsSecondStep: ({ role, hasSecondStep }) => !hasSecondStep && parts.secondStepRoles.includes(role),
    sealing: makeSealing(vault.deriveKeys('console notes'), random),
    tokens: makeTokens(vault.deriveKeys('console forms')),
    apiTokens: makeManageTokens({ tokens: core.apiTokens, operators, clock, random }),
    orders: makeFindOrders({ list: core.orderList }),
    showOrder: makeShowOrder({
      refunds,
      merchants,
      details: core.orderDetails,
      history,
      currentOrder,
      clock,
      random,
    }),
    overview: makeReadOverview({
      recent: makeRecentFigures({
        countSlices: core.countSlices,
        clock,
        onTrouble: (err) => parts.log.warn({ err }, 'the last hours could not be counted'),
      }),
      hours: core.overviewHours,
      traffic: core.apiTraffic,
      clock,
    }),
    audit: core.auditLog,
    approvalPolicy: parts.approvalPolicy,
    approvals: makeDecideApprovals({
      approvals: core.approvals,
      operators,
      carryOutAs: movingAs,
      clock,
      random,
    }),
    moneyActs: ({ operator, actor }) =>
      makeMoneyActs({
        ...movingAs(actor),
        approvals: core.approvals,
        policy: parts.approvalPolicy,
        clock,
        random,
        actor,
        operator,
      }),
    async findCallback(callbackId) {
      const callback = await history.findCallback(callbackId)
      return callback && { callback, attempts: await history.listAttempts(callback) }
    },
    countCallbacks: (nowMs) => history.countCallbacks(nowMs, { atMost: countedAtMost }),
    merchantAccounts: (merchantId) => treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId }),
    statement: (range) => streamStatement(core.statements, range),
    platformPublicKey: async () => (await core.platformKeys.signing(clock.now())).publicKey,
    trialBalance: core.trialBalance,
    verifyLedger: makeVerifyLedger(core.verifyLedger),
    system: async (nowMs) => ({
      about: {
        version,
        mode: parts.mode,
        publicUrl: parts.publicUrl,
        node: process.version,
        pid: process.pid,
        upMs: Math.round(process.uptime() * 1000),
        memoryBytes: process.memoryUsage.rss(),
      },
      state: await core.systemState(nowMs),
    }),
    as: (actor) => {
      const by = { clock, random, actor }
      return {
        ...movingAs(actor),
        operators: makeManageOperators({ operators, ...by }),
        callbacks: makeManageCallbacks({ history, resends, ...by }),
        hosts: makePauseHosts({ pauses, ...by }),
        merchants: makeManageMerchants({ merchants, vault, ...by }),
      }
    },
  }
}
