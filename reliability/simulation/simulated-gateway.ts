// One process of the gateway as gateway.ts puts it together: the real stores, operations and workers, over a pool, a
// clock, a rail and a network that the run holds. What is left out is HTTP and the sealing of envelopes.

import { makeUuid } from '@tillgate/protocol'
import { pino } from 'pino'
import { makeOperations } from '../../packages/gateway/src/app/operations.ts'
import { makeStores } from '../../packages/gateway/src/app/stores.ts'
import type { Prepared } from '../../packages/gateway/src/callbacks/deliver-callbacks.ts'
import type { ClaimedCallback } from '../../packages/gateway/src/callbacks/store/callback-queue.ts'
import { makeVault } from '../../packages/gateway/src/platform/vault.ts'
import { readConfig } from '../../packages/gateway/src/settings/config.ts'
import { startRailWorker } from '../../packages/gateway/src/workers/ask-rails.ts'
import { startDeliveryWorker } from '../../packages/gateway/src/workers/deliver-callbacks.ts'
import { startExpiryWorker } from '../../packages/gateway/src/workers/expire-orders.ts'
import { startBillWorker } from '../../packages/gateway/src/workers/make-bills.ts'
import { startPayoutWorker } from '../../packages/gateway/src/workers/payouts.ts'
import { startSettleWorker } from '../../packages/gateway/src/workers/settle.ts'
import { startTidyWorker } from '../../packages/gateway/src/workers/tidy-callbacks.ts'
import type { SimulatedBank } from './bank.ts'
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

export function startSimulatedGateway(parts: SimulatedGatewayParts) {
  const { owner, time, seeded } = parts
  const clock = time.clockOf(owner)
  const random = (count: number) => seeded.bytes(count)
  const stores = makeStores(parts.pool, {
    onQueued: (lanes) => delivery.expects(lanes),
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
    hints: {
      pending: (expiresAtMs) => expiry.expects(expiresAtMs),
      submitted: () => settle.wake(),
      railTask: () => asking.wake(),
    },
  })
  const idling = (idle: Worker) => ({ clock: time.clockOf(owner, idle), log })

  const expiry = startExpiryWorker({
    ...idling('expire'),
    expireOrders: operations.expireOrders,
    nextExpiry: stores.orders.nextExpiry,
  })
  const settle = startSettleWorker({
    ...idling('settle'),
    settleDue: operations.settleDue,
    nextDue: stores.settling.nextDue,
  })
  const asking = startRailWorker({ ...idling('ask'), askRails: operations.askRails })
  const delivery = startDeliveryWorker({
    ...idling('deliver'),
    queue: stores.callbackQueue,
    prepare: async (callback) => sealedPlainly(callback, clock.now()),
    send: parts.network.for(owner),
    record: operations.recordAttempt,
    flush: stores.callbackOutcomes.flush,
    hold: operations.holdCallback,
    newClaimId: () => makeUuid(clock.now(), random),
    limits,
    signers: 4,
  })
  startPayoutWorker({
    ...idling('payouts'),
    workPayouts: operations.workPayouts,
    isShared: async () => false,
  })
  startBillWorker({ ...idling('bills'), makeBills: operations.makeBills })
  startTidyWorker({ ...idling('tidy'), tidy: operations.tidyCallbacks })

  return { ...operations, ...operations.as('simulation'), owner, pool: parts.pool, clock }
}

/** What the envelope carries, without its cryptography, which costs three milliseconds and depends on nothing here. */
function sealedPlainly(
  { callbackId: id, merchantId, eventName, callbackUrl: url, body, endpoint }: ClaimedCallback,
  timestamp: number,
): Prepared {
  if (endpoint?.pausedAtMs !== undefined) return { kind: 'held', reason: 'endpoint_paused' }
  const envelope = JSON.stringify({ id, merchantId, eventName, timestamp, body })
  return { kind: 'sealed', url, body: envelope, isPublicOnly: false }
}
