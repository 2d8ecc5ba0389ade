// One process of the gateway as gateway.ts puts it together: the real stores, operations and workers, over a pool, a
// clock, a rail and a network that the run holds. What is left out is HTTP and the sealing of envelopes.

import { Failure, makeUuid } from '@tillgate/protocol'
import { pino } from 'pino'
import { makeStores } from '../../packages/gateway/src/app/database/stores.ts'
import { jobTable } from '../../packages/gateway/src/app/job-table.ts'
import { startDeliveryWorker } from '../../packages/gateway/src/app/jobs/delivery-worker.ts'
import { makeOperations } from '../../packages/gateway/src/app/operations.ts'
import { readConfig } from '../../packages/gateway/src/app/settings/config.ts'
import type { Prepared } from '../../packages/gateway/src/core/callbacks/deliver-callbacks.ts'
import type { ClaimedCallback } from '../../packages/gateway/src/core/callbacks/store/callback-queue.ts'
import type { Publish } from '../../packages/gateway/src/core/changes/rules/change.ts'
import type { DirectoryEntry } from '../../packages/gateway/src/core/merchants/merchant-directory.ts'
import type { Merchant } from '../../packages/gateway/src/core/merchants/rules/merchant.ts'
import { startJobs } from '../../packages/gateway/src/platform/jobs/jobs.ts'
import { makeVault } from '../../packages/gateway/src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import type { SimulatedBank } from './bank.ts'
import type { InstalledKeys } from './keys/installed-keys.ts'
import type { SimulatedNetwork } from './network.ts'
import type { SimulatedRail } from './rail.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { SimulatedPool } from './simulated-pool.ts'
import type { VirtualTime, Worker } from './time.ts'

export interface SimulatedGatewayParts {
  readonly owner: Owner
  readonly pool: SimulatedPool
  readonly time: VirtualTime
  readonly seeded: Seeded
  readonly rail: SimulatedRail
  readonly network: SimulatedNetwork
  readonly bank: SimulatedBank
  readonly keys: InstalledKeys
}

export type SimulatedGateway = ReturnType<typeof startSimulatedGateway>

const log = pino({ level: 'silent' })
export const vault = makeVault(Buffer.alloc(32, 7))
const config = {
  ...readConfig({}),
  mode: 'live',
  bankAccountWaitMs: 0,
  eventFeedDays: 3_650,
  withdrawalLimits: new Map([['USD', 1_500n]]),
} as const
const limits = { inFlight: 64, inFlightPerHost: 8, inFlightPerMerchant: 16 } as const

/** The jobs that run, each with its name in this simulation. */
const workers = {
  'expire-orders': 'expire',
  settle: 'settle',
  'ask-rails': 'ask',
  'make-payouts': 'payouts',
  'make-bills': 'bills',
  purge: 'tidy',
} as const satisfies Record<string, Worker>
const nothingToPurge = async () => ({
  dropped: [],
  busy: [],
  sessions: 0,
  hosts: 0,
  tries: 0,
  emails: 0,
  more: false,
})

export function startSimulatedGateway(parts: SimulatedGatewayParts) {
  const { owner, time, seeded } = parts
  const clock = time.clockOf(owner)
  const random = (count: number) => seeded.bytes(count)
  const publish: Publish = (changes) => {
    for (const change of changes) {
      jobs.wake(change.kind, 'dueAtMs' in change ? change.dueAtMs : undefined)
      if (change.kind === 'callbacks') delivery.expects(change.lanes)
    }
  }
  const stores = makeStores(parts.pool, {
    publish,
    outcomes: { gatherMs: 0 },
  })
  const operations = makeOperations(stores, {
    config,
    publicUrl: 'https://pay.example',
    vault,
    clock,
    random,
    rail: parts.rail.for(owner),
    railPost: parts.bank.for(owner),
    publish,
    log,
  })

  const people = actingAs(operations, 'simulation')
  const table = jobTable({
    config,
    stores: { ...stores, payoutBatches: { ...stores.payoutBatches, isShared: async () => false } },
    operations: { ...operations, purgePartitions: nothingToPurge, purgeRows: nothingToPurge },
    clock,
    log,
  })
  const jobs = startJobs(
    table.filter(({ name }) => name in workers),
    { clockOf: (name) => time.clockOf(owner, workers[name as keyof typeof workers]), log },
  )
  const delivery = startDeliveryWorker({
    clock: time.clockOf(owner, 'deliver'),
    log,
    queue: stores.callbackQueue,
    prepare: async (callback) => {
      const keyId = await callbackKeyOf(callback.merchantId)
      return keyId === undefined
        ? { kind: 'held', reason: 'no_live_aes_key' }
        : sealedPlainly(callback, { keyId, timestamp: clock.now() })
    },
    send: parts.network.for(owner),
    record: operations.recordAttempt,
    flush: stores.callbackOutcomes.flush,
    hold: operations.holdCallback,
    newClaimId: () => makeUuid(clock.now(), random),
    limits,
    signers: 4,
  })

  const { bankAccounts, callbacks, corrections, endpoints, merchants, ownMoney, payoutPlans } = people
  const { payoutRuns, payouts, reconciliation, transfers, wallets } = people
  return {
    ...operations,
    ...{ bankAccounts, callbacks, corrections, endpoints, merchants, ownMoney, payoutPlans },
    ...{ payoutRuns, payouts, reconciliation, transfers, wallets },
    createOrder: sealed(operations.createOrder),
    queryOrder: sealed(operations.queryOrder),
    cancelOrder: sealed(operations.cancelOrder),
    refundOrder: sealed(operations.refundOrder),
    captureOrder: sealed(operations.captureOrder),
    releaseOrder: sealed(operations.releaseOrder),
    scanOrder: sealed(operations.scanOrder),
    openRequest,
    owner,
    pool: parts.pool,
    clock,
  }

  /** A request comes sealed with the key that its merchant has installed. */
  function sealed<Given extends readonly unknown[], Result>(
    operation: (merchant: Merchant, ...given: Given) => Promise<Result>,
  ) {
    return async (merchant: Merchant, ...given: Given): Promise<Result> => {
      await openRequest(merchant.merchantId)
      return operation(merchant, ...given)
    }
  }

  async function openRequest(merchantId: string): Promise<void> {
    const { directory } = operations
    const nowMs = clock.now()
    if (isOpened(directory.remembered(merchantId, nowMs), nowMs)) return
    if (isOpened(await directory.load(merchantId, nowMs), nowMs)) return
    parts.keys.violations.push(`a request of ${merchantId} was rejected under a key that is in use`)
    throw new Failure('envelope_not_opened')
  }

  function isOpened(entry: DirectoryEntry | undefined, nowMs: number): boolean {
    const known = entry?.known
    if (!known) return false
    const { sends } = parts.keys.of(known.merchant.merchantId)
    const [aesKey] = [...known.useOfKeys].find(([, { keyId }]) => keyId === sends) ?? []
    const [publicKey] = known.keys.publicKeys
    if (!aesKey || !publicKey) return false
    if (!known.isUseSettled) operations.recordKeyUse.note(known, { aesKey, publicKey }, nowMs)
    return true
  }

  async function callbackKeyOf(merchantId: string): Promise<string | undefined> {
    const { directory } = operations
    const nowMs = clock.now()
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    return known?.callbackKey && known.useOfKeys.get(known.callbackKey)?.keyId
  }
}

/** What the envelope carries, without its cryptography, which costs three milliseconds and depends on nothing here. */
function sealedPlainly(
  { callbackId: id, merchantId, eventName, callbackUrl: url, body, endpoint }: ClaimedCallback,
  { keyId, timestamp }: { keyId: string; timestamp: number },
): Prepared {
  if (endpoint?.pausedAtMs !== undefined) return { kind: 'held', reason: 'endpoint_paused' }
  const envelope = JSON.stringify({ id, merchantId, eventName, timestamp, keyId, body })
  return { kind: 'sealed', url, body: envelope, isPublicOnly: false }
}
