// Puts the console together: what its pages need from the operations and stores of an open core.
import type { RandomBytes } from '@tillgate/protocol'
import { makePauseHosts } from '../callbacks/pause-hosts.ts'
import { makeManageCallbacks } from '../callbacks/resend-callbacks.ts'
import { type ConsoleService, countedAtMost } from '../faces/console/service.ts'
import { makeSealing, makeTokens } from '../http/sealing.ts'
import { makeVerifyLedger } from '../ledger/verify-ledger.ts'
import { streamStatement } from '../ledger/write-statement.ts'
import { makeManageMerchants } from '../merchants/manage-merchants.ts'
import { makeAuthenticateOperator } from '../operators/authenticate-operator.ts'
import { makeDecideApprovals } from '../operators/decide-approvals.ts'
import { makeManageOperators } from '../operators/manage-operators.ts'
import { makeManageTokens } from '../operators/manage-tokens.ts'
import { makeOperatorSessions } from '../operators/operator-sessions.ts'
import type { ApprovalPolicy } from '../operators/rules/approval.ts'
import type { Role } from '../operators/rules/operator.ts'
import { makeSecondStep } from '../operators/second-step.ts'
import type { CurrentOrder } from '../orders/current-order.ts'
import { makeFindOrders } from '../orders/find-orders.ts'
import { makeManageOrders } from '../orders/manage-orders.ts'
import { makeShowOrder } from '../orders/show-order.ts'
import type { OrderStore } from '../orders/store/orders.ts'
import { makeReadOverview } from '../overview/read-overview.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { version } from '../platform/version.ts'
import { makeMoneyActs } from '../treasury/money-acts.ts'
import { makeMoveFunds } from '../treasury/move-funds.ts'
import { makeManageWallets } from '../wallets/manage-wallets.ts'
import type { Core } from './core.ts'

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
      hours: core.overviewHours,
      clock,
      onTrouble: (err) => parts.log.warn({ err }, 'the last hours could not be counted'),
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
