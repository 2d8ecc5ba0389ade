// Delivers callbacks: finds lanes with due callbacks, claims as many as there are slots, and keeps every core signing.
// Commits of this process wake it. It finds other processes' callbacks by checking the queue every second, and wakes
// for retries when the next one is due.

import {
  type Attempted,
  type CallbackRequest,
  claimForMs,
  type HeldReason,
  neededForAttemptMs,
  type Post,
  type Prepared,
} from '../../core/callbacks/deliver-callbacks.ts'
import { isAcknowledged } from '../../core/callbacks/rules/callback-attempt.ts'
import {
  DeliveryLanes,
  type Lane,
  type LaneLimits,
  type LaneRequest,
  laneKey,
} from '../../core/callbacks/rules/delivery-lanes.ts'
import { isDestinationDown, isHostAnswer, isHostFault } from '../../core/callbacks/rules/host-health.ts'
import type { Recorded } from '../../core/callbacks/store/callback-outcomes.ts'
import {
  type CallbackQueue,
  type ClaimedCallback,
  type DueLane,
  dueRowsLooked,
} from '../../core/callbacks/store/callback-queue.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Delivery } from '../../platform/runtime/delivery.ts'
import type { Log } from '../../platform/runtime/log.ts'

export interface DeliveryWorkerParts {
  readonly queue: Pick<CallbackQueue, 'findDueLanes' | 'pageOfLanes' | 'claim' | 'release'>
  readonly prepare: (callback: ClaimedCallback) => Promise<Prepared>
  readonly send: Post
  readonly record: (callback: ClaimedCallback, attempt: Attempted) => Promise<Recorded>
  /** Writes the collected outcomes without waiting for more. */
  readonly flush: () => void
  readonly hold: (callback: ClaimedCallback, reason: HeldReason) => Promise<void>
  /** An attempt was made and recorded. */
  readonly onRecorded?: (callback: ClaimedCallback, attempt: Attempted) => void
  readonly newClaimId: () => string
  readonly limits: LaneLimits
  /** The number of concurrent signatures. */
  readonly signers: number
  readonly clock: Clock
  readonly log: Log
}

export interface DeliveryWorker extends Omit<Loop, 'wake'> {
  /** These lanes have new callbacks. */
  expects(lanes: readonly Lane[]): void
  counts(): DeliveryCounts
}

/** Since the start of the process, except `inFlight`. */
export interface DeliveryCounts {
  readonly acknowledged: number
  readonly refused: number
  readonly unreachable: number
  readonly held: number
  readonly exhausted: number
  readonly claimsLost: number
  readonly hostPauses: number
  readonly destinationPauses: number
  readonly inFlight: number
}

const worker = 'deliver-callbacks'
const lookAgainMs = 1_000
/** The minimum interval between two checks, so that callbacks due in between are handled together. */
const lookAtMostEveryMs = 25
/**
 * The number of claimed callbacks per signer. `most` keeps signers busy without delaying new lanes. The next claim is
 * made at `few`: an earlier one would find fewer free slots, because claimed callbacks occupy their hosts' slots.
 */
const aheadOfSigner = { most: 20, few: 3 } as const
/**
 * The maximum number of outcomes that wait to be recorded without a slot. A slow database therefore slows down sending.
 */
export const recordingMax = 1_024
const recordAgainMs = { first: 100, most: 5_000 } as const

interface State {
  readonly parts: DeliveryWorkerParts
  readonly lanes: DeliveryLanes
  readonly counts: { -readonly [Count in Exclude<keyof DeliveryCounts, 'inFlight'>]: number }
  /** Claimed, but not signed. */
  readonly ahead: ClaimedCallback[]
  readonly underWay: Record<Stage, number>
  readonly wake: () => void
  /** The number of deliveries that have left their slots. */
  recording: number
  /** The loop waits for callbacks and continues as soon as there are some. */
  isHungry: boolean
  /** No lane had a slot at the last plan, so planning again is useless until a delivery ends. */
  isWithoutSlots: boolean
  lookedAtMs: number
  lookNextAtMs: number
  /** The last check returned only part of what is due. */
  isMoreDue: boolean
  claimedSinceLook: number
  pageAfter: Lane | undefined
  isStopping: boolean
  /** Resolves after a stop when no delivery is in progress. */
  idle: PromiseWithResolvers<void> | undefined
}

/** What a delivery waits for; in `settling`, its outcome is being recorded. */
type Stage = 'signing' | 'sending' | 'settling'

/** A callback and its current stage. */
interface Delivering {
  readonly callback: ClaimedCallback
  stage: Stage
  /** Its slot was released at the response, before it was recorded. */
  hasLeft: boolean
  end: Parameters<DeliveryLanes['ended']>[1] | undefined
}

export function startDeliveryWorker(parts: DeliveryWorkerParts): DeliveryWorker {
  const { queue, clock, log } = parts
  const state: State = {
    parts,
    lanes: new DeliveryLanes(parts.limits),
    counts: {
      acknowledged: 0,
      refused: 0,
      unreachable: 0,
      held: 0,
      exhausted: 0,
      claimsLost: 0,
      hostPauses: 0,
      destinationPauses: 0,
    },
    ahead: [],
    underWay: { signing: 0, sending: 0, settling: 0 },
    wake: () => loop.wake(),
    recording: 0,
    isHungry: false,
    isWithoutSlots: false,
    lookedAtMs: Number.NEGATIVE_INFINITY,
    lookNextAtMs: Number.NEGATIVE_INFINITY,
    isMoreDue: false,
    claimedSinceLook: 0,
    pageAfter: undefined,
    isStopping: false,
    idle: undefined,
  }
  const loop = startLoop({ name: worker, clock, log, turn: () => takeTurn(state) })
  return {
    expects(lanes) {
      for (const lane of lanes) state.lanes.makeReady(lane)
      loop.wake()
    },
    counts: () => ({ ...state.counts, inFlight: state.lanes.inFlight }),
    async stop() {
      state.isStopping = true
      await loop.stop()
      const unsent = state.ahead.splice(0)
      await queue.release(unsent).catch((error: unknown) => {
        log.warn({ worker, count: unsent.length, err: error }, 'claims were not released; they expire')
      })
      state.idle ??= Promise.withResolvers()
      if (isIdle(state)) state.idle.resolve()
      await state.idle.promise
    },
  }
}

async function takeTurn(state: State): Promise<number> {
  const { clock, signers } = state.parts
  state.isHungry = false
  if (clock.now() >= state.lookNextAtMs || clock.now() < state.lookedAtMs) await look(state)
  const nowMs = clock.now()
  const isEnough = hasEnoughAhead(state)
  const most = aheadOfSigner.most * signers - state.ahead.length
  const requests = isEnough ? [] : state.lanes.plan({ most, nowMs })
  state.isWithoutSlots = !isEnough && requests.length === 0
  if (requests.length > 0) {
    await claim(state, requests, nowMs)
    // There may be more at once: the answer comes from the plan of the next turn.
    if (!hasEnoughAhead(state)) return 0
  }
  state.isHungry = true
  const nextAtMs = Math.min(state.lookNextAtMs, state.lanes.nextPauseEndMs(nowMs))
  return Math.max(0, nextAtMs - clock.now())
}

function hasEnoughAhead({ ahead, parts }: State): boolean {
  return ahead.length > aheadOfSigner.few * parts.signers
}

async function look(state: State): Promise<void> {
  const { clock, queue } = state.parts
  const nowMs = clock.now()
  const due = await queue.findDueLanes(nowMs)
  makeReady(state, due.lanes)
  if (due.isFull) {
    const page = await queue.pageOfLanes(nowMs, state.pageAfter)
    makeReady(state, page.lanes)
    state.pageAfter = page.after
  }
  state.lookedAtMs = nowMs
  state.isMoreDue = due.isFull
  state.claimedSinceLook = 0
  const soonestMs = nowMs + lookAtMostEveryMs
  state.lookNextAtMs = Math.min(
    nowMs + lookAgainMs,
    Math.max(soonestMs, due.nextDueAtMs ?? Number.POSITIVE_INFINITY),
  )
}

function makeReady(state: State, due: readonly DueLane[]): void {
  noteHealth(state, due)
  for (const lane of due) state.lanes.makeReady(lane)
}

function noteHealth({ lanes }: State, due: readonly DueLane[]): void {
  for (const lane of due) {
    lanes.noteHost(lane.host, lane.health.host)
    lanes.noteDestination(lane, lane.health.destination)
  }
}

async function claim(state: State, requests: readonly LaneRequest[], nowMs: number): Promise<void> {
  const { lanes, parts } = state
  const claimed = await parts.queue.claim({
    lanes: requests,
    nowMs,
    claimId: parts.newClaimId(),
    claimedUntilMs: nowMs + claimForMs,
    probeUntilMs: nowMs + neededForAttemptMs,
  })
  const counted = new Map<string, number>()
  for (const callback of claimed.callbacks) {
    const key = laneKey(callback)
    counted.set(key, (counted.get(key) ?? 0) + 1)
  }
  noteHealth(state, claimed.lanes)
  for (const request of requests) lanes.claimed(request, counted.get(laneKey(request)) ?? 0)
  state.ahead.push(...claimed.callbacks)
  lookSooner(state, claimed.callbacks.length)
  startSigning(state)
}

/**
 * A check returns a limited number of lanes. If each order has its own address, more are waiting, so the next check comes
 * sooner. Only after a claim, so that a long paused lane causes no checks.
 */
function lookSooner(state: State, claimedCount: number): void {
  state.claimedSinceLook += claimedCount
  if (state.isMoreDue && state.claimedSinceLook >= dueRowsLooked / 2)
    state.lookNextAtMs = Math.min(state.lookNextAtMs, state.lookedAtMs + lookAtMostEveryMs)
}

function startSigning(state: State): void {
  const { ahead, underWay, parts } = state
  while (underWay.signing < parts.signers) {
    const callback = ahead.shift()
    if (!callback) break
    void deliver(state, callback)
  }
  if (state.isHungry && !state.isWithoutSlots && !hasEnoughAhead(state) && state.lanes.readyLanes > 0) {
    state.isHungry = false
    state.wake()
  }
}

/** Never rejects. */
async function deliver(state: State, callback: ClaimedCallback): Promise<void> {
  const delivering: Delivering = { callback, stage: 'signing', hasLeft: false, end: undefined }
  state.underWay.signing++
  try {
    const request = await prepare(state, delivering)
    const attempted = request && (await send(state, delivering, request))
    if (attempted) await record(state, delivering, attempted)
  } catch (error) {
    // The claim expires, and the callback is sent again.
    state.parts.log.error(
      { worker, callbackId: callback.callbackId, err: error },
      'a callback could not be processed',
    )
  }
  leave(state, delivering)
}

/** Undefined if it cannot be attempted; it stays in the queue. */
async function prepare(state: State, delivering: Delivering): Promise<CallbackRequest | undefined> {
  const { counts, parts } = state
  const { callback } = delivering
  const prepared = await parts.prepare(callback)
  pass(state, delivering, prepared.kind === 'sealed' ? 'sending' : 'settling')
  startSigning(state)
  if (prepared.kind === 'sealed') return prepared
  counts.held++
  const { merchantId, callbackId } = callback
  const { reason } = prepared
  parts.log.warn({ worker, merchantId, callbackId, reason }, 'a callback cannot be sent for now')
  await parts.hold(callback, reason)
  return undefined
}

/** Undefined if its claim is about to expire, so it was not sent. */
async function send(
  state: State,
  delivering: Delivering,
  request: CallbackRequest,
): Promise<Attempted | undefined> {
  const { clock, send: post } = state.parts
  const startedAtMs = clock.now()
  if (startedAtMs + neededForAttemptMs > delivering.callback.claimedUntilMs) return undefined
  const delivery = await post(request)
  pass(state, delivering, 'settling')
  return { delivery, startedAtMs }
}

async function record(state: State, delivering: Delivering, attempted: Attempted): Promise<void> {
  const { callback } = delivering
  const { delivery } = attempted
  leaveEarly(state, delivering, delivery)
  const recorded = await write(state, callback, attempted)
  if (recorded) {
    state.parts.onRecorded?.(callback, attempted)
    logOutcome(state, callback, recorded)
  }
  const verdict = recorded?.outcome.verdict
  delivering.end = {
    isGood: verdict !== undefined && !isHostFault(verdict) && !isDestinationDown(verdict),
    isHostThere: verdict !== undefined && isHostAnswer(verdict),
    durationMs: delivery.durationMs,
  }
}

/**
 * Releases the slot of a successful delivery. A failed one keeps it until it is known whether the destination is
 * paused.
 */
function leaveEarly(state: State, delivering: Delivering, delivery: Delivery): void {
  const { callback } = delivering
  if (
    !isAcknowledged(delivery, callback.endpoint?.format) ||
    callback.health.host.failures > 0 ||
    callback.health.destination.failures > 0 ||
    state.recording >= recordingMax
  )
    return
  delivering.hasLeft = true
  state.recording++
  state.lanes.ended(callback, { isGood: true, isHostThere: true, durationMs: delivery.durationMs })
  useSlot(state)
}

/**
 * Never rejects. Retries while the database is away, because the outcome is known and a second attempt would repeat the
 * callback.
 */
async function write(
  state: State,
  callback: ClaimedCallback,
  attempted: Attempted,
): Promise<Recorded | undefined> {
  const { clock, log } = state.parts
  const { callbackId, claimedUntilMs } = callback
  for (let waitMs: number = recordAgainMs.first; ; waitMs = Math.min(waitMs * 2, recordAgainMs.most)) {
    try {
      return await writeOnce(state, callback, attempted)
    } catch (error) {
      if (clock.now() + waitMs >= claimedUntilMs || state.isStopping) {
        log.error(
          { worker, callbackId, err: error },
          'an outcome was not recorded; the callback will be sent again',
        )
        return undefined
      }
      log.warn({ worker, callbackId, err: error, waitMs }, 'an outcome was not recorded; retrying')
    }
    await clock.wait(waitMs, new AbortController().signal)
  }
}

/** Waits to be written with other outcomes, unless none are coming. */
function writeOnce(
  { ahead, parts, underWay }: State,
  callback: ClaimedCallback,
  attempted: Attempted,
): Promise<Recorded> {
  const written = parts.record(callback, attempted)
  if (underWay.sending === 0 && underWay.signing === 0 && ahead.length === 0) parts.flush()
  return written
}

function logOutcome(
  state: State,
  callback: ClaimedCallback,
  { outcome, isWritten, failing }: Recorded,
): void {
  const { counts } = state
  const { log } = state.parts
  const { merchantId, callbackId, paymentId, eventName, host } = callback
  counts[outcome.verdict.kind]++
  if (!isWritten) {
    counts.claimsLost++
    log.warn({ worker, callbackId, host }, 'the claim was lost before the outcome was known')
    return
  }
  if (failing) noteFailing(state, callback, failing)
  if (outcome.isNewlyExhausted) {
    counts.exhausted++
    log.warn(
      { worker, merchantId, paymentId, callbackId, eventName, host },
      'a callback is exhausted: no attempt in seven days was accepted with HTTP 200',
    )
  }
  if (outcome.nextAttemptAtMs !== undefined && outcome.nextAttemptAtMs < state.lookNextAtMs) {
    state.lookNextAtMs = outcome.nextAttemptAtMs
    if (state.isHungry) state.wake()
  }
}

function noteFailing(
  { counts, lanes, parts: { log } }: State,
  callback: ClaimedCallback,
  { what, state }: NonNullable<Recorded['failing']>,
): void {
  const { merchantId, host, callbackId } = callback
  if (what === 'host') lanes.noteHost(host, state)
  else lanes.noteDestination(callback, state)
  if (state.pausedAtMs === undefined || state.pauses !== 1) return
  const { failures: count, reason } = state
  if (what === 'host') {
    counts.hostPauses++
    log.warn({ worker, host, count, reason }, 'a callback host fails repeatedly and is paused')
  } else {
    counts.destinationPauses++
    log.warn(
      { worker, merchantId, host, callbackId, count, reason },
      'a callback destination fails repeatedly and is paused',
    )
  }
}

function pass({ underWay }: State, delivering: Delivering, to: Stage): void {
  underWay[delivering.stage]--
  underWay[to]++
  delivering.stage = to
}

function leave(state: State, { callback, stage, hasLeft, end }: Delivering): void {
  if (hasLeft) state.recording--
  else if (end) state.lanes.ended(callback, end)
  else state.lanes.returned(callback)
  state.underWay[stage]--
  if (isIdle(state)) state.idle?.resolve()
  if (!hasLeft) useSlot(state)
}

function isIdle({ underWay }: State): boolean {
  return underWay.signing + underWay.sending + underWay.settling === 0
}

/** A slot was released. */
function useSlot(state: State): void {
  state.isWithoutSlots = false
  startSigning(state)
}
