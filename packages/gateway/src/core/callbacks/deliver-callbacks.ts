// Delivers one callback in three steps: prepare seals it, send uses the network, record stores the outcome. Until
// then the callback stays in the queue.
import { type RandomBytes, type SealingTools, sealCallback, signWebhook } from '@tillgate/protocol'
import type { Clock, ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Delivery } from '../../platform/runtime/delivery.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { hostOf } from '../../platform/runtime/ssrf-guard.ts'
import { timeOfCallbackId } from '../../platform/runtime/time-ordered-ids.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { type NewEmail, writtenDay, writtenTime } from '../emails/rules/email.ts'
import type { PlatformKeys } from '../keys/platform-keys.ts'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import { decideOutcome } from './rules/callback-attempt.ts'
import { shortAddressOf } from './rules/destination.ts'
import { placeOfEndpointSecret } from './rules/endpoint.ts'
import { type Failing, isHostFault, isWorthEmail } from './rules/host-health.ts'
import { lastAttemptWithinMs } from './rules/retry-schedule.ts'
import type { ExhaustedCallback } from './store/callback-history.ts'
import type { CallbackOutcomes, Recorded } from './store/callback-outcomes.ts'
import { type CallbackQueue, type ClaimedCallback, endpointPaused } from './store/callback-queue.ts'
import type { DeliveryEndpoint } from './store/endpoints.ts'

export type Prepared =
  | ({ readonly kind: 'sealed' } & CallbackRequest)
  /** Delivery is not possible now; no attempt is counted. */
  | { readonly kind: 'held'; readonly reason: HeldReason }

export type HeldReason =
  | 'no_live_aes_key'
  | 'body_not_kept'
  | 'host_not_on_list'
  | 'no_live_secret'
  | 'endpoint_removed'
  | typeof endpointPaused

export interface CallbackRequest {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** The merchant signed up on its own, so only public addresses are allowed. */
  readonly isPublicOnly: boolean
}

export type Post = (request: CallbackRequest) => Promise<Delivery>

/** Longer than the longest attempt and the waits around it. */
export const claimForMs = 60_000
/** With less time left, the callback is not sent, because another worker may soon send it. */
export const neededForAttemptMs = 20_000
/** How long a held callback waits for the next check. Behind a paused endpoint it waits for the resume. */
export const heldForMs = 10 * 60_000

export type CallbackToSeal = Pick<
  ClaimedCallback,
  'callbackId' | 'merchantId' | 'eventName' | 'callbackUrl' | 'body'
> &
  Partial<Pick<ClaimedCallback, 'endpoint'>>

export interface PrepareParts {
  readonly directory: MerchantDirectory
  readonly platformKeys: Pick<PlatformKeys, 'remembered' | 'signing'>
  readonly vault: Vault
  readonly clock: Clock
  readonly tools?: SealingTools
  /** The merchant polls for it, so nothing goes to the host. */
  readonly isFetched?: true
}

/**
 * Every attempt has the same id and body with a fresh time and signature. Suspended merchants still receive
 * callbacks. Callbacks are held if the merchant has no live AES key, if the host is no longer on the merchant's list,
 * or if the endpoint is paused.
 */
export function makePrepareCallback(parts: PrepareParts) {
  const { directory, platformKeys, vault, clock, tools, isFetched } = parts
  return async (callback: CallbackToSeal): Promise<Prepared> => {
    const { callbackId, merchantId, eventName, body, endpoint } = callback
    if (body === undefined) return { kind: 'held', reason: 'body_not_kept' }
    if (endpoint?.removedAtMs !== undefined) return { kind: 'held', reason: 'endpoint_removed' }
    if (endpoint?.pausedAtMs !== undefined) return { kind: 'held', reason: endpointPaused }
    const nowMs = clock.now()
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    const aesKey = known?.callbackKey
    const isStandard = endpoint?.format === 'standard'
    if (!known || !(aesKey || isStandard)) return { kind: 'held', reason: 'no_live_aes_key' }
    const { callbackHosts, isSelfRegistered: isPublicOnly } = known.merchant
    if (!isFetched && callbackHosts?.includes(hostOf(callback.callbackUrl)) === false)
      return { kind: 'held', reason: 'host_not_on_list' }
    if (isStandard) {
      const signed = signedPlainly({ callbackId, eventName, body }, { endpoint, vault, nowMs })
      if (!signed) return { kind: 'held', reason: 'no_live_secret' }
      return { kind: 'sealed', url: callback.callbackUrl, ...signed, isPublicOnly }
    }
    if (!aesKey) return { kind: 'held', reason: 'no_live_aes_key' }
    const { privateKey } = platformKeys.remembered(nowMs) ?? (await platformKeys.signing(nowMs))
    const message = { id: callbackId, merchantId, eventName, timestamp: nowMs, body }
    const envelope = await sealCallback(message, { aesKey, privateKey }, undefined, tools)
    return {
      kind: 'sealed',
      url: callback.callbackUrl,
      body: JSON.stringify(envelope),
      isPublicOnly,
    }
  }
}

/** The Standard Webhooks format: plain JSON, signed with every live secret. */
function signedPlainly(
  { callbackId: id, eventName, body: data }: { callbackId: string; eventName: string; body: string },
  { endpoint, vault, nowMs }: { endpoint: DeliveryEndpoint; vault: Vault; nowMs: number },
): Pick<CallbackRequest, 'body' | 'headers'> | undefined {
  const secrets = endpoint.secrets.map(({ secretId, sealedSecret }) =>
    vault.open(sealedSecret, placeOfEndpointSecret({ ...endpoint, secretId })).toString(),
  )
  if (secrets.length === 0) return undefined
  const happenedAt = new Date(timeOfCallbackId(id)).toISOString()
  // The stored text, so that every attempt sends the same bytes.
  const body = `{"type":"${eventName}","timestamp":"${happenedAt}","data":${data}}`
  return { body, headers: signWebhook({ id, body }, { secrets, nowMs }) }
}

export interface RecordParts extends ClockAndRandom {
  readonly outcomes: Pick<CallbackOutcomes, 'record'>
  readonly makeEmails: MakeEmails
}

export interface Attempted {
  readonly delivery: Delivery
  readonly startedAtMs: number
}

export function makeRecordAttempt({ outcomes, makeEmails, clock, random }: RecordParts) {
  return (callback: ClaimedCallback, { delivery, startedAtMs }: Attempted): Promise<Recorded> => {
    const nowMs = clock.now()
    const { isResend, progress, endpoint } = callback
    const outcome = decideOutcome(progress, {
      delivery,
      format: endpoint?.format,
      isResend,
      startedAtMs,
      nowMs,
      chance: () => chanceFrom(random),
    })
    return outcomes.record({
      callback,
      delivery,
      outcome,
      startedAtMs,
      nowMs,
      emailsFor: (failing) => [
        ...(outcome.isNewlyExhausted ? notifyExhausted(makeEmails, callback, nowMs) : []),
        ...(failing && isWorthEmail(failing, nowMs)
          ? notifyFailing(callback, {
              failing,
              to: isHostFault(outcome.verdict) ? callback.host : shortAddressOf(callback.callbackUrl),
              nowMs,
            })
          : []),
      ],
    })
  }

  /** Once per day and host, because addresses that differ per order fail together. */
  function notifyFailing(
    { merchantId, host }: ClaimedCallback,
    { failing, to, nowMs }: { failing: Failing; to: string; nowMs: number },
  ) {
    const { failingSinceMs, reason } = failing
    return makeEmails('callback-host-failing', {
      merchantId,
      parameters: { host: to, since: writtenTime(failingSinceMs), reason },
      onceKey: `${merchantId} ${host} ${writtenDay(nowMs)}`,
    })
  }
}

export function notifyExhausted(
  makeEmails: MakeEmails,
  { merchantId, host, eventName, paymentId }: ExhaustedCallback,
  nowMs: number,
): readonly NewEmail[] {
  return makeEmails('callbacks-exhausted', {
    merchantId,
    parameters: { host, event: eventName, paymentId },
    onceKey: `${merchantId} ${writtenDay(nowMs)}`,
  })
}

export function makeHoldCallback({ queue, clock }: { queue: Pick<CallbackQueue, 'hold'>; clock: Clock }) {
  return (callback: ClaimedCallback, reason: HeldReason): Promise<void> =>
    queue.hold({
      callback,
      reason,
      untilMs: clock.now() + (reason === endpointPaused ? lastAttemptWithinMs : heldForMs),
    })
}

/** From 0 to 1, both inclusive. */
function chanceFrom(random: RandomBytes): number {
  const bytes = random(4)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 0xffffffff
}
