// Every operation, over the stores: the one place where they are put together. Pure: time, randomness, secrets and the
// rail are passed in, so that the gateway, the command line, tests, the simulation and the benchmarks all work with
// the very same operations.

import { makeReadBooks } from '../core/ledger/read-books.ts'
import { makeVerifyLedger } from '../core/ledger/run-checks.ts'
import { streamStatement } from '../core/ledger/write-statement.ts'
import { makeFindOrders } from '../core/orders/find-orders.ts'
import { makeReadOverview } from '../finance/overview/read-overview.ts'
import { makeShowOrder } from '../finance/overview/show-order.ts'
import { makeApply } from '../identity/applications/apply.ts'
import { makeRequestLog } from '../platform/request-log/request-log.ts'
import { sandboxAccessActor } from '../sandbox/sandbox-access.ts'
import type { Stores } from './database/stores.ts'
import { operationsByActor } from './operations/by-actor.ts'
import { type Common, makeCommon } from './operations/common.ts'
import { operationsForConsumers } from './operations/for-consumers.ts'
import { operationsForMerchants } from './operations/for-merchants.ts'
import { operationsInBackground } from './operations/in-background.ts'
import { operationsInSandbox } from './operations/in-sandbox.ts'
import type { OperationParts } from './operations/parts.ts'
import { operationsForSigningIn } from './operations/signing-in.ts'
import { makeMerchantScope } from './services/merchant-scope.ts'

export type { OperationConfig, OperationParts } from './operations/parts.ts'

export type Operations = ReturnType<typeof makeOperations>

export function makeOperations(stores: Stores, parts: OperationParts) {
  const common = makeCommon(stores, parts)
  const { config, directory, recordKeyUse, platformKeys, platformPublicKey, currentOrder, makeNotices } =
    common
  const signingIn = operationsForSigningIn(stores, common)
  const { manageMembers, reconcilingAs, ...byActor } = operationsByActor(stores, common, signingIn)
  const forConsumers = operationsForConsumers(stores, common)
  const { prepareFetched, ...inBackground } = operationsInBackground(stores, common, {
    ...parts,
    unsubscribeUrl: forConsumers.unsubscribe.urlFor,
  })

  return {
    directory,
    recordKeyUse,
    platformKeys,
    platformPublicKey,
    currentOrder,
    makeNotices,
    ...operationsForMerchants(stores, common),
    ...forConsumers,
    ...signingIn,
    ...byActor,
    ...inBackground,
    reconcile: () => reconcilingAs({ actor: 'reconciliation' }).work(),
    ...operationsInSandbox(stores, common, {
      submitPayment: forConsumers.submitPayment,
      prepare: prepareFetched,
      members: manageMembers({ actor: sandboxAccessActor }),
    }),
    ...operationsForReading(stores, common),
    apply: makeApply({ ...stores, ...common, members: manageMembers({ actor: 'applicant' }) }),
    /** By mail alone: without it an operator hands links over. */
    askRecovery: config.mail && manageMembers({ actor: 'portal' }).askRecovery,
    merchantScope: makeMerchantScope({
      ...common,
      stores,
      policy: config.approvals,
      bankAccountWaitMs: config.bankAccountWaitMs,
    }),
  }
}

function operationsForReading(stores: Stores, common: Common) {
  const { clock, log } = common
  const { callbackHistory: history } = stores
  return {
    findOrders: makeFindOrders({ list: stores.orderList }),
    showOrder: makeShowOrder({ ...stores, ...common, details: stores.orderDetails, history }),
    readBooks: makeReadBooks({ trialBalance: stores.trialBalance, clock }),
    readOverview: makeReadOverview({
      hours: stores.overviewHours,
      clock,
      log,
    }),
    async findCallback(callbackId: string) {
      const callback = await history.findCallback(callbackId)
      return callback && { callback, attempts: await history.listAttempts(callback) }
    },
    requestLog: makeRequestLog({ store: stores.requestLog, clock }),
    writeStatement: (range: Parameters<typeof streamStatement>[1]) =>
      streamStatement(stores.statements, range),
    verifyLedger: makeVerifyLedger(stores.verifyLedger),
  }
}
