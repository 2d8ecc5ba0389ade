// Delivering one callback in three steps: prepare seals it, send is the only one that touches the network, record
// writes down what came of it. Whatever happens between them, the callback stays in the queue until its outcome
// is recorded.
import { type RandomBytes, type SealingTools, sealCallback } from '@tillgate/protocol'
import type { PlatformKeys } from '../keys/platform-keys.ts'
import type { MerchantDirectory } from '../merchants/merchant-directory.ts'
import type { MakeNotices } from '../notices/make-notices.ts'
import { writtenDay, writtenTime } from '../notices/rules/notice.ts'
import type { Clock, ClockAndRandom } from '../platform/clock.ts'
import type { Delivery } from '../platform/delivery.ts'
import { hostOf } from '../platform/ssrf-guard.ts'
import { decideOutcome } from './rules/callback-attempt.ts'
import { type FailingHost, isWorthTelling } from './rules/host-health.ts'
import type { CallbackOutcomes, Recorded } from './store/callback-outcomes.ts'
import type { CallbackQueue, ClaimedCallback } from './store/callback-queue.ts'

export type Prepared =
  | ({ readonly kind: 'sealed' } & CallbackRequest)
  /** It cannot be tried for now; it goes on waiting, and no attempt is counted. */
  | { readonly kind: 'held'; readonly reason: HeldReason }

export type HeldReason = 'no_live_aes_key' | 'body_not_kept' | 'host_not_on_list'

export interface CallbackRequest {
  readonly url: string
  readonly body: string
  /** The merchant signed on by itself: to public addresses only. */
  readonly isPublicOnly: boolean
}

export type Post = (request: CallbackRequest) => Promise<Delivery>

/** A claim holds this long. Longer than the longest attempt and the waits around it. */
export const claimForMs = 60_000
/** With less than this left of its claim a callback is not sent any more: another may soon send it. */
export const neededForAttemptMs = 20_000
/** How long what cannot be tried waits until it is looked at again. */
export const heldForMs = 10 * 60_000

export type CallbackToSeal = Pick<
  ClaimedCallback,
  'callbackId' | 'merchantId' | 'eventName' | 'callbackUrl' | 'body'
>

export interface PrepareParts {
  readonly directory: MerchantDirectory
  readonly platformKeys: Pick<PlatformKeys, 'remembered' | 'signing'>
  readonly clock: Clock
  /** Left out, the protocol's own. */
  readonly tools?: SealingTools
  /** The merchant fetches it itself: nothing goes to the host. */
  readonly isFetched?: true
}

/**
 * The same id and body on every attempt; the time and the signature are fresh. Also for a suspended merchant: what
 * has happened is still owed to it. A merchant without a live AES key cannot be told, so its callbacks wait; so do
 * those to a host that was taken off the merchant's list since the order was made.
 */
export function makePrepareCallback({ directory, platformKeys, clock, tools, isFetched }: PrepareParts) {
  return async (callback: CallbackToSeal): Promise<Prepared> => {
    const { callbackId, merchantId, eventName, body } = callback
    if (body === undefined) return { kind: 'held', reason: 'body_not_kept' }
    const nowMs = clock.now()
    const { known } = directory.remembered(merchantId, nowMs) ?? (await directory.load(merchantId, nowMs))
    const aesKey = known?.keys.aesKeys.at(-1)
    if (!known || !aesKey) return { kind: 'held', reason: 'no_live_aes_key' }
    const { callbackHosts } = known.merchant
    if (!isFetched && callbackHosts?.includes(hostOf(callback.callbackUrl)) === false)
      return { kind: 'held', reason: 'host_not_on_list' }
    const { privateKey } = platformKeys.remembered(nowMs) ?? (await platformKeys.signing(nowMs))
    const message = { id: callbackId, merchantId, eventName, timestamp: nowMs, body }
    const envelope = await sealCallback(message, { aesKey, privateKey }, undefined, tools)
    return {
      kind: 'sealed',
      url: callback.callbackUrl,
      body: JSON.stringify(envelope),
      isPublicOnly: known.merchant.isSelfRegistered,
    }
  }
}

export interface RecordParts extends ClockAndRandom {
  readonly outcomes: Pick<CallbackOutcomes, 'record'>
  readonly makeNotices: MakeNotices
}

export interface Attempted {
  readonly delivery: Delivery
  readonly startedAtMs: number
}

export function makeRecordAttempt({ outcomes, makeNotices, clock, random }: RecordParts) {
  return (callback: ClaimedCallback, { delivery, startedAtMs }: Attempted): Promise<Recorded> => {
    const nowMs = clock.now()
    const { isResend, progress } = callback
    const outcome = decideOutcome(progress, {
      delivery,
      isResend,
      startedAtMs,
      nowMs,
      chance: () => chanceFrom(random),
    })
    return outcomes.record({
      ...{ callback, delivery, outcome, startedAtMs, nowMs },
      noticesFor: (host) => [
        ...(outcome.isNewlyExhausted ? tellExhausted(callback, nowMs) : []),
        ...(host && isWorthTelling(host, nowMs) ? tellFailing(callback, host, nowMs) : []),
      ],
    })
  }

  function tellExhausted({ merchantId, host, eventName, paymentId }: ClaimedCallback, nowMs: number) {
    return makeNotices('callbacks-exhausted', {
      merchantId,
      parameters: { host, event: eventName, paymentId },
      onceKey: `${merchantId} ${writtenDay(nowMs)}`,
    })
  }

  function tellFailing({ merchantId }: ClaimedCallback, failing: FailingHost, nowMs: number) {
    const { host, failingSinceMs, reason } = failing
    return makeNotices('callback-host-failing', {
      merchantId,
      parameters: { host, since: writtenTime(failingSinceMs), reason },
      onceKey: `${merchantId} ${host} ${writtenDay(nowMs)}`,
    })
  }
}

export function makeHoldCallback({ queue, clock }: { queue: Pick<CallbackQueue, 'hold'>; clock: Clock }) {
  return (callback: ClaimedCallback, reason: HeldReason): Promise<void> =>
    queue.hold({ callback, reason, untilMs: clock.now() + heldForMs })
}

/** From 0 to 1, both ends possible. */
function chanceFrom(random: RandomBytes): number {
  const bytes = random(4)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 0xffffffff
}
