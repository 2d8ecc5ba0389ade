// What a merchant does with its endpoints, and an operator for it: each act is recorded with who did it and why; a secret
// is given out once, when it is made.
import assert from 'node:assert/strict'
import { type EventName, Failure, makeUuid, makeWebhookSecret } from '@tillgate/protocol'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import { checkToldAgain } from '../operators/rules/tell-again.ts'
import { hostOf } from '../platform/ssrf-guard.ts'
import type { Vault } from '../platform/vault.ts'
import {
  type Endpoint,
  type EndpointFormat,
  type EndpointKey,
  type EndpointSecret,
  maxEndpoints,
  placeOfEndpointSecret,
} from './rules/endpoint.ts'
import type { EndpointStore, SecretDates } from './store/endpoints.ts'

export interface ManageEndpointsParts extends ActParts {
  readonly endpoints: EndpointStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly vault: Vault
  /** Why callbacks to this address are not allowed; undefined: they are. */
  readonly refusalOfCallbackUrl: (url: string, merchant: Merchant) => string | undefined
}

export interface NewEndpoint {
  readonly url: string
  readonly format: EndpointFormat
  readonly events: readonly EventName[] | undefined
}

export interface MadeEndpoint {
  readonly endpoint: Endpoint
  /** To be shown this once; undefined: envelopes have the merchant's keys. */
  readonly secret: string | undefined
}

export interface ShownEndpoint {
  readonly endpoint: Endpoint
  /** Live ones, the newest first. */
  readonly secrets: readonly SecretDates[]
}

export type ManageEndpoints = ReturnType<typeof makeManageEndpoints>

export function makeManageEndpoints(parts: ManageEndpointsParts) {
  const { endpoints, merchants, vault, clock, random } = parts
  const makeAct = makeActs(parts)
  const act = (name: string, { merchantId, endpointId }: EndpointKey, reason: string) =>
    makeAct(`endpoint.${name}`, endpointId, { merchantId, reason })

  return {
    listEndpoints: endpoints.listEndpoints,

    async showEndpoint(key: EndpointKey): Promise<ShownEndpoint> {
      return { endpoint: await find(key), secrets: await endpoints.listSecrets(key) }
    },

    async addEndpoint(merchantId: string, wanted: NewEndpoint, reason: string): Promise<MadeEndpoint> {
      const found = await merchants.findMerchant(merchantId)
      if (!found) throw new Failure('not_found', { message: `There is no merchant ${merchantId}.` })
      checkUrl(wanted.url, found.merchant)
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
      const sealed = secret === undefined ? undefined : seal(endpoint, secret)
      if (
        !(await endpoints.insertEndpoint(endpoint, sealed, act('add', endpoint, `${wanted.url}: ${reason}`)))
      )
        throw new Failure('status_does_not_allow', {
          message: `A merchant has at most ${maxEndpoints} endpoints. Remove one first.`,
        })
      return { endpoint, secret }
    },

    async changeEvents(
      key: EndpointKey,
      events: readonly EventName[] | undefined,
      reason: string,
    ): Promise<Endpoint> {
      await find(key)
      const described = `events=${events?.join(',') ?? 'all'}: ${reason}`
      if (!(await endpoints.setEvents(key, events, act('change', key, described))))
        throw isNotSo('is removed')
      return find(key)
    },

    /** Nothing is lost by it: its callbacks wait, seven days at most. */
    async pauseEndpoint(key: EndpointKey, reason: string): Promise<Endpoint> {
      await find(key)
      if (!(await endpoints.pauseEndpoint(key, clock.now(), act('pause', key, reason))))
        throw isNotSo('is paused already')
      return find(key)
    },

    async resumeEndpoint(key: EndpointKey, reason: string): Promise<Endpoint> {
      const paused = await find(key)
      if (!(await endpoints.resumeEndpoint(paused, clock.now(), act('resume', key, reason))))
        throw isNotSo('is not paused')
      return find(key)
    },

    /** What waits for it is given up; what it was sent stays in the history. */
    async removeEndpoint(key: EndpointKey, reason: string): Promise<Endpoint> {
      const removed = await find(key)
      if (!(await endpoints.removeEndpoint(key, clock.now(), act('remove', key, reason))))
        throw isNotSo('is removed already')
      return removed
    },

    /** The one before signs as well until the next time, unless it was stolen. */
    async rotateSecret(
      key: EndpointKey,
      {
        endsOthers,
        reason,
        actId,
      }: {
        readonly endsOthers: boolean
        readonly reason: string
        /** Sent again with the same one, it makes one secret. */
        readonly actId?: string | undefined
      },
    ): Promise<MadeEndpoint> {
      const endpoint = await find(key)
      if (endpoint.format !== 'standard')
        throw new Failure('status_does_not_allow', {
          message: 'This endpoint gets envelopes, under the merchant’s keys: it has no secret of its own.',
        })
      const secret = makeWebhookSecret(random)
      const made = seal(key, secret, actId)
      if (await endpoints.replaceSecret(made, { endsOthers }, act('rotate-secret', key, reason)))
        return { endpoint, secret }
      const before = await endpoints.findSecret(made)
      assert(before, 'a secret that is there is found')
      checkToldAgain(before, clock.now())
      return { endpoint, secret: vault.open(before.sealedSecret, placeOfEndpointSecret(made)).toString() }
    },
  }

  /** Throws also where it is removed. */
  async function find(key: EndpointKey): Promise<Endpoint> {
    const found = await endpoints.findEndpoint(key)
    if (found && found.removedAtMs === undefined) return found
    throw new Failure('not_found', { message: `There is no endpoint ${key.endpointId}.` })
  }

  function checkUrl(url: string, merchant: Merchant): void {
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

  function seal({ merchantId, endpointId }: EndpointKey, secret: string, actId?: string): EndpointSecret {
    const createdAtMs = clock.now()
    const secretId = actId ?? makeUuid(createdAtMs, random)
    const sealedSecret = vault.seal(Buffer.from(secret), placeOfEndpointSecret({ merchantId, secretId }))
    return { merchantId, endpointId, secretId, sealedSecret, createdAtMs }
  }
}

function isNotSo(what: string): Failure {
  return new Failure('status_does_not_allow', { message: `The endpoint ${what}.` })
}
