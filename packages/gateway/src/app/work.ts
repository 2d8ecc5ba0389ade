// Assembles background work: the jobs and callback delivery of a process with the role `worker`, and the reactions to
// changes of this process and others.
import type { LiveOrders } from '../adapters/checkout/live.ts'
import type { Publish } from '../core/changes/rules/change.ts'
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
import { ChangeMessages, readChanges } from './jobs/change-messages.ts'
import type { Observability } from './observability.ts'
import type { Operations } from './operations.ts'
import { type PublishParts, publish, react } from './publish.ts'
import type { Config } from './settings/config.ts'

export interface Work {
  /** Publishes what this process committed. */
  readonly publish: Publish
  stop(): Promise<void>
}

export interface WorkParts extends ClockAndRandom {
  readonly opened: Pick<OpenStores, 'openNotifications'>
  readonly stores: Stores
  readonly operations: Operations
  /** Undefined if this process is no worker. */
  readonly outbound: Outbound | undefined
  readonly live: LiveOrders
  readonly observability: Observability
  readonly log: Log
}

/** Called before waiting for the database, because its settings may be invalid. */
export function openOutboundClient(config: Config, ownListeners: OwnListeners): Outbound | undefined {
  return isWorker(config) ? openOutbound(config, { ownListeners }) : undefined
}

/** Opens the client at the first post, because processes that are not workers rarely send anything. */
export function openOutboundOnUse(config: Config, ownListeners: OwnListeners): Outbound {
  let opened: Outbound | undefined
  return {
    post(request) {
      opened ??= openOutbound(config, { ownListeners })
      return opened.post(request)
    },
    close: async () => opened?.close(),
  }
}

/**
 * The client for rails. Operators choose the addresses, so any port and private addresses are allowed, except the
 * gateway's own; https is checked when a live rail is registered. Every process may call a rail for its consumers.
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
  const { opened, outbound, operations, clock, log } = parts
  const { metrics } = parts.observability
  const delivery = outbound && startCallbackDelivery(config, { ...parts, outbound })
  const table = jobTable({ ...parts, config })
  const jobs = startJobs(outbound ? table : table.filter(({ isInEveryProcess }) => isInEveryProcess), {
    clockOf: () => clock,
    log,
  })
  const publishing: PublishParts = {
    jobs,
    delivery,
    live: parts.live,
    listening: operations.sandboxListen,
    directory: operations.directory,
    metrics,
    messages: new ChangeMessages({ send: async (text) => notifications?.send(text), clock }),
    isSandbox: config.mode === 'sandbox',
  }
  const notifications = opened.openNotifications({
    onMessage(text) {
      for (const change of readChanges(text)) react(publishing, change)
    },
    onDeaf: (reason) =>
      log.warn(
        { reason },
        'notifications between processes do not work, so changes are found by polling every second; behind a transaction pooler, set DATABASE_LISTEN_URL',
      ),
  })
  metrics.registry.beforeReading(() => metrics.hearing.set(notifications?.isListening() ? 1 : 0))
  return {
    publish: (changes) => publish(publishing, changes),
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
