// Callbacks and their attempts as history: found by filter or from their order, shown, and removed when they are
// old. Lists are paged by key, the newest first.
import type { EventName } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../database/pool.ts'
import { firstCallbackIdAt } from '../../platform/time-ordered-ids.ts'
import type { CallbackState } from '../rules/callback-attempt.ts'
import type { FailingHost } from '../rules/host-health.ts'
import { toFailingHost } from './callback-outcomes.ts'
import { type CallbackKey, rememberFirstAttempts, stateOf } from './callback-state.ts'

export type CallbackHistory = ReturnType<typeof makeCallbackHistory>

export interface StoredCallback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  readonly eventName: EventName
  readonly callbackUrl: string
  readonly host: string
  /** Undefined once the history is pruned. */
  readonly body: string | undefined
  readonly createdAtMs: number
  readonly state: CallbackState
  readonly attemptsMade: number
  readonly retriesMade: number
  readonly firstAttemptAtMs: number | undefined
  readonly lastAttemptAtMs: number | undefined
  readonly nextAttemptAtMs: number | undefined
  readonly lastOutcome: string | undefined
  readonly lastHttpStatus: number | undefined
  readonly deliveredAtMs: number | undefined
  readonly isWarned: boolean
  readonly exhaustedAtMs: number | undefined
  readonly heldReason: string | undefined
  readonly resentAtMs: number | undefined
}

export interface StoredAttempt {
  readonly attempt: number
  readonly startedAtMs: number
  readonly durationMs: number
  readonly outcome: string
  readonly httpStatus: number | undefined
  readonly detail: string | undefined
  /** Its first bytes. */
  readonly answer: Buffer | undefined
  readonly isResend: boolean
}

export interface CallbackFilter {
  readonly merchantId?: string | undefined
  readonly paymentId?: string | undefined
  readonly host?: string | undefined
  readonly eventName?: EventName | undefined
  readonly state?: CallbackState | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

export interface CallbackCounts {
  readonly waiting: number
  readonly due: number
  readonly oldestDueAtMs: number | undefined
  readonly exhausted: number
  readonly failingHosts: number
  readonly pausedHosts: number
}

export function makeCallbackHistory(database: Pool) {
  return {
    listCallbacks: (filter: CallbackFilter, page: Page) => listCallbacks(database, filter, page),
    /** Down to which callback a page looks that no index serves; undefined: to the oldest. */
    endOfLook: (before: string | undefined) => endOfLook(database, before),
    findCallback: (callbackId: string) => findCallback(database, callbackId),
    listAttempts: (callback: CallbackKey) => listAttempts(database, callback),
    listFailingHosts: () => listFailingHosts(database),
    /** `atMost`: counts no further, so that a page is quick whatever waits. */
    countCallbacks: (nowMs: number, options?: { readonly atMost?: number }) =>
      countCallbacks(database, nowMs, options),
    /** Attempts and bodies of what ended before; at most `limit` callbacks. How many were pruned. */
    prune: (options: PruneOptions) => prune(database, options),
    /** Ends what stood due for so long that no attempt could be made; those that it ended. */
    exhaustOverdue: (options: OverdueOptions) => exhaustOverdue(database, options),
  }
}

interface Page {
  /** Only what is older than this callback. */
  readonly before?: string | undefined
  /** Only this callback and what is newer. */
  readonly downTo?: string | undefined
  readonly limit: number
}

/** No index knows hosts or events: a page of the console looks through so many callbacks. */
const lookedThrough = 10_000

interface CallbackRow {
  merchant_id: string
  callback_id: string
  payment_id: string
  refund_id: string
  event_name: EventName
  callback_url: string
  host: string
  body: string | null
  created_at: string
  attempts_made: number
  retries_made: number
  first_attempt_at: string | null
  last_attempt_at: string | null
  next_attempt_at: string | null
  last_outcome: string | null
  last_http_status: number | null
  delivered_at: string | null
  is_warned: boolean
  exhausted_at: string | null
  held_reason: string | null
  resent_at: string | null
}

const columns = `merchant_id, callback_id, payment_id, refund_id, event_name, callback_url, host, body, created_at,
       attempts_made, retries_made, first_attempt_at, last_attempt_at, next_attempt_at, last_outcome,
       last_http_status, delivered_at, is_warned, exhausted_at, held_reason, resent_at`

const ofState: Record<CallbackState, string> = {
  // By the queue, which is small: what waits is in it, and what is not in it need not be looked at.
  waiting: `delivered_at is null and exhausted_at is null
   and callback_id in (select q.callback_id from callback_queue q)`,
  delivered: 'delivered_at is not null',
  exhausted: 'exhausted_at is not null',
}

/**
 * By the primary key for one merchant, by callbacks_exhausted for what is exhausted, else by callbacks_kept: over
 * all merchants only what still has its body is listed.
 */
async function listCallbacks(
  database: Queryable,
  filter: CallbackFilter,
  { before, downTo, limit }: Page,
): Promise<StoredCallback[]> {
  const values: unknown[] = [limit]
  const wanted: string[] = []
  const want = (condition: (place: string) => string, value: unknown): void => {
    if (value === undefined) return
    values.push(value)
    wanted.push(condition(`$${values.length}`))
  }
  want((place) => `merchant_id = ${place}`, filter.merchantId)
  want((place) => `payment_id = ${place}`, filter.paymentId)
  want((place) => `host = ${place}`, filter.host)
  want((place) => `event_name = ${place}`, filter.eventName)
  want((place) => `callback_id < ${place}::uuid`, before)
  want((place) => `callback_id >= ${place}::uuid`, downTo)
  want((place) => `callback_id >= ${place}::uuid`, filter.sinceMs && firstCallbackIdAt(filter.sinceMs))
  want((place) => `callback_id < ${place}::uuid`, filter.untilMs && firstCallbackIdAt(filter.untilMs))
  if (filter.state) wanted.push(ofState[filter.state])
  if (filter.merchantId === undefined && filter.state !== 'exhausted') wanted.push('body is not null')
  // What waits has all of it in its own row, and the planner knows better how much of that there is.
  const source = filter.state === 'waiting' ? 'callbacks' : 'callbacks_with_progress'
  const { rows } = await database.query<CallbackRow>({
    text: `
select ${columns}
  from ${source}
 ${wanted.length > 0 ? `where ${wanted.join(' and ')}` : ''}
 order by callback_id desc
 limit $1`,
    values,
  })
  return rows.map(toStored)
}

/** By callbacks_kept alone. */
async function endOfLook(database: Queryable, before: string | undefined): Promise<string | undefined> {
  const { rows } = await database.query<{ callback_id: string }>({
    text: `
select callback_id
  from callbacks
 where body is not null and ($1::uuid is null or callback_id < $1)
 order by callback_id desc
offset ${lookedThrough - 1}
 limit 1`,
    values: [before ?? null],
  })
  return rows[0]?.callback_id
}

/** Whose it is, is not known: a look by key into each merchant's, which needs no index of its own. */
async function findCallback(database: Queryable, callbackId: string): Promise<StoredCallback | undefined> {
  const { rows } = await database.query<CallbackRow>({
    text: `
select c.*
  from merchants m
 cross join lateral (select ${columns}
                       from callbacks_with_progress
                      where merchant_id = m.merchant_id and callback_id = $1
                      limit 1) as c`,
    values: [callbackId],
  })
  return rows[0] && toStored(rows[0])
}

async function listAttempts(
  database: Queryable,
  { merchantId, callbackId }: CallbackKey,
): Promise<StoredAttempt[]> {
  const { rows } = await database.query<{
    attempt: number
    started_at: string
    duration_ms: number
    outcome: string
    http_status: number | null
    detail: string | null
    answer: Buffer | null
    is_resend: boolean
  }>({
    text: `
select attempt, started_at, duration_ms, outcome, http_status, detail, answer, is_resend
  from callback_attempts
 where merchant_id = $1 and callback_id = $2
 order by attempt`,
    values: [merchantId, callbackId],
  })
  return rows.map((row) => ({
    attempt: row.attempt,
    startedAtMs: Number(row.started_at),
    durationMs: row.duration_ms,
    outcome: row.outcome,
    httpStatus: row.http_status ?? undefined,
    detail: row.detail ?? undefined,
    answer: row.answer ?? undefined,
    isResend: row.is_resend,
  }))
}

async function listFailingHosts(database: Queryable): Promise<FailingHost[]> {
  const { rows } = await database.query<Parameters<typeof toFailingHost>[0]>({
    text: `
select host, failures, failing_since, reason, pauses, paused_at, paused_until
  from callback_hosts
 order by pauses desc, failures desc, host`,
  })
  return rows.map(toFailingHost)
}

export async function countCallbacks(
  database: Queryable,
  nowMs: number,
  { atMost }: { readonly atMost?: number } = {},
): Promise<CallbackCounts> {
  const { rows } = await database.query<{
    waiting: string
    due: string
    oldest_due_at: string | null
    exhausted: string
    failing_hosts: string
    paused_hosts: string
  }>({
    text: `
select (select count(*) from (select from callback_queue limit $2) as q) as waiting,
       (select count(*) from (select from callback_queue where due_at <= $1 limit $2) as q) as due,
       (select min(due_at) from callback_queue where due_at <= $1) as oldest_due_at,
       (select count(*) from (select from callbacks where exhausted_at is not null limit $2) as c) as exhausted,
       (select count(*) from callback_hosts) as failing_hosts,
       (select count(*) from callback_hosts where paused_until > $1) as paused_hosts`,
    values: [nowMs, atMost ?? null],
  })
  const [row] = rows
  if (!row) throw new Error('a count answers one row')
  return {
    waiting: Number(row.waiting),
    due: Number(row.due),
    oldestDueAtMs: toTime(row.oldest_due_at),
    exhausted: Number(row.exhausted),
    failingHosts: Number(row.failing_hosts),
    pausedHosts: Number(row.paused_hosts),
  }
}

interface PruneOptions {
  readonly olderThanMs: number
  readonly limit: number
}

const isPast = `body is not null and (delivered_at is not null or exhausted_at is not null)
   and (resent_at is null or resent_at < $3)`

/**
 * Candidates by callbacks_kept, the oldest first; then writes by their keys. What waits is never touched, nor what
 * was asked for again, be it at this very moment: the update looks once more.
 */
function prune(database: Pool, { olderThanMs, limit }: PruneOptions): Promise<number> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ merchant_id: string; callback_id: string }>({
      text: `
select merchant_id, callback_id
  from callbacks_with_progress
 where callback_id < $1::uuid and ${isPast}
 order by callback_id
 limit $2`,
      values: [firstCallbackIdAt(olderThanMs), limit, olderThanMs],
    })
    if (rows.length === 0) return 0
    await rememberFirstAttempts(transaction, rows.map(toKey))
    const { rows: pruned } = await transaction.query<{ merchant_id: string; callback_id: string }>({
      text: `
update callbacks c set body = null
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
 where c.merchant_id = k.merchant_id and c.callback_id = k.callback_id and ${isPast}
returning c.merchant_id, c.callback_id`,
      values: [rows.map((row) => row.merchant_id), rows.map((row) => row.callback_id), olderThanMs],
    })
    await transaction.query({
      text: `
delete from callback_attempts a
 using unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
 where a.merchant_id = k.merchant_id and a.callback_id = k.callback_id`,
      values: [pruned.map((row) => row.merchant_id), pruned.map((row) => row.callback_id)],
    })
    return pruned.length
  })
}

interface OverdueOptions {
  readonly dueBeforeMs: number
  readonly nowMs: number
  readonly limit: number
}

/** By callback_queue_due. Behind a paused host alone: what nobody kept back is simply late, and is still sent. */
function exhaustOverdue(
  database: Pool,
  { dueBeforeMs, nowMs, limit }: OverdueOptions,
): Promise<readonly CallbackKey[]> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ merchant_id: string; callback_id: string }>({
      text: `
delete from callback_queue
 where callback_id = any (array(select callback_id
                                  from callback_queue q
                                 where due_at < $1 and (claimed_until is null or claimed_until <= $2)
                                   and exists (select from callback_hosts h
                                                where h.host = q.host and h.paused_until is not null)
                                 order by due_at
                                 limit $3
                                   for update of q skip locked))
returning merchant_id, callback_id`,
      values: [dueBeforeMs, nowMs, limit],
    })
    if (rows.length > 0) {
      await transaction.query({
        text: `
update callbacks c
   set exhausted_at = $3, next_attempt_at = null
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
 where c.merchant_id = k.merchant_id and c.callback_id = k.callback_id
   and c.delivered_at is null and c.exhausted_at is null`,
        values: [rows.map((row) => row.merchant_id), rows.map((row) => row.callback_id), nowMs],
      })
    }
    return rows.map(toKey)
  })
}

function toKey(row: { readonly merchant_id: string; readonly callback_id: string }): CallbackKey {
  return { merchantId: row.merchant_id, callbackId: row.callback_id }
}

function toStored(row: CallbackRow): StoredCallback {
  return {
    merchantId: row.merchant_id,
    callbackId: row.callback_id,
    paymentId: row.payment_id,
    refundId: row.refund_id === '' ? undefined : row.refund_id,
    eventName: row.event_name,
    callbackUrl: row.callback_url,
    host: row.host,
    body: row.body ?? undefined,
    createdAtMs: Number(row.created_at),
    state: stateOf(row),
    attemptsMade: row.attempts_made,
    retriesMade: row.retries_made,
    firstAttemptAtMs: toTime(row.first_attempt_at),
    lastAttemptAtMs: toTime(row.last_attempt_at),
    nextAttemptAtMs: toTime(row.next_attempt_at),
    lastOutcome: row.last_outcome ?? undefined,
    lastHttpStatus: row.last_http_status ?? undefined,
    deliveredAtMs: toTime(row.delivered_at),
    isWarned: row.is_warned,
    exhaustedAtMs: toTime(row.exhausted_at),
    heldReason: row.held_reason ?? undefined,
    resentAtMs: toTime(row.resent_at),
  }
}

function toTime(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
