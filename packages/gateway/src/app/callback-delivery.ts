// Assembles callback delivery for the composition root: the outbound client, the three steps of a delivery, and the
// worker.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { makeUuid } from '@tillgate/protocol'
import type { Lane } from '../core/callbacks/rules/delivery-lanes.ts'
import type { GatewayMetrics } from '../platform/observability/metrics/gateway-metrics.ts'
import { outboundLimits } from '../platform/outbound/limits.ts'
import {
  makeOutbound,
  type Outbound,
  type OutboundPolicy,
  systemParts,
} from '../platform/outbound/outbound.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import { messageOf } from '../platform/runtime/errors.ts'
import type { Log } from '../platform/runtime/log.ts'
import type { OwnListeners } from '../platform/runtime/ssrf-guard.ts'
import { exitCodes, StartFailure } from '../platform/runtime/start-failure.ts'
import type { Stores } from './database/stores.ts'
import { type DeliveryCounts, startDeliveryWorker } from './jobs/delivery-worker.ts'
import type { Observability } from './observability.ts'
import type { Operations } from './operations.ts'
import type { Config } from './settings/config.ts'
import { tracedPost } from './traced.ts'

export interface CallbackDelivery {
  /** Other processes queued callbacks in these lanes. */
  expects(lanes: readonly Lane[]): void
  /** Finishes the attempts in progress. */
  stop(): Promise<void>
}

export interface CallbackDeliveryParts extends ClockAndRandom {
  readonly stores: Stores
  readonly operations: Operations
  readonly outbound: Outbound
  readonly log: Log
  readonly observability: Pick<Observability, 'metrics' | 'tracer'>
}

/**
 * Several per core, so that no core waits while the event loop is busy. With one per core, measured throughput on two
 * cores falls by 30 %.
 */
const signersPerCore = 4
const leastSigners = 2

export function startCallbackDelivery(config: Config, parts: CallbackDeliveryParts): CallbackDelivery {
  const { stores, operations, outbound, clock, random, log } = parts
  const { metrics, tracer } = parts.observability
  const delivery = startDeliveryWorker({
    queue: stores.callbackQueue,
    prepare: operations.prepareCallback,
    send: tracedPost(outbound.post, tracer),
    record: operations.recordAttempt,
    flush: stores.callbackOutcomes.flush,
    hold: operations.holdCallback,
    onRecorded(callback, { startedAtMs, delivery }) {
      metrics.callbackDelay.observe(Math.max(0, startedAtMs - callback.dueAtMs) / 1000)
      metrics.callbackDuration.observe(delivery.durationMs / 1000)
    },
    newClaimId: () => makeUuid(clock.now(), random),
    limits: {
      inFlight: config.callbacksInFlight,
      inFlightPerHost: config.callbacksInFlightPerHost,
      inFlightPerMerchant: config.callbacksInFlightPerMerchant,
    },
    // The processes of one gateway share the cores.
    signers: Math.max(leastSigners, Math.ceil((signersPerCore * availableParallelism()) / config.processes)),
    clock,
    log,
  })
  metrics.registry.beforeReading(() => carryOver(delivery.counts(), metrics))
  return {
    expects: delivery.expects,
    async stop() {
      await delivery.stop()
      await outbound.close()
    },
  }
}

function carryOver(counts: DeliveryCounts, metrics: GatewayMetrics): void {
  const { inFlight, exhausted, held, claimsLost, hostPauses, destinationPauses, ...outcomes } = counts
  for (const [outcome, count] of Object.entries(outcomes)) metrics.callbackAttempts.of(outcome).value = count
  const incidents = {
    exhausted,
    held,
    claim_lost: claimsLost,
    host_paused: hostPauses,
    destination_paused: destinationPauses,
  }
  for (const [incident, count] of Object.entries(incidents)) metrics.callbackEvents.of(incident).value = count
  metrics.callbacksInFlight.set(inFlight)
}

/** Called before anything else starts, because its settings may be invalid. */
export function openOutbound(
  config: Config,
  given: Partial<OutboundPolicy> & { readonly ownListeners?: OwnListeners },
): Outbound {
  const { mode, callbackAllowedTargets: allowedTargets, callbackExtraCaFile } = config
  const policy: OutboundPolicy = {
    ...outboundLimits,
    connectionsPerOrigin: config.callbacksInFlightPerHost,
    mode,
    allowedTargets,
    ...given,
  }
  try {
    const extraCa =
      callbackExtraCaFile === undefined ? {} : { extraCa: readFileSync(callbackExtraCaFile, 'utf8') }
    return makeOutbound({ ...policy, ...extraCa }, systemParts())
  } catch (error) {
    throw new StartFailure(`CALLBACK_EXTRA_CA_FILE cannot be used: ${messageOf(error)}`, {
      exitCode: exitCodes.settings,
      cause: error,
    })
  }
}
