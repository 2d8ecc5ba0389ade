// Resends callbacks: service.trade.callback for a merchant's own order, and operators' actions for one callback or a
// filter. A resend is one extra attempt beside the retry schedule.
import { createHash } from 'node:crypto'
import {
  type CallbackAnswer,
  Failure,
  ignoring,
  type OrderStatus,
  parseCallbackBody,
  type RequestEnvelope,
  timestampWindowMs,
} from '@tillgate/protocol'
import type { Clock, ClockAndRandom } from '../../platform/runtime/clock.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { type AnyContext, type Context, reading } from '../authority/context.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import { bindWithin } from '../merchants/within.ts'
import type { CallbackFilter, CallbackHistory, StoredCallback } from './store/callback-history.ts'
import type { CallbackResends } from './store/callback-resends.ts'
import type { CallbackKey } from './store/callback-state.ts'

/** A merchant may resend the same callback once per period, so that resends cannot cause a flood. */
export const resendEveryMs = 60_000
/** Keeps each transaction at some tens of milliseconds. */
const batch = 200

interface OrderKey {
  readonly merchantId: string
  readonly paymentId: string
}

/** Declared here because orders are above callbacks. */
interface OrderOfCallbacks {
  readonly status: OrderStatus
  readonly callbackUrl: string | undefined
}

interface MissingPaymentId {
  readonly field: 'paymentId'
  readonly number: string
}

export interface ResendCallbacksParts {
  readonly findOrder: (key: OrderKey) => Promise<OrderOfCallbacks | undefined>
  readonly explainMissingOrder: (merchantId: string, asked: MissingPaymentId) => Promise<Failure>
  readonly resends: Pick<CallbackResends, 'resendOfOrder'>
  readonly clock: Clock
}

export function makeResendCallbacks({
  findOrder,
  explainMissingOrder,
  resends,
  clock,
}: ResendCallbacksParts) {
  return async (
    { merchantId }: Merchant,
    body: string,
    { timestamp, sign }: Pick<RequestEnvelope, 'timestamp' | 'sign'>,
  ): Promise<CallbackAnswer> => {
    const asked = parseCallbackBody(body)
    const { paymentId } = asked
    const order = await findOrder({ merchantId, paymentId })
    if (!order) throw await explainMissingOrder(merchantId, { field: 'paymentId', number: paymentId })
    const nowMs = clock.now()
    const queued = await resends.resendOfOrder(
      { merchantId, paymentId },
      { nowMs, notSinceMs: nowMs - resendEveryMs },
      {
        requestedAtMs: Number(timestamp),
        signHash: createHash('sha256').update(sign).digest(),
        // After this, no gateway accepts the envelope, even with a slow clock.
        forgetBeforeMs: nowMs - 2 * timestampWindowMs,
      },
    )
    const warnings = [{ field: 'paymentId', msg: whyNothing(order) }]
    return { paymentId, queued, ...(queued === 0 && { warnings }), ...ignoring(asked) }
  }
}

function whyNothing({ status, callbackUrl }: OrderOfCallbacks): string {
  if (callbackUrl === undefined)
    return 'There is nothing to send: the order has no callbackUrl. Send callbackUrl when you create an order, or query this one.'
  if (status === 'pending')
    return 'There is nothing to send yet: the order is pending, and the first callback reports its payment or its expiry.'
  return 'There is nothing to send now: the callbacks of this order are still waiting for their first attempt, were sent again less than a minute ago, or are too old to be stored.'
}

export interface ManageCallbacksParts extends ClockAndRandom {
  readonly stores: { readonly history: CallbackHistory; readonly resends: CallbackResends }
}

export const maxListed = 50

export interface ManyResent {
  readonly found: number
  readonly queued: number
  readonly lastDueAtMs: number
}

export interface CallbackPage {
  readonly callbacks: readonly StoredCallback[]
  /** False if the search reached its limit. */
  readonly isFull: boolean
  /** The `before` of the next page; undefined on the last one. */
  readonly older: string | undefined
}

type Parts = ManageCallbacksParts

export function makeManageCallbacks(parts: ManageCallbacksParts) {
  const { history } = parts.stores
  return {
    listCallbacks: reading(history.listCallbacks),
    listFailingHosts: reading(history.listFailingHosts),
    listFailingDestinations: reading(history.listFailingDestinations),
    countWaitingAt: reading(history.countWaiting),
    ...bindWithin(parts, { listPage, showCallback, resendOne, resendListed, resendMatching }),
  }
}

/** A filter without an index searches a limited range per page, so a page may be empty and still have a next one. */
async function listPage(
  { stores: { history } }: Parts,
  _context: Context,
  filter: CallbackFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<CallbackPage> {
  const downTo = isServedByIndex(filter) ? undefined : await history.endOfLook(before)
  const found = await history.listCallbacks(filter, { before, downTo, limit: limit + 1 })
  const callbacks = found.slice(0, limit)
  const isFull = found.length > limit
  return { callbacks, isFull, older: isFull ? callbacks.at(-1)?.callbackId : downTo }
}

async function showCallback(parts: Parts, context: Context, callbackId: string) {
  const callback = await find(parts, context, callbackId)
  return { callback, attempts: await parts.stores.history.listAttempts(callback) }
}

async function resendOne(
  parts: Parts,
  context: Context,
  { callbackId }: { callbackId: string },
  reason: string,
): Promise<void> {
  const callback = await find(parts, context, callbackId)
  if (callback.body === undefined) {
    throw new Failure('status_does_not_allow', {
      message: `The body of callback ${callbackId} is no longer stored, so it cannot be resent.`,
    })
  }
  const nowMs = parts.clock.now()
  const { merchantId } = callback
  const queued = await parts.stores.resends.resendMany(
    [{ merchantId, callbackId, dueAtMs: nowMs }],
    { nowMs, notSinceMs: nowMs },
    resendEntry(parts, context, callbackId, merchantId, reason),
  )
  if (queued === 0) {
    throw new Failure('status_does_not_allow', {
      message: `Callback ${callbackId} is already queued to be sent, or its endpoint was removed.`,
    })
  }
}

/** Writes one audit entry per callback, so that it is found with its merchant. Returns how many were queued. */
async function resendListed(
  parts: Parts,
  context: AnyContext,
  callbacks: readonly CallbackKey[],
  reason: string,
): Promise<number> {
  if (callbacks.length > maxListed)
    throw new Failure('invalid_field', { message: `Resend at most ${maxListed} callbacks at once.` })
  const startMs = parts.clock.now()
  let queued = 0
  for (const { merchantId, callbackId } of callbacks) {
    queued += await parts.stores.resends.resendMany(
      [{ merchantId, callbackId, dueAtMs: startMs }],
      { nowMs: parts.clock.now(), notSinceMs: startMs },
      resendEntry(parts, context, callbackId, merchantId, reason),
    )
  }
  return queued
}

/**
 * Spreads due times over a rate, so that the command returns at once and a recovering merchant is not overloaded.
 * Excludes callbacks created meanwhile.
 */
async function resendMatching(
  parts: Parts,
  context: AnyContext,
  filter: CallbackFilter,
  { perSecond, reason }: { perSecond: number; reason: string },
): Promise<ManyResent> {
  const { clock } = parts
  const { history, resends } = parts.stores
  const startMs = clock.now()
  const everyMs = 1_000 / perSecond
  const until = { ...filter, untilMs: Math.min(filter.untilMs ?? startMs, startMs) }
  let found = 0
  let queued = 0
  let lastDueAtMs = startMs
  for (let before: string | undefined; ; ) {
    const page = await history.listCallbacks(until, { before, limit: batch })
    if (page.length === 0) break
    found += page.length
    const due = page.map(({ merchantId, callbackId }, index) => ({
      merchantId,
      callbackId,
      dueAtMs: startMs + Math.floor((queued + index) * everyMs),
    }))
    queued += await resends.resendMany(
      due,
      { nowMs: clock.now(), notSinceMs: startMs },
      resendEntry(parts, context, describe(filter), filter.merchantId, reason),
    )
    // A callback that is being sent is skipped, and its time slot stays free.
    lastDueAtMs = Math.max(lastDueAtMs, due.at(-1)?.dueAtMs ?? startMs)
    before = page.at(-1)?.callbackId
  }
  return { found, queued, lastDueAtMs }
}

function resendEntry(
  parts: Parts,
  context: Context,
  subject: string,
  merchantId: string | undefined,
  reason: string,
) {
  return makeAuditEntry(parts, context, 'callback.resend', subject, { merchantId, reason })
}

async function find(
  { stores: { history } }: Parts,
  { merchantId }: Context,
  callbackId: string,
): Promise<StoredCallback> {
  const found = await history.findCallback(callbackId, { merchantId })
  if (!found) throw new Failure('not_found', { message: `Callback ${callbackId} does not exist.` })
  return found
}

export type ManageCallbacks = ReturnType<typeof makeManageCallbacks>

/** One merchant uses the key, waiting callbacks use the queue, exhausted ones have their own index. */
function isServedByIndex({ merchantId, paymentId, state, host, eventName }: CallbackFilter): boolean {
  if (merchantId !== undefined || state === 'waiting' || state === 'exhausted') return true
  return [paymentId, state, host, eventName].every((wanted) => wanted === undefined)
}

function describe(filter: CallbackFilter): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
