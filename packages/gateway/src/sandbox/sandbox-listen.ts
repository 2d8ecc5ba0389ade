// service.sandbox.listen and service.sandbox.acknowledge: callbacks for a program that cannot be reached from outside.
// The program requests callbacks, waits, and acknowledges those that it processed.
import {
  Failure,
  ignoring,
  parseSandboxAcknowledgeBody,
  parseSandboxListenBody,
  type SandboxAcknowledgeAnswer,
  type SandboxListenAnswer,
} from '@tillgate/protocol'
import type { Prepared } from '../core/callbacks/deliver-callbacks.ts'
import { judge } from '../core/callbacks/rules/callback-attempt.ts'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import { bindAll } from '../platform/runtime/bind-all.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import {
  beginAt,
  type Cursor,
  maxSeen,
  moveOn,
  parseCursor,
  rowsToRead,
  writeCursor,
} from './sandbox-listen-cursor.ts'
import type { HeardCallback, SandboxListenStore } from './store/sandbox-listens.ts'

export interface SandboxListenParts {
  readonly listens: SandboxListenStore
  readonly prepare: (callback: HeardCallback) => Promise<Prepared>
  readonly clock: Clock
  /** The maximum number of waiting requests of all merchants. */
  readonly maxWaiting: number
}

/** Another gateway may commit a callback without waking this process. */
const lookAgainMs = 1_000
/** Allows one program and a few that were started by mistake. */
export const maxWaitingPerMerchant = 4
/** A worker's attempt in progress usually ends within this time; the acknowledgement is recorded after it. */
const attemptUnderWayMs = 3_000
const attemptLookMs = 100

interface Waiter {
  wake: AbortController
  isOver: boolean
}

interface State extends SandboxListenParts {
  /** Keyed by merchantId. */
  readonly waiting: Map<string, Set<Waiter>>
  waiters: number
  isStopping: boolean
}

export function makeSandboxListen(parts: SandboxListenParts) {
  const state: State = { ...parts, waiting: new Map(), waiters: 0, isStopping: false }
  return bindAll(state, { listen, acknowledge, expects, stop })
}

async function listen(state: State, { merchantId }: Merchant, body: string): Promise<SandboxListenAnswer> {
  const asked = parseSandboxListenBody(body)
  const { after, waitMs } = asked
  if (after === undefined) return { ...(await begin(state, merchantId)), ...ignoring(asked) }
  const cursor = parseCursor(after)
  const endsAtMs = state.clock.now() + waitMs
  const waiter = admit(state, merchantId)
  try {
    for (;;) {
      // Armed before the read, so that a commit during the read wakes at once.
      waiter.wake = new AbortController()
      const { given, next } = await look(state, merchantId, cursor)
      const leftMs = endsAtMs - state.clock.now()
      if (given.length > 0 || leftMs <= 0 || waiter.isOver || state.isStopping) {
        const callbacks = await Promise.all(given.map((each) => seal(state, each)))
        return { callbacks, after: writeCursor(next), ...ignoring(asked) }
      }
      await state.clock.wait(Math.min(lookAgainMs, leftMs), waiter.wake.signal)
    }
  } finally {
    leave(state, merchantId, waiter)
  }
}

async function acknowledge(
  state: State,
  { merchantId }: Merchant,
  body: string,
): Promise<SandboxAcknowledgeAnswer> {
  const acknowledged = parseSandboxAcknowledgeBody(body)
  const { callbackId, forwardedTo, durationMs, answer } = acknowledged
  const startedAtMs = state.clock.now() - durationMs
  const delivery = { kind: 'answered', httpStatus: 200, answer: Buffer.from(answer), durationMs } as const
  const verdict = judge(delivery)
  for (const forceAtMs = state.clock.now() + attemptUnderWayMs; ; ) {
    const nowMs = state.clock.now()
    const taken = await state.listens.take({
      merchantId,
      callbackId,
      startedAtMs,
      durationMs,
      nowMs,
      answer: delivery.answer,
      isWarned: verdict.kind === 'acknowledged' && verdict.isWarned,
      detail: `taken by a listener, forwarded to ${forwardedTo}`,
      isForced: nowMs >= forceAtMs || state.isStopping,
    })
    if (taken === 'not_found') {
      throw new Failure('order_not_found', { field: 'callbackId', message: 'The callback does not exist.' })
    }
    if (taken !== 'under_way') return { callbackId, state: 'delivered', ...ignoring(acknowledged) }
    await state.clock.wait(attemptLookMs, new AbortController().signal)
  }
}

/** Wakes the waiting requests of these merchants. */
function expects(state: State, lanes: readonly { readonly merchantId: string }[]): void {
  for (const { merchantId } of lanes) for (const { wake } of state.waiting.get(merchantId) ?? []) wake.abort()
}

/** Responds to all waiting requests and accepts no more. */
function stop(state: State): void {
  state.isStopping = true
  for (const all of state.waiting.values()) for (const { wake } of all) wake.abort()
}

/** Responds at once, so that the caller knows from when on no callback is missed. */
async function begin(state: State, merchantId: string): Promise<SandboxListenAnswer> {
  const nowMs = state.clock.now()
  const { fromMs } = beginAt(nowMs, [])
  const rows = await state.listens.listFrom({ merchantId, fromMs, limit: maxSeen })
  return { callbacks: [], after: writeCursor(beginAt(nowMs, rows)) }
}

async function look(state: State, merchantId: string, cursor: Cursor) {
  const nowMs = state.clock.now()
  const rows = await state.listens.listFrom({ merchantId, fromMs: cursor.fromMs, limit: rowsToRead(cursor) })
  return moveOn(cursor, { rows, nowMs })
}

async function seal(state: State, callback: HeardCallback) {
  const prepared = await state.prepare(callback)
  // The request was opened with this merchant's keys a moment ago.
  if (prepared.kind === 'held') throw new Failure('unavailable', { retryAfterSeconds: 1 })
  const { kind, atMs, paymentId, callbackUrl } = callback
  return { envelope: prepared.body, kind, at: atMs, paymentId, callbackUrl }
}

/** The newest request stays, so that a restarted program does not wait for its previous request to end. */
function admit(state: State, merchantId: string): Waiter {
  if (state.waiters >= state.maxWaiting) throw new Failure('too_many_requests', { retryAfterSeconds: 1 })
  const mine = state.waiting.get(merchantId) ?? new Set()
  // Waiters that were ended may not have left yet.
  const staying = [...mine].filter(({ isOver }) => !isOver)
  const [oldest] = staying
  if (oldest && staying.length >= maxWaitingPerMerchant) {
    oldest.isOver = true
    oldest.wake.abort()
  }
  const waiter = { wake: new AbortController(), isOver: false }
  state.waiting.set(merchantId, mine.add(waiter))
  state.waiters++
  return waiter
}

function leave(state: State, merchantId: string, waiter: Waiter): void {
  state.waiters--
  const mine = state.waiting.get(merchantId)
  mine?.delete(waiter)
  if (mine?.size === 0) state.waiting.delete(merchantId)
}

export type SandboxListen = ReturnType<typeof makeSandboxListen>
