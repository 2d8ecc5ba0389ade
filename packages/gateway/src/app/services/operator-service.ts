// What the console and the admin API need from operations and stores.
import type { RandomBytes } from '@tillgate/protocol'
import { countedAtMost, type OperatorService } from '../../actions/service.ts'
import type { OpenIdClient } from '../../platform/runtime/outside/openid.ts'
import { makeSealing } from '../../platform/runtime/secrets/sealing.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { version } from '../../platform/runtime/version.ts'
import type { Stores } from '../database/stores.ts'
import type { Operations } from '../operations.ts'
import type { Config } from '../settings/config.ts'

export interface OperatorServiceParts {
  readonly config: Config
  readonly publicUrl: string
  readonly stores: Stores
  readonly operations: Operations
  readonly vault: Vault
  readonly random: RandomBytes
  /** Left out, nobody signs in at an identity provider. */
  readonly openId?: OpenIdClient | undefined
}

export function makeOperatorService(parts: OperatorServiceParts): OperatorService {
  const { config, publicUrl, stores, operations, vault, random } = parts
  return {
    authenticate: operations.authenticateOperator,
    sessions: operations.operatorSessions,
    provider: operations.signInByProvider &&
      parts.openId && { ...parts.openId, signIn: operations.signInByProvider },
    findOperator: stores.operators.findOperator,
    secondStep: operations.secondStep,
    passkeys: operations.operatorPasskeys,
    // Whoever signs in at an identity provider has the second step there.
    needsSecondStep: ({ role, hasSecondStep, email }) =>
      !hasSecondStep && email === undefined && config.secondStepRoles.includes(role),
    sealing: makeSealing(vault.deriveKeys('console notes'), random),
    tokens: makeTokens(vault.deriveKeys('console forms')),
    apiTokens: operations.apiTokens,
    orders: operations.findOrders,
    events: operations.readEvents,
    showOrder: operations.showOrder,
    overview: operations.readOverview,
    audit: stores.auditLog,
    requests: stores.requestLog.list,
    approvalPolicy: config.approvals,
    takesApplications: config.takesApplications,
    approvals: operations.decideApprovals,
    findCallback: operations.findCallback,
    countCallbacks: (nowMs) => stores.callbackHistory.countCallbacks(nowMs, { atMost: countedAtMost }),
    corrections: stores.corrections,
    findCorrectable: stores.treasury.findCorrectable,
    merchantAccounts: (merchantId) =>
      stores.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId }),
    suspenseAccounts: () => stores.treasury.listAccounts({ ownerKind: 'suspense', ownerId: 'late' }),
    countFailedNotices: (sinceMs) => stores.noticeLog.countFailed(sinceMs, { atMost: countedAtMost }),
    railAccounts: (railId) => stores.treasury.listAccounts({ ownerKind: 'rail', ownerId: railId }),
    listMovements: stores.listMovements,
    statement: operations.writeStatement,
    readStatement: stores.statements.read,
    listBills: stores.bills.listBills,
    readBill: operations.readBill,
    platformPublicKey: operations.platformPublicKey,
    publicUrl,
    trialBalance: stores.trialBalance,
    readBooks: operations.readBooks,
    verifyLedger: operations.verifyLedger,
    system: async (nowMs) => ({
      about: {
        version,
        mode: config.mode,
        publicUrl,
        node: process.version,
        pid: process.pid,
        upMs: Math.round(process.uptime() * 1000),
        memoryBytes: process.memoryUsage.rss(),
      },
      state: await stores.systemState(nowMs),
    }),
    as: operations.as,
  }
}
