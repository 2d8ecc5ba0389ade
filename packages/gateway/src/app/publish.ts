// The one function that publishes committed changes: to jobs and callback deliveries, to waiting pages and requests, to
// metrics, and to the gateway's other processes.
import { refundStatuses } from '@tillgate/protocol'
import type { LiveOrders } from '../adapters/checkout/live.ts'
import type { Change } from '../core/changes/rules/change.ts'
import type { MerchantDirectory } from '../core/merchants/merchant-directory.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { GatewayMetrics } from '../platform/observability/metrics/gateway-metrics.ts'
import type { SandboxListen } from '../sandbox/sandbox-listen.ts'
import type { CallbackDelivery } from './callback-delivery.ts'
import type { ChangeMessages } from './jobs/change-messages.ts'

export interface PublishParts {
  readonly jobs: Pick<Jobs, 'wake'>
  /** Undefined if this process is no worker. */
  readonly delivery: Pick<CallbackDelivery, 'expects'> | undefined
  readonly live: Pick<LiveOrders, 'changed'>
  readonly listening: Pick<SandboxListen, 'expects'>
  readonly directory: Pick<MerchantDirectory, 'forget'>
  readonly metrics: Pick<GatewayMetrics, 'orders' | 'refunds' | 'emails'>
  readonly messages: Pick<ChangeMessages, 'add'>
  readonly isSandbox: boolean
}

export function publish(parts: PublishParts, changes: readonly Change[]): void {
  for (const change of changes) {
    react(parts, change)
    count(parts.metrics, change)
    if (concernsOthers(parts, change)) parts.messages.add(change)
  }
}

/** Reacts to a change of this process or of another one. */
export function react({ jobs, delivery, live, listening, directory }: PublishParts, change: Change): void {
  jobs.wake(change.kind, 'dueAtMs' in change ? change.dueAtMs : undefined)
  switch (change.kind) {
    case 'callbacks':
      delivery?.expects(change.lanes)
      listening.expects(change.lanes)
      break
    case 'order':
      live.changed(change)
      break
    case 'key in use':
      directory.forget(change.merchantId)
  }
}

function count(metrics: PublishParts['metrics'], change: Change): void {
  if (change.kind === 'order created') metrics.orders.of('pending').add()
  if (change.kind === 'email') metrics.emails.of(change.state).add()
  if (change.kind !== 'order' || change.status === undefined) return
  const { status } = change
  const counter = Object.hasOwn(refundStatuses, status) ? metrics.refunds : metrics.orders
  counter.of(status).add()
}

/** A worker handles its own changes. In the sandbox, another process may have a request that waits for callbacks. */
function concernsOthers({ delivery, isSandbox }: PublishParts, { kind }: Change): boolean {
  if (kind === 'payment submitted' || kind === 'rail task') return !delivery
  if (kind === 'callbacks') return !delivery || isSandbox
  return true
}
