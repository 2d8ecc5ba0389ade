// Sends one sample event to a webhook endpoint at once, as a delivery would, and returns the response. Nothing is queued
// or retried, and the health of the endpoint does not change.
import { Failure, makeCallbackId, type WebhookEventName } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Delivery } from '../../platform/runtime/delivery.ts'
import { TokenBuckets } from '../../platform/runtime/token-bucket.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import type { Context } from '../authority/context.ts'
import { bindWithin } from '../merchants/within.ts'
import type { HeldReason, Post, Prepared } from './deliver-callbacks.ts'
import { detailForMerchant } from './rules/attempt-detail.ts'
import { judge } from './rules/callback-attempt.ts'
import type { EndpointKey } from './rules/endpoint.ts'
import { testEventBody } from './rules/test-event.ts'
import type { DeliveryEndpoint, EndpointStore } from './store/endpoints.ts'

export interface SendTestEventParts extends ClockAndRandom {
  readonly stores: { readonly endpoints: Pick<EndpointStore, 'findForDelivery' | 'recordTest'> }
  readonly prepareCallback: (callback: {
    readonly callbackId: string
    readonly merchantId: string
    readonly eventName: WebhookEventName
    readonly callbackUrl: string
    readonly body: string
    readonly endpoint: DeliveryEndpoint
  }) => Promise<Prepared>
  /** The client for merchants' addresses, with its guard against private ones. */
  readonly postCallback: Post
}

export type TestDelivery = {
  readonly eventName: WebhookEventName
  readonly durationMs: number
} & (
  | {
      readonly kind: 'answered'
      readonly isAcknowledged: boolean
      /** Acknowledged by its status alone, without the expected body. */
      readonly isWarned: boolean
      readonly httpStatus: number
      readonly answer: string
    }
  /** Without IP addresses for members. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly detail: string | undefined }
  | { readonly kind: 'held'; readonly reason: HeldReason }
)

/** Per merchant: five at once, then one every ten seconds. */
const rate = { perSecond: 1 / 10, burst: 5 } as const
const maxMerchants = 10_000
const maxAnswerShown = 1_000

export type SendTestEvent = ReturnType<typeof makeSendTestEvent>

export function makeSendTestEvent(parts: SendTestEventParts) {
  const buckets = new TokenBuckets({ maxBuckets: maxMerchants })
  return bindWithin({ ...parts, buckets }, { sendTestEvent }).sendTestEvent
}

async function sendTestEvent(
  parts: SendTestEventParts & { readonly buckets: TokenBuckets },
  context: Context,
  key: EndpointKey,
  {
    eventName: wanted,
    reason,
  }: { readonly eventName?: WebhookEventName | undefined; readonly reason: string },
): Promise<TestDelivery> {
  const { stores, clock, random, buckets } = parts
  const endpoint = await stores.endpoints.findForDelivery(key)
  if (!endpoint || endpoint.removedAtMs !== undefined)
    throw new Failure('not_found', { message: `Endpoint ${key.endpointId} does not exist.` })
  const { merchantId } = key
  const waitMs = buckets.take(merchantId, rate, clock.now())
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1_000)
    throw new Failure('too_many_requests', {
      retryAfterSeconds,
      message: `Too many test events. Try again in ${retryAfterSeconds} seconds.`,
    })
  }
  const eventName = wanted ?? endpoint.events?.[0] ?? 'payment.order.success'
  const entry = makeAuditEntry(parts, context, 'endpoint.test', key.endpointId, {
    merchantId,
    reason: `${eventName}: ${reason}`,
  })
  await stores.endpoints.recordTest(key, entry)
  const nowMs = clock.now()
  const prepared = await parts.prepareCallback({
    callbackId: makeCallbackId(nowMs, random),
    merchantId,
    eventName,
    callbackUrl: endpoint.url,
    body: testEventBody({ merchantId, eventName, nowMs, random }),
    // A paused endpoint is tried before it is resumed.
    endpoint: { ...endpoint, pausedAtMs: undefined },
  })
  if (prepared.kind === 'held') return { kind: 'held', eventName, durationMs: 0, reason: prepared.reason }
  const delivery = await parts.postCallback(prepared)
  return {
    eventName,
    durationMs: delivery.durationMs,
    ...resultOf(delivery, { endpoint, isForMember: context.merchantId !== undefined }),
  }
}

function resultOf(
  delivery: Delivery,
  { endpoint, isForMember }: { readonly endpoint: DeliveryEndpoint; readonly isForMember: boolean },
) {
  if (delivery.kind === 'unreachable') {
    const { reason, detail } = delivery
    return {
      kind: 'unreachable',
      reason,
      detail: isForMember ? detailForMerchant({ outcome: reason, detail }) : detail,
    } as const
  }
  const verdict = judge(delivery, endpoint.format)
  return {
    kind: 'answered',
    isAcknowledged: verdict.kind === 'acknowledged',
    isWarned: verdict.kind === 'acknowledged' && verdict.isWarned,
    httpStatus: delivery.httpStatus,
    answer: delivery.answer.toString().slice(0, maxAnswerShown),
  } as const
}
