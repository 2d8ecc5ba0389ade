// Delivers callbacks: finds lanes with something due, claims as much as there are slots for, and keeps every core
// signing. It is told of callbacks that this process commits; those of others it finds by looking into the queue
// every second, and retries by waking when the next one is due.

import {
  type Attempted,
  claimForMs,
  type HeldReason,
  neededForAttemptMs,
  type Post,
  type Prepared,
} from '../callbacks/deliver-callbacks.ts'
import { type Delivery, isAcknowledged } from '../callbacks/rules/callback-attempt.ts'
import {
  DeliveryLanes,
  type HostState,
  type Lane,
  type LaneLimits,
  type LaneRequest,
} from '../callbacks/rules/delivery-lanes.ts'
import { isHostFailure } from '../callbacks/rules/host-health.ts'
import type { Recorded } from '../callbacks/store/callback-outcomes.ts'
import type { CallbackQueue, ClaimedCallback } from '../callbacks/store/callback-queue.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Loop, startLoop } from './loop.ts'

export interface DeliveryWorkerParts {
  readonly queue: Pick<CallbackQueue, 'findDueLanes' | 'pageOfLanes' | 'claim' | 'release'>
  readonly prepare: (callback: ClaimedCallback) => Promise<Prepared>
  readonly send: Post
  readonly record: (callback: ClaimedCallback, attempt: Attempted) => Promise<Recorded>
  readonly hold: (callback: ClaimedCallback, reason: HeldReason) => Promise<void>
  /** An attempt was made and written down. */
  readonly onRecorded?: (callback: ClaimedCallback, attempt: Attempted) => void
  readonly newClaimId: () => string
  readonly limits: LaneLimits
  /** How many signatures are made at once. */
  readonly signers: number
  readonly clock: Clock
  readonly log: Log
}

export interface DeliveryWorker extends Omit<Loop, 'wake'> {
  /** These lanes got callbacks just now. */
  expects(lanes: readonly Lane[]): void
  counts(): DeliveryCounts
}

/** Since the start of the process, apart from `inFlight`. */
export interface DeliveryCounts {
  readonly acknowledged: number
  readonly refused: number
  readonly unreachable: number
  readonly held: number
  readonly exhausted: number
  readonly claimsLost: number
  readonly pauses: number
  readonly inFlight: number
}

/** What a delivery waits for; `settling` is what the database is told of it. */
type Stage = 'signing' | 'sending' | 'settling'

const worker = 'deliver-callbacks'
const lookAgainMs = 1_000
/** However soon the next one is due: what falls due in between goes together. */
const lookAtMostEveryMs = 25
/**
 * What is claimed ahead, for each signer. Enough that they never wait for a claim, little enough that a newcomer does not
 * wait long. With few left the next claim is made: one made sooner is smaller, because what is claimed takes its host's slots.
 */
const aheadOfSigner = { most: 20, few: 3 } as const
/** So many outcomes may wait to be recorded without a slot: a database that falls behind slows down the sending. */
export const recordingMax = 1_024
const recordAgainMs = { first: 100, most: 5_000 } as const

export function startDeliveryWorker(parts: DeliveryWorkerParts): DeliveryWorker {
  const { queue, clock, log } = parts
  const lanes = new DeliveryLanes(parts.limits)
  const counts = {
    acknowledged: 0,
    refused: 0,
    unreachable: 0,
    held: 0,
    exhausted: 0,
    claimsLost: 0,
    pauses: 0,
  }
  const ahead: ClaimedCallback[] = []
  const aheadMost = aheadOfSigner.most * parts.signers
  const aheadFew = aheadOfSigner.few * parts.signers
  const underWay: Record<Stage, number> = { signing: 0, sending: 0, settling: 0 }
  /** Once it stops: resolves when nothing is under way any more. */
  let idle: PromiseWithResolvers<void> | undefined
  /** Of those that have left their slot. */
  let recording = 0
  let isStopping = false
  let isHungry = false
  /** No lane had a slot at the last plan: until a callback ends, planning again would find none either. */
  let isWithoutSlots = false
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let lookNextAtMs = Number.NEGATIVE_INFINITY
  let pageAfter: Lane | undefined

  const loop = startLoop({ worker, clock, log, turn })

  async function turn(): Promise<number> {
    isHungry = false
    if (clock.now() >= lookNextAtMs || clock.now() < lookedAtMs) await look()
    const nowMs = clock.now()
    const most = aheadMost - ahead.length
    const isEnough = ahead.length > aheadFew
    const requests = isEnough ? [] : lanes.plan({ most, nowMs })
    isWithoutSlots = !isEnough && requests.length === 0
    if (requests.length > 0) {
      await claim(requests, nowMs)
      // There may be more at once: the answer comes from the plan of the next turn.
      if (ahead.length <= aheadFew) return 0
    }
    isHungry = true
    const nextAtMs = Math.min(lookNextAtMs, lanes.nextPauseEndMs(nowMs))
    return Math.max(0, nextAtMs - clock.now())
  }

  async function look(): Promise<void> {
    const nowMs = clock.now()
    const due = await queue.findDueLanes(nowMs)
    take(due.lanes)
    if (due.isFull) {
      const page = await queue.pageOfLanes(nowMs, pageAfter)
      take(page.lanes)
      pageAfter = page.after
    }
    lookedAtMs = nowMs
    const soonestMs = nowMs + lookAtMostEveryMs
    lookNextAtMs = Math.min(
      nowMs + lookAgainMs,
      Math.max(soonestMs, due.nextDueAtMs ?? Number.POSITIVE_INFINITY),
    )
  }

  function take(due: readonly (Lane & HostState)[]): void {
    for (const lane of due) {
      lanes.noteHost(lane.host, lane)
      lanes.makeReady(lane)
    }
  }

  async function claim(requests: readonly LaneRequest[], nowMs: number): Promise<void> {
    const { callbacks, hosts } = await queue.claim({
      lanes: requests,
      nowMs,
      claimId: parts.newClaimId(),
      claimedUntilMs: nowMs + claimForMs,
      probeUntilMs: nowMs + neededForAttemptMs,
    })
    const counted = new Map<string, number>()
    for (const { merchantId, host } of callbacks) {
      const key = `${merchantId} ${host}`
      counted.set(key, (counted.get(key) ?? 0) + 1)
    }
    for (const [host, state] of hosts) lanes.noteHost(host, state)
    for (const lane of requests) lanes.claimed(lane, counted.get(`${lane.merchantId} ${lane.host}`) ?? 0)
    ahead.push(...callbacks)
    startSigning()
  }

  function startSigning(): void {
    while (underWay.signing < parts.signers) {
      const callback = ahead.shift()
      if (!callback) break
      void deliver(callback)
    }
    if (isHungry && !isWithoutSlots && ahead.length <= aheadFew && lanes.readyLanes > 0) {
      isHungry = false
      loop.wake()
    }
  }

  /** Never rejects. All stages in one: a function for each costs every delivery its promise and its turns. */
  async function deliver(callback: ClaimedCallback): Promise<void> {
    let stage = enter('signing')
    /** Its slot was given back when the answer came, before it was recorded. */
    let hasLeft = false
    let end: Parameters<DeliveryLanes['ended']>[1] | undefined
    try {
      const prepared = await parts.prepare(callback)
      stage = pass(stage, prepared.kind === 'sealed' ? 'sending' : 'settling')
      startSigning()
      const startedAtMs = clock.now()
      if (prepared.kind === 'held') await keepWaiting(callback, prepared.reason)
      else if (startedAtMs + neededForAttemptMs <= callback.claimedUntilMs) {
        const delivery = await parts.send(prepared)
        stage = pass(stage, 'settling')
        hasLeft = leaveEarly(callback, delivery)
        const isLastForNow = underWay.sending === 0 && underWay.signing === 0 && ahead.length === 0
        const attempted = { delivery, startedAtMs, isLastForNow }
        let recorded: Recorded | undefined
        try {
          recorded = await parts.record(callback, attempted)
        } catch (error) {
          recorded = await recordAgain(callback, attempted, error)
        }
        if (recorded) {
          parts.onRecorded?.(callback, attempted)
          tell(callback, recorded)
        }
        const isGood = recorded !== undefined && !isHostFailure(recorded.outcome.verdict)
        end = { isGood, durationMs: delivery.durationMs }
      }
    } catch (error) {
      // The claim runs out, and the callback is sent again then.
      log.error({ worker, callbackId: callback.callbackId, err: error }, 'a callback could not be handled')
    }
    if (hasLeft) recording--
    else if (end) lanes.ended(callback, end)
    else lanes.returned(callback)
    leave(stage)
    if (!hasLeft) useSlot()
  }

  function enter(stage: Stage): Stage {
    underWay[stage]++
    return stage
  }

  function pass(from: Stage, to: Stage): Stage {
    underWay[from]--
    return enter(to)
  }

  function leave(stage: Stage): void {
    underWay[stage]--
    if (isIdle()) idle?.resolve()
  }

  function isIdle(): boolean {
    return underWay.signing + underWay.sending + underWay.settling === 0
  }

  /** Some was given back. */
  function useSlot(): void {
    isWithoutSlots = false
    startSigning()
  }

  async function keepWaiting(callback: ClaimedCallback, reason: HeldReason): Promise<void> {
    counts.held++
    const { merchantId, callbackId } = callback
    log.warn({ worker, merchantId, callbackId, reason }, 'a callback cannot be sent for now')
    await parts.hold(callback, reason)
  }

  /** Its host has nothing more to do with it. Hosts that fail keep the slot until it is known whether they are paused. */
  function leaveEarly(callback: ClaimedCallback, delivery: Delivery): boolean {
    if (!isAcknowledged(delivery) || callback.hostFailures > 0 || recording >= recordingMax) return false
    recording++
    lanes.ended(callback, { isGood: true, durationMs: delivery.durationMs })
    useSlot()
    return true
  }

  /** Never rejects. The database may be away for a moment: an outcome that is known need not be found out twice. */
  async function recordAgain(
    callback: ClaimedCallback,
    attempted: Attempted,
    firstError: unknown,
  ): Promise<Recorded | undefined> {
    const { callbackId } = callback
    let error = firstError
    for (let waitMs: number = recordAgainMs.first; ; waitMs = Math.min(waitMs * 2, recordAgainMs.most)) {
      if (clock.now() + waitMs >= callback.claimedUntilMs || isStopping) {
        log.error({ worker, callbackId, err: error }, 'an outcome was not recorded; it will be sent again')
        return undefined
      }
      log.warn({ worker, callbackId, err: error, waitMs }, 'an outcome was not recorded; trying again')
      await clock.wait(waitMs, new AbortController().signal)
      try {
        return await parts.record(callback, attempted)
      } catch (again) {
        error = again
      }
    }
  }

  function tell(callback: ClaimedCallback, { outcome, isWritten, failingHost }: Recorded): void {
    const { merchantId, callbackId, paymentId, eventName, host } = callback
    counts[outcome.verdict.kind]++
    if (!isWritten) {
      counts.claimsLost++
      log.warn({ worker, callbackId, host }, 'the claim was lost before the outcome was known')
      return
    }
    if (failingHost) {
      lanes.noteHost(host, failingHost)
      if (failingHost.pausedAtMs !== undefined && failingHost.pauses === 1) {
        counts.pauses++
        const { failures: count, reason } = failingHost
        log.warn({ worker, host, count, reason }, 'a callback host fails again and again and is paused')
      }
    }
    if (outcome.isNewlyExhausted) {
      counts.exhausted++
      log.warn(
        { worker, merchantId, paymentId, callbackId, eventName, host },
        'a callback is exhausted: no attempt in seven days was answered with HTTP 200',
      )
    }
    if (outcome.nextAttemptAtMs !== undefined && outcome.nextAttemptAtMs < lookNextAtMs) {
      lookNextAtMs = outcome.nextAttemptAtMs
      if (isHungry) loop.wake()
    }
  }

  return {
    expects(queued) {
      for (const lane of queued) lanes.makeReady(lane)
      loop.wake()
    },
    counts: () => ({ ...counts, inFlight: lanes.inFlight }),
    async stop() {
      isStopping = true
      await loop.stop()
      const unsent = ahead.splice(0)
      await queue.release(unsent).catch((error: unknown) => {
        log.warn({ worker, count: unsent.length, err: error }, 'claims were not given back; they run out')
      })
      idle ??= Promise.withResolvers()
      if (isIdle()) idle.resolve()
      await idle.promise
    },
  }
}
