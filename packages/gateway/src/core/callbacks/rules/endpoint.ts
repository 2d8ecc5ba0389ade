// Endpoints: addresses of a merchant that hear of its events beside an order's own callbackUrl. Each gets a callback of
// its own for every event that it wants, so that it has its own retries and its own history.
import type { EventName } from '@tillgate/protocol'
import { hostOf } from '../../../platform/runtime/ssrf-guard.ts'
import type { Callback } from './callback.ts'

/** `envelope`: as callbackUrl gets it. `standard`: Standard Webhooks, plain JSON under an HMAC. */
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
  /** Undefined: all of them, also those to come. */
  readonly events: readonly EventName[] | undefined
  readonly createdAtMs: number
  /** Its callbacks wait since then. */
  readonly pausedAtMs: number | undefined
  readonly removedAtMs: number | undefined
}

export interface EndpointSecret extends EndpointKey {
  readonly secretId: string
  readonly sealedSecret: Buffer
  readonly createdAtMs: number
}

/** The database has as many slots. */
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

/** A callback with the place that it goes to. */
export interface AddressedCallback extends Omit<Callback, 'callbackUrl'> {
  readonly callbackUrl: string
  readonly host: string
  /** Empty: the order's own callbackUrl. */
  readonly endpointId: string
}

/** Undefined: the order names no address, or the merchant knows already. */
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
      .filter(({ events }) => events === undefined || events.includes(callback.eventName))
      .map(({ endpointId, url, host }) => ({
        ...callback,
        callbackId: idAtEndpoint(callback.callbackId, endpointId),
        callbackUrl: url,
        host,
        endpointId,
      })),
  )
}

/**
 * Of the same time as the event's own id, and the same whenever it is asked for. Endpoints end in random digits, so no two
 * give the same, and none gives the event's own.
 */
export function idAtEndpoint(callbackId: string, endpointId: string): string {
  const [own, other] = [callbackId, endpointId].map((id) => BigInt(`0x${id.slice(-12)}`)) as [bigint, bigint]
  return callbackId.slice(0, -12) + (own ^ other).toString(16).padStart(12, '0')
}
