// The one place that creates every operation over the stores. It is pure: time, randomness, secrets and the rail are
// passed in, so that the gateway, the command line, tests, the simulation and the benchmarks use the same operations.

import { reachingAll } from '../core/authority/context.ts'
import { makeFetchSettlements } from '../finance/reconciliation/fetch-settlements.ts'
import { makeApply } from '../identity/applications/apply.ts'
import { makeRequestLog } from '../platform/request-log/request-log.ts'
import type { Stores } from './database/stores.ts'
import { makeCommon } from './operations/common.ts'
import { operationsForConsumers } from './operations/for-consumers.ts'
import { operationsForMerchants } from './operations/for-merchants.ts'
import { operationsForPeople } from './operations/for-people.ts'
import { operationsForReading } from './operations/for-reading.ts'
import { operationsInBackground } from './operations/in-background.ts'
import { operationsInSandbox } from './operations/in-sandbox.ts'
import type { OperationParts } from './operations/parts.ts'
import { operationsForSigningIn } from './operations/signing-in.ts'

export type { OperationConfig, OperationParts } from './operations/parts.ts'

export type Operations = ReturnType<typeof makeOperations>

export function makeOperations(stores: Stores, parts: OperationParts) {
  const common = makeCommon(stores, parts)
  const { config, publicUrl, directory, recordKeyUse, platformPublicKey, currentOrder, makeEmails } = common
  const forPeople = operationsForPeople(stores, common, parts)
  const { members, merchants, reconciliation } = forPeople
  const forConsumers = operationsForConsumers(stores, common)
  const forMerchants = operationsForMerchants(stores, common)
  const fetchSettlements = makeFetchSettlements({
    ...common,
    statements: stores.bankStatements,
    importStatement: reconciliation.importStatement,
  })
  const { prepareFetched, ...inBackground } = operationsInBackground(stores, common, {
    ...parts,
    unsubscribeUrl: forConsumers.unsubscribe.urlFor,
  })

  return {
    publicUrl,
    approvalPolicy: config.approvals,
    directory,
    recordKeyUse,
    signingKeys: common.platformKeys,
    platformPublicKey,
    currentOrder,
    makeEmails,
    ...forMerchants,
    ...forConsumers,
    ...operationsForSigningIn(stores, common),
    ...forPeople,
    ...inBackground,
    reconcile: () => reconciliation.work(reachingAll('reconciliation')),
    fetchSettlements: () => fetchSettlements(reachingAll('reconciliation')),
    ...operationsInSandbox(stores, common, {
      submitPayment: forConsumers.submitPayment,
      prepare: prepareFetched,
      members,
      merchants,
      forMerchants,
    }),
    ...operationsForReading(stores, common),
    requestLog: makeRequestLog({ store: stores.requestLog, clock: common.clock }),
    apply: makeApply({ ...stores, ...common, members }),
    /** Only by email; without it, an operator hands links over. */
    askRecovery: config.mail && ((email: string) => members.askRecovery(reachingAll('portal'), email)),
  }
}
