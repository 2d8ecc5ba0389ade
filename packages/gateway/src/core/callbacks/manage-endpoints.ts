// Operations on a merchant's webhook endpoints, each recorded in the audit log. A secret is shown once, when it is
// created.

import assert from 'node:assert/strict'
import { Failure, makeUuid, makeWebhookSecret, type WebhookEventName } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { hostOf } from '../../platform/runtime/ssrf-guard.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { checkShownOnce } from '../audit/rules/shown-once.ts'
import type { Context } from '../authority/context.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import { bindWithin } from '../merchants/within.ts'
import {
  type Endpoint,
  type EndpointFormat,
  type EndpointKey,
  type EndpointSecret,
  maxEndpoints,
  placeOfEndpointSecret,
} from './rules/endpoint.ts'
import type { Failing } from './rules/host-health.ts'
import type { EndpointStore, SecretDates } from './store/endpoints.ts'

export interface ManageEndpointsParts extends ClockAndRandom {
  readonly stores: {
    readonly endpoints: EndpointStore
    readonly merchants: Pick<MerchantStore, 'findMerchant'>
  }
  readonly vault: Vault
  /** Returns why callbacks to this address are not allowed; undefined if they are. */
  readonly refusalOfCallbackUrl: (url: string, merchant: Merchant) => string | undefined
}

export interface NewEndpoint {
  readonly url: string
  readonly format: EndpointFormat
  readonly events: readonly WebhookEventName[] | undefined
}

export interface MadeEndpoint {
  readonly endpoint: Endpoint
  /** Shown only once; undefined for envelopes, which use the merchant's keys. */
  readonly secret: string | undefined
}

export interface EndpointWithHealth extends Endpoint {
  readonly failing: EndpointFailing | undefined
}

export interface EndpointFailing extends Failing {
  /** A failing host makes all of its addresses unreachable. */
  readonly what: 'host' | 'endpoint'
}

export interface ShownEndpoint {
  readonly endpoint: EndpointWithHealth
  readonly secrets: readonly SecretDates[]
}

type EndpointAction = 'add' | 'change' | 'pause' | 'remove' | 'resume' | 'rotate-secret'

export type ManageEndpoints = ReturnType<typeof makeManageEndpoints>

type Parts = ManageEndpointsParts

export function makeManageEndpoints(parts: ManageEndpointsParts) {
  return bindWithin(parts, {
    listEndpoints,
    showEndpoint,
    addEndpoint,
    changeEvents,
    pauseEndpoint,
    resumeEndpoint,
    removeEndpoint,
    rotateSecret,
  })
}

async function listEndpoints(
  parts: Parts,
  _context: Context,
  merchantId: string,
): Promise<readonly EndpointWithHealth[]> {
  return withHealth(parts, merchantId, await parts.stores.endpoints.listEndpoints(merchantId))
}

async function showEndpoint(parts: Parts, _context: Context, key: EndpointKey): Promise<ShownEndpoint> {
  const [endpoint] = await withHealth(parts, key.merchantId, [await find(parts, key)])
  assert(endpoint, 'one for each that is given')
  return { endpoint, secrets: await parts.stores.endpoints.listSecrets(key) }
}

async function addEndpoint(
  parts: Parts,
  context: Context,
  merchantId: string,
  wanted: NewEndpoint,
  reason: string,
): Promise<MadeEndpoint> {
  const { clock, random } = parts
  const { merchants, endpoints } = parts.stores
  const found = await merchants.findMerchant(merchantId)
  if (!found) throw new Failure('not_found', { message: `Merchant ${merchantId} does not exist.` })
  checkUrl(parts, wanted.url, found.merchant)
  const createdAtMs = clock.now()
  const endpoint: Endpoint = {
    merchantId,
    endpointId: makeUuid(createdAtMs, random),
    ...wanted,
    host: hostOf(wanted.url),
    createdAtMs,
    pausedAtMs: undefined,
    removedAtMs: undefined,
  }
  const secret = wanted.format === 'standard' ? makeWebhookSecret(random) : undefined
  const sealed = secret === undefined ? undefined : seal(parts, endpoint, secret)
  if (
    !(await endpoints.insertEndpoint(
      endpoint,
      sealed,
      entry(parts, context, 'add', endpoint, `${wanted.url}: ${reason}`),
    ))
  )
    throw new Failure('status_does_not_allow', {
      message: `A merchant has at most ${maxEndpoints} endpoints. Remove one first.`,
    })
  return { endpoint, secret }
}

async function changeEvents(
  parts: Parts,
  context: Context,
  key: EndpointKey,
  events: readonly WebhookEventName[] | undefined,
  reason: string,
): Promise<Endpoint> {
  await find(parts, key)
  const described = `events=${events?.join(',') ?? 'all'}: ${reason}`
  if (!(await parts.stores.endpoints.setEvents(key, events, entry(parts, context, 'change', key, described))))
    throw isNotSo('is removed')
  return find(parts, key)
}

/** Its callbacks wait for at most seven days. */
async function pauseEndpoint(
  parts: Parts,
  context: Context,
  key: EndpointKey,
  reason: string,
): Promise<Endpoint> {
  await find(parts, key)
  if (
    !(await parts.stores.endpoints.pauseEndpoint(
      key,
      parts.clock.now(),
      entry(parts, context, 'pause', key, reason),
    ))
  )
    throw isNotSo('is paused already')
  return find(parts, key)
}

async function resumeEndpoint(
  parts: Parts,
  context: Context,
  key: EndpointKey,
  reason: string,
): Promise<Endpoint> {
  const paused = await find(parts, key)
  if (
    !(await parts.stores.endpoints.resumeEndpoint(
      paused,
      parts.clock.now(),
      entry(parts, context, 'resume', key, reason),
    ))
  )
    throw isNotSo('is not paused')
  return find(parts, key)
}

/** Waiting callbacks are exhausted; the history stays. */
async function removeEndpoint(
  parts: Parts,
  context: Context,
  key: EndpointKey,
  reason: string,
): Promise<Endpoint> {
  const removed = await find(parts, key)
  if (
    !(await parts.stores.endpoints.removeEndpoint(
      key,
      parts.clock.now(),
      entry(parts, context, 'remove', key, reason),
    ))
  )
    throw isNotSo('is removed already')
  return removed
}

/** The previous secret also signs until the next rotation, unless it was stolen. */
async function rotateSecret(
  parts: Parts,
  context: Context,
  key: EndpointKey,
  {
    endsOthers,
    reason,
    idempotencyKey,
  }: {
    readonly endsOthers: boolean
    readonly reason: string
    /** A repeated request with the same id creates one secret. */
    readonly idempotencyKey?: string | undefined
  },
): Promise<MadeEndpoint> {
  const { random, clock, vault } = parts
  const { endpoints } = parts.stores
  const endpoint = await find(parts, key)
  if (endpoint.format !== 'standard')
    throw new Failure('status_does_not_allow', {
      message: 'This endpoint receives envelopes, which use the merchant’s keys, so it has no secret.',
    })
  const secret = makeWebhookSecret(random)
  const made = seal(parts, key, secret, idempotencyKey)
  if (
    await endpoints.replaceSecret(made, { endsOthers }, entry(parts, context, 'rotate-secret', key, reason))
  )
    return { endpoint, secret }
  const before = await endpoints.findSecret(made)
  assert(before, 'a secret that is there is found')
  checkShownOnce(before, clock.now())
  return { endpoint, secret: vault.open(before.sealedSecret, placeOfEndpointSecret(made)).toString() }
}

function entry(
  parts: Parts,
  context: Context,
  name: EndpointAction,
  { merchantId, endpointId }: EndpointKey,
  reason: string,
) {
  return makeAuditEntry(parts, context, `endpoint.${name}`, endpointId, { merchantId, reason })
}

async function withHealth(
  { stores: { endpoints } }: Parts,
  merchantId: string,
  found: readonly Endpoint[],
): Promise<readonly EndpointWithHealth[]> {
  const hosts = found.map(({ host }) => host)
  const health = await endpoints.healthOf(merchantId, hosts)
  return found.map((endpoint) => {
    const own = health.destinations.find(({ endpointId }) => endpointId === endpoint.endpointId)
    const host = health.hosts.find((each) => each.host === endpoint.host)
    const failing = own
      ? ({ ...stateOf(own), what: 'endpoint' } as const)
      : host && ({ ...stateOf(host), what: 'host' } as const)
    return { ...endpoint, failing }
  })
}

/** Throws if the endpoint was removed. */
async function find({ stores: { endpoints } }: Parts, key: EndpointKey): Promise<Endpoint> {
  const found = await endpoints.findEndpoint(key)
  if (found && found.removedAtMs === undefined) return found
  throw new Failure('not_found', { message: `Endpoint ${key.endpointId} does not exist.` })
}

function checkUrl(parts: Parts, url: string, merchant: Merchant): void {
  const refusal =
    parts.refusalOfCallbackUrl(url, merchant) ??
    (merchant.callbackHosts?.includes(hostOf(url)) === false
      ? `${hostOf(url)} is not on the list of callback hosts`
      : undefined)
  if (refusal !== undefined)
    throw new Failure('url_not_allowed', {
      field: 'url',
      message: `The address is not allowed: ${refusal}.`,
    })
}

function seal(
  { clock, random, vault }: Parts,
  { merchantId, endpointId }: EndpointKey,
  secret: string,
  idempotencyKey?: string,
): EndpointSecret {
  const createdAtMs = clock.now()
  const secretId = idempotencyKey ?? makeUuid(createdAtMs, random)
  const sealedSecret = vault.seal(Buffer.from(secret), placeOfEndpointSecret({ merchantId, secretId }))
  return { merchantId, endpointId, secretId, sealedSecret, createdAtMs }
}

function stateOf({ failures, failingSinceMs, reason, pauses, pausedAtMs, pausedUntilMs }: Failing): Failing {
  return { failures, failingSinceMs, reason, pauses, pausedAtMs, pausedUntilMs }
}

function isNotSo(what: string): Failure {
  return new Failure('status_does_not_allow', { message: `The endpoint ${what}.` })
}
