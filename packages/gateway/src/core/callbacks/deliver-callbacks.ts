// Delivering one callback in three steps: prepare seals it, send is the only one that touches the network, record
// writes down what came of it. Whatever happens between them, the callback stays in the queue until its outcome
// is recorded.
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
import { type Failing, isHostFault, isWorthTelling } from './rules/host-health.ts'
import { lastAttemptWithinMs } from './rules/retry-schedule.ts'
import type { ExhaustedCallback } from './store/callback-history.ts'
import type { CallbackOutcomes, Recorded } from './store/callback-outcomes.ts'
import { type CallbackQueue, type ClaimedCallback, endpointPaused } from './store/callback-queue.ts'
import type { DeliveryEndpoint } from './store/endpoints.ts'

export type Prepared =
  | ({ readonly kind: 'sealed' } & CallbackRequest)
  /** It cannot be tried for now; it goes on waiting, and no attempt is counted. */
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
  /** The merchant signed on by itself: to public addresses only. */
  readonly isPublicOnly: boolean
}

export type Post = (request: CallbackRequest) => Promise<Delivery>

/** A claim holds this long. Longer than the longest attempt and the waits around it. */
export const claimForMs = 60_000
/** With less than this left of its claim a callback is not sent any more: another may soon send it. */
export const neededForAttemptMs = 20_000
/** How long what cannot be tried waits until it is looked at again. Behind a paused endpoint it waits to be resumed. */
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
  /** Left out, the protocol's own. */
  readonly tools?: SealingTools
  /** The merchant fetches it itself: nothing goes to the host. */
  readonly isFetched?: true
}

/**
 * The same id and body on every attempt; the time and the signature are fresh. Also for a suspended merchant: what
 * has happened is still owed to it. A merchant without a live AES key cannot be told, so its callbacks wait; so do
 * those to a host that was taken off the merchant's list since the order was made, and those to an endpoint that is paused.
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

/** As Standard Webhooks have it: what happened and when as JSON, and a signature by every live secret. */
function signedPlainly(
  { callbackId: id, eventName, body: data }: { callbackId: string; eventName: string; body: string },
  { endpoint, vault, nowMs }: { endpoint: DeliveryEndpoint; vault: Vault; nowMs: number },
): Pick<CallbackRequest, 'body' | 'headers'> | undefined {
  const secrets = endpoint.secrets.map(({ secretId, sealedSecret }) =>
    vault.open(sealedSecret, placeOfEndpointSecret({ ...endpoint, secretId })).toString(),
  )
  if (secrets.length === 0) return undefined
  const happenedAt = new Date(timeOfCallbackId(id)).toISOString()
  // The very text of the history, so that every attempt says the same to the letter.
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
        ...(failing && isWorthTelling(failing, nowMs)
          ? notifyFailing(callback, {
              failing,
              to: isHostFault(outcome.verdict) ? callback.host : shortAddressOf(callback.callbackUrl),
              nowMs,
            })
          : []),
      ],
    })
  }

  /** Once a day and host: where each order has an address of its own, many fail together. */
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

/** From 0 to 1, both ends possible. */
function chanceFrom(random: RandomBytes): number {
  const bytes = random(4)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 0xffffffff
}
