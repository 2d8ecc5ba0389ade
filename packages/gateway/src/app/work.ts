// What happens by itself, put together: the loops that expire orders, settle payments, deliver callbacks and count for
// the overview, where this process has the role of a worker, and the hints by which processes tell each other of work.
// A part of the composition root with a file of its own.
import type { Lane } from '../core/callbacks/rules/delivery-lanes.ts'
import { maxPerRail } from '../finance/rails/ask-rails.ts'
import { maxRailAnswerBytes, railTimeoutMs } from '../finance/rails/rail-client.ts'
import { startJobs } from '../platform/jobs/jobs.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import type { OwnListeners } from '../platform/runtime/ssrf-guard.ts'
import { openOutbound, startCallbackDelivery } from './callback-delivery.ts'
import type { OpenStores } from './database/open-stores.ts'
import type { Stores } from './database/stores.ts'
import { jobTable } from './job-table.ts'
import { Hints, hear } from './jobs/hints.ts'
import type { Observability } from './observability.ts'
import type { Operations } from './operations.ts'
import type { OrderWatch } from './order-watch.ts'
import type { Config } from './settings/config.ts'

export interface Work {
  /** A payment or a refund waits for its rail. */
  submitted(): void
  /** Something waits for an outside rail. */
  railTask(): void
  /** Payouts are to be made, or ended. */
  payouts(): void
  /** An order was made that expires then. */
  expects(expiresAtMs: number): void
  /** The times of an order were moved, wherever they are watched. */
  advanced(expiresAtMs: number): void
  /** A merchant's callbacks are sealed with another key from now on. */
  keyInUseChanged(merchantId: string): void
  /** This process has committed callbacks in these lanes. */
  queued(lanes: readonly Lane[]): void
  /** Also for callbacks that other processes have queued. */
  onQueued(listener: (lanes: readonly Lane[]) => void): void
  stop(): Promise<void>
}

export interface WorkParts extends ClockAndRandom {
  readonly opened: Pick<OpenStores, 'openNotifications'>
  readonly stores: Stores
  readonly operations: Operations
  /** Undefined where this process is no worker. */
  readonly outbound: Outbound | undefined
  readonly watch: OrderWatch
  readonly observability: Observability
  readonly log: Log
}

/** Before the database is waited for, because its settings may be wrong. */
export function openOutboundClient(config: Config, ownListeners: OwnListeners): Outbound | undefined {
  return isWorker(config) ? openOutbound(config, { ownListeners }) : undefined
}

/**
 * For rails: the operator chose their addresses, which may be private and at any port, except the gateway's own; that a
 * live one is https was checked when it was registered. Every process may ask a rail for its consumers.
 */
export function openRailOutbound(config: Config, ownListeners: OwnListeners): Outbound {
  return openOutbound(config, {
    mode: 'sandbox',
    ownListeners,
    attemptTimeoutMs: railTimeoutMs,
    maxAnswerBytes: maxRailAnswerBytes,
    maxReadBytes: 2 * maxRailAnswerBytes,
    connectionsPerOrigin: 2 * maxPerRail,
  })
}

export function startWork(config: Config, parts: WorkParts): Work {
  const { opened, outbound, watch, clock, log } = parts
  const delivery = outbound && startCallbackDelivery(config, { ...parts, outbound })
  const table = jobTable({ ...parts, config })
  const jobs = startJobs(outbound ? table : table.filter(({ isInEveryProcess }) => isInEveryProcess), {
    clockOf: () => clock,
    log,
  })
  const listeners: ((lanes: readonly Lane[]) => void)[] = []
  const tellListeners = (lanes: readonly Lane[]) => {
    for (const listener of listeners) listener(lanes)
  }
  const notifications = opened.openNotifications({
    onMessage: (text) =>
      hear(text, {
        onQueued(lanes) {
          delivery?.expects(lanes)
          tellListeners(lanes)
        },
        onChanged: (key) => watch.heard(key),
        onSubmitted: () => jobs.wake('submitted'),
        onRailTask: () => jobs.wake('railTask'),
        onExpiry: (expiresAtMs) => jobs.wake('pending', expiresAtMs),
        onKeyInUse: (merchantId) => parts.operations.directory.forget(merchantId),
      }),
    onDeaf: (reason) =>
      log.warn(
        { reason },
        'what other processes do is not heard at once but found by looking every second; behind a transaction pooler set DATABASE_LISTEN_URL',
      ),
  })
  const { hearing } = parts.observability.metrics
  parts.observability.metrics.registry.beforeReading(() => hearing.set(notifications?.isListening() ? 1 : 0))
  const hints = new Hints({ send: async (text) => notifications?.send(text), clock })
  watch.onCommitted((key) => hints.changed(key))
  // A worker does what it made itself. In the sandbox somebody may be waiting for callbacks at another process.
  const isToldOfQueued = !outbound || config.mode === 'sandbox'
  return {
    submitted() {
      jobs.wake('submitted')
      if (!outbound) hints.submitted()
    },
    railTask() {
      jobs.wake('railTask')
      if (!outbound) hints.railTask()
    },
    payouts: () => jobs.wake('payouts'),
    expects: (expiresAtMs) => jobs.wake('pending', expiresAtMs),
    advanced(expiresAtMs) {
      jobs.wake('advanced')
      hints.expiring(expiresAtMs)
      hints.submitted()
      hints.railTask()
    },
    keyInUseChanged: (merchantId) => hints.keyInUse(merchantId),
    queued(lanes) {
      delivery?.expects(lanes)
      tellListeners(lanes)
      if (isToldOfQueued) hints.queued(lanes)
    },
    onQueued(listener) {
      listeners.push(listener)
    },
    async stop() {
      await jobs.stop()
      await delivery?.stop()
      await notifications?.stop()
    },
  }
}

function isWorker({ roles }: Config): boolean {
  return roles.includes('worker')
}
