// Webhook endpoints: additional addresses of a merchant. Each gets its own callback per event, with its own retries
// and history.
import { isDisputeEventName, type WebhookEventName } from '@tillgate/protocol'
import { hostOf } from '../../../platform/runtime/ssrf-guard.ts'
import type { Callback } from './callback.ts'

/** `envelope`: as callbackUrl receives it. `standard`: Standard Webhooks, plain JSON with an HMAC. */
export const endpointFormats = ['envelope', 'standard'] as const
export type EndpointFormat = (typeof endpointFormats)[number]

export interface EndpointKey {
  readonly merchantId: string
  readonly endpointId: string
}

export interface Endpoint extends EndpointKey {
  readonly url: string
  readonly host: string
  readonly format: EndpointFormat
  /** Undefined: all events of orders and refunds, including future ones. */
  readonly events: readonly WebhookEventName[] | undefined
  readonly createdAtMs: number
  readonly pausedAtMs: number | undefined
  readonly removedAtMs: number | undefined
}

export interface EndpointSecret extends EndpointKey {
  readonly secretId: string
  readonly sealedSecret: Buffer
  readonly createdAtMs: number
}

/** Matches the number of slots in the database. */
export const maxEndpoints = 16

export function placeOfEndpointSecret({
  merchantId,
  secretId,
}: {
  merchantId: string
  secretId: string
}): string {
  return `callback endpoint secret ${merchantId} ${secretId}`
}

export interface AddressedCallback extends Omit<Callback, 'callbackUrl'> {
  readonly callbackUrl: string
  readonly host: string
  /** Empty: the order's own callbackUrl. */
  readonly endpointId: string
}

/** Undefined if the order has no callbackUrl or the merchant already has the result. */
export function toOwnAddress({ callbackUrl, ...callback }: Callback): AddressedCallback | undefined {
  if (callback.isAnswered || callbackUrl === undefined || callbackUrl === '') return undefined
  return { ...callback, callbackUrl, host: hostOf(callbackUrl), endpointId: '' }
}

export type ListeningEndpoint = Pick<Endpoint, 'merchantId' | 'endpointId' | 'url' | 'host' | 'events'>

export function toEndpoints(
  callbacks: readonly Callback[],
  endpoints: readonly ListeningEndpoint[],
): AddressedCallback[] {
  return callbacks.flatMap((callback) =>
    endpoints
      .filter(({ merchantId }) => merchantId === callback.merchantId && !callback.isAnswered)
      .filter(({ events }) => wants(events, callback.eventName))
      .map(({ endpointId, url, host }) => ({
        ...callback,
        callbackId: idAtEndpoint(callback.callbackId, endpointId),
        callbackUrl: url,
        host,
        endpointId,
      })),
  )
}

/** Disputes go only to endpoints that select them, so that existing receivers get no unknown events. */
function wants(events: ListeningEndpoint['events'], eventName: WebhookEventName): boolean {
  return events?.includes(eventName) ?? !isDisputeEventName(eventName)
}

/**
 * Deterministic, with the event's time. Endpoint ids end in random digits, so ids never collide with each other or
 * with the event's own.
 */
export function idAtEndpoint(callbackId: string, endpointId: string): string {
  const [own, other] = [callbackId, endpointId].map((id) => BigInt(`0x${id.slice(-12)}`)) as [bigint, bigint]
  return callbackId.slice(0, -12) + (own ^ other).toString(16).padStart(12, '0')
}
