// Callbacks and their attempts as history: list, show and prune. Lists are paged by key, newest first.
import type { WebhookEventName } from '@tillgate/protocol'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, merchantIs, plainSql, type Sql, sql } from '../../../platform/database/sql.ts'
import { firstCallbackIdAt } from '../../../platform/runtime/time-ordered-ids.ts'
import type { NewEmail } from '../../emails/rules/email.ts'
import { queueEmails } from '../../emails/store/queue-emails.ts'
import type { CallbackState } from '../rules/callback-attempt.ts'
import type { Lane } from '../rules/delivery-lanes.ts'
import {
  countWaiting,
  forgetIdle,
  healthOf,
  listFailingDestinations,
  listFailingHosts,
} from './callback-health.ts'
import {
  type CallbackKey,
  isOfKey,
  keyColumns,
  rememberFirstAttempts,
  stateSource,
  unnestKeys,
} from './callback-state.ts'

export type CallbackHistory = ReturnType<typeof makeCallbackHistory>

export interface StoredCallback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  readonly eventName: WebhookEventName
  readonly callbackUrl: string
  /** Undefined: the order's own callbackUrl. */
  readonly endpointId: string | undefined
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
  readonly endpointId?: string | undefined
  readonly host?: string | undefined
  readonly eventName?: WebhookEventName | undefined
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
  readonly failingDestinations: number
  readonly pausedDestinations: number
}

export function makeCallbackHistory(database: Pool) {
  return {
    listCallbacks: (filter: CallbackFilter, page: Page) => listCallbacks(database, filter, page),
    /** The oldest callback that a page without an index searches; undefined: no limit. */
    endOfLook: (before: string | undefined) => endOfLook(database, before),
    /** With `merchantId`, only that merchant's. */
    findCallback: (callbackId: string, of: { readonly merchantId?: string | undefined } = {}) =>
      findCallback(database, { callbackId, merchantId: of.merchantId }),
    listAttempts: (callback: CallbackKey) => listAttempts(database, callback),
    listFailingHosts: () => listFailingHosts(database),
    listFailingDestinations: (options?: { readonly limit?: number }) =>
      listFailingDestinations(database, options),
    healthOf: (merchantId: string, hosts: readonly string[] = []) =>
      healthOf(database, { merchantId, hosts }),
    countWaiting: (lanes: readonly Lane[], options?: { readonly atMost?: number }) =>
      countWaiting(database, lanes, options),
    forgetIdleDestinations: (options: { readonly failedBeforeMs: number; readonly limit: number }) =>
      forgetIdle(database, options),
    /** `atMost` stops counting early, so that a page stays fast. */
    countCallbacks: (nowMs: number, options?: { readonly atMost?: number }) =>
      countCallbacks(database, nowMs, options),
    /** Deletes at most `limit` bodies and returns the count. Attempts are dropped with their partition. */
    prune: (options: PruneOptions) => database.transaction((transaction) => prune(transaction, options)),
    /** Exhausts callbacks that were blocked too long or whose endpoint was removed, and returns them. */
    exhaustOverdue: (options: OverdueOptions) => exhaustOverdue(database, options),
  }
}

interface Page {
  readonly before?: string | undefined
  readonly downTo?: string | undefined
  readonly limit: number
}

/** No index covers hosts or events, so a console page searches this many callbacks. */
const lookedThrough = 10_000

const shape = rowShape<StoredCallback>('callback', {
  merchantId: 'merchant_id',
  callbackId: 'callback_id',
  paymentId: 'payment_id',
  refundId: "nullif(refund_id, '')",
  eventName: 'event_name',
  callbackUrl: 'callback_url',
  endpointId: "nullif(endpoint_id, '')",
  host: 'host',
  body: 'body',
  createdAtMs: number('created_at'),
  state: stateSource,
  attemptsMade: number('attempts_made'),
  retriesMade: number('retries_made'),
  firstAttemptAtMs: number('first_attempt_at'),
  lastAttemptAtMs: number('last_attempt_at'),
  nextAttemptAtMs: number('next_attempt_at'),
  lastOutcome: 'last_outcome',
  lastHttpStatus: number('last_http_status'),
  deliveredAtMs: number('delivered_at'),
  isWarned: 'is_warned',
  exhaustedAtMs: number('exhausted_at'),
  heldReason: 'held_reason',
  resentAtMs: number('resent_at'),
})

const ofState: Record<CallbackState, Sql> = {
  // The queue is small and contains everything that waits.
  waiting: sql`delivered_at is null and exhausted_at is null
   and callback_id in (select q.callback_id from callback_queue q)`,
  delivered: sql`delivered_at is not null`,
  exhausted: sql`exhausted_at is not null`,
}

/**
 * Uses the primary key for one merchant, callbacks_endpoint for one endpoint, callbacks_exhausted for exhausted ones,
 * else callbacks_kept, which lists only callbacks with their body.
 */
async function listCallbacks(
  database: Queryable,
  { merchantId, paymentId, endpointId, host, eventName, state, sinceMs, untilMs }: CallbackFilter,
  { before, downTo, limit }: Page,
): Promise<StoredCallback[]> {
  const wanted = allOf([
    merchantId !== undefined && sql`merchant_id = ${merchantId}`,
    paymentId !== undefined && sql`payment_id = ${paymentId}`,
    // The second condition matches the partial index.
    endpointId !== undefined && sql`endpoint_id = ${endpointId} and endpoint_id <> ''`,
    host !== undefined && sql`host = ${host}`,
    eventName !== undefined && sql`event_name = ${eventName}`,
    before !== undefined && sql`callback_id < ${before}::uuid`,
    downTo !== undefined && sql`callback_id >= ${downTo}::uuid`,
    sinceMs !== undefined && sql`callback_id >= ${firstCallbackIdAt(sinceMs)}::uuid`,
    untilMs !== undefined && sql`callback_id < ${firstCallbackIdAt(untilMs)}::uuid`,
    state && ofState[state],
    merchantId === undefined && state !== 'exhausted' && sql`body is not null`,
  ])
  // A waiting callback's state is all in its own row, for which the planner has better estimates.
  const source = plainSql(state === 'waiting' ? 'callbacks' : 'callbacks_with_progress')
  const { rows } = await database.query(sql`
select ${shape.columns} from ${source} where ${wanted} order by callback_id desc limit ${limit}`)
  return rows.map(shape.read)
}

/** Uses callbacks_kept only. */
async function endOfLook(database: Queryable, before: string | undefined): Promise<string | undefined> {
  const { rows } = await database.query<{ callback_id: string }>(sql`
select callback_id
  from callbacks
 where body is not null and (${before}::uuid is null or callback_id < ${before})
 order by callback_id desc
offset ${lookedThrough - 1}
 limit 1`)
  return rows[0]?.callback_id
}

/** The merchant is unknown, so the query looks the key up per merchant without another index. */
async function findCallback(
  database: Queryable,
  { callbackId, merchantId }: { callbackId: string; merchantId: string | undefined },
): Promise<StoredCallback | undefined> {
  const { rows } = await database.query(sql`
select c.*
  from merchants m
 cross join lateral (select ${shape.columns}
                       from callbacks_with_progress p
                      where p.merchant_id = m.merchant_id and p.callback_id = ${callbackId}
                        and ${merchantIs(sql`p`, merchantId)}
                      limit 1) as c
 where ${merchantIs(sql`m`, merchantId)}`)
  return rows[0] && shape.read(rows[0])
}

const attemptShape = rowShape<StoredAttempt>('attempt', {
  attempt: number('attempt'),
  startedAtMs: number('started_at'),
  durationMs: number('duration_ms'),
  outcome: 'outcome',
  httpStatus: number('http_status'),
  detail: 'detail',
  answer: 'answer',
  isResend: 'is_resend',
})

async function listAttempts(
  database: Queryable,
  { merchantId, callbackId }: CallbackKey,
): Promise<StoredAttempt[]> {
  const { rows } = await database.query(sql`
select ${attemptShape.columns}
  from callback_attempts
 where merchant_id = ${merchantId} and callback_id = ${callbackId}
 order by attempt`)
  return rows.map(attemptShape.read)
}

const countsShape = rowShape<Omit<CallbackCounts, 'exhausted'>>('counts', {
  waiting: number('(select count(*) from (select 1 from callback_queue limit most) as q)'),
  due: number('(select count(*) from (select 1 from callback_queue where due_at <= now_ms limit most) as q)'),
  oldestDueAtMs: number('(select min(due_at) from callback_queue where due_at <= now_ms)'),
  failingHosts: number('(select count(*) from callback_hosts)'),
  pausedHosts: number('(select count(*) from callback_hosts where paused_until > now_ms)'),
  failingDestinations: number('(select count(*) from (select 1 from callback_destinations limit most) as d)'),
  pausedDestinations: number(
    '(select count(*) from (select 1 from callback_destinations where paused_until > now_ms limit most) as d)',
  ),
})

export async function countCallbacks(
  database: Queryable,
  nowMs: number,
  { atMost }: { readonly atMost?: number } = {},
): Promise<CallbackCounts> {
  const { rows } = await database.query(sql`
select ${countsShape.columns} from (select ${nowMs}::bigint as now_ms, ${atMost}::bigint as most) as given`)
  // A separate statement, because callbacks may be on other machines than the queue.
  const { rows: ended } = await database.query<{ exhausted: string }>(sql`
select count(*) as exhausted from (select 1 from callbacks where exhausted_at is not null limit ${atMost}::bigint) as c`)
  if (!rows[0] || !ended[0]) throw new Error('a count answers one row')
  return { ...countsShape.read(rows[0]), exhausted: Number(ended[0].exhausted) }
}

interface PruneOptions {
  readonly olderThanMs: number
  readonly limit: number
}

/**
 * Finds candidates by callbacks_kept, oldest first, and updates by key. Waiting callbacks are never pruned, however
 * old. The update checks again, because a resend may arrive meanwhile.
 */
async function prune(transaction: Queryable, { olderThanMs, limit }: PruneOptions): Promise<number> {
  const firstKept = firstCallbackIdAt(olderThanMs)
  const isPast = sql`body is not null and (delivered_at is not null or exhausted_at is not null)
   and (resent_at is null or resent_at < ${olderThanMs})`
  const { rows } = await transaction.query<CallbackKey>(sql`
select ${keyColumns}
  from callbacks_with_progress
 where callback_id < ${firstKept}::uuid and ${isPast}
   and callback_id not in (select q.callback_id from callback_queue q where q.callback_id < ${firstKept}::uuid)
 order by callback_id
 limit ${limit}`)
  if (rows.length === 0) return 0
  await rememberFirstAttempts(transaction, rows)
  const { rowCount } = await transaction.query(sql`
update callbacks c set body = null
  from ${unnestKeys(rows)}
 where ${isOfKey('c', rows)} and ${isPast}`)
  return rowCount
}

interface OverdueOptions {
  readonly dueBeforeMs: number
  readonly nowMs: number
  readonly limit: number
  /** Not called where the merchant removed its endpoint. */
  readonly emailsFor: (callback: ExhaustedCallback) => readonly NewEmail[]
}

export interface ExhaustedCallback extends CallbackKey {
  readonly paymentId: string
  readonly eventName: WebhookEventName
  readonly host: string
}

const exhaustedShape = rowShape<ExhaustedCallback>('callback', {
  merchantId: 'c.merchant_id',
  callbackId: 'c.callback_id',
  paymentId: 'c.payment_id',
  eventName: 'c.event_name',
  host: 'c.host',
})

/**
 * Uses callback_queue_due behind a paused host or destination, and callback_queue_endpoint behind a paused or removed
 * endpoint. Callbacks that are merely late are still sent, and resends wait for their endpoint at any age.
 */
function exhaustOverdue(
  database: Pool,
  { dueBeforeMs, nowMs, limit, emailsFor }: OverdueOptions,
): Promise<readonly CallbackKey[]> {
  const isFree = sql`(q.claimed_until is null or q.claimed_until <= ${nowMs})`
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<CallbackKey & { isRemoved: boolean }>(sql`
delete from callback_queue
 where callback_id = any (array(select q.callback_id
                                  from callback_endpoints e
                                  join callback_queue q on q.merchant_id = e.merchant_id and q.endpoint_id = e.endpoint_id
                                 where q.endpoint_id <> '' and ${isFree}
                                   and (e.removed_at is not null
                                        or (e.paused_at is not null and not q.is_resend
                                            and q.callback_id < ${firstCallbackIdAt(dueBeforeMs)}::uuid))
                                 limit ${limit}
                                   for update of q skip locked))
    or callback_id = any (array(select callback_id
                                  from callback_queue q
                                 where due_at < ${dueBeforeMs} and ${isFree}
                                   and (exists (select 1 from callback_hosts h
                                                 where h.host = q.host and h.paused_until is not null)
                                        or exists (select 1 from callback_destinations d
                                                    where d.merchant_id = q.merchant_id and d.host = q.host
                                                      and d.destination_id = q.destination_id
                                                      and d.paused_until is not null))
                                 order by due_at
                                 limit ${limit}
                                   for update of q skip locked))
returning ${keyColumns}, exists (select 1 from callback_endpoints e
                                 where e.merchant_id = callback_queue.merchant_id and e.endpoint_id = callback_queue.endpoint_id
                                   and e.removed_at is not null) as "isRemoved"`)
    if (rows.length === 0) return rows
    const { rows: exhausted } = await transaction.query(sql`
update callbacks c
   set exhausted_at = ${nowMs}, next_attempt_at = null
  from ${unnestKeys(rows)}
 where ${isOfKey('c', rows)}
   and c.delivered_at is null and c.exhausted_at is null
returning ${exhaustedShape.columns}`)
    const removed = new Set(rows.flatMap(({ callbackId, isRemoved }) => (isRemoved ? callbackId : [])))
    const alerted = exhausted.map(exhaustedShape.read).filter(({ callbackId }) => !removed.has(callbackId))
    await queueEmails(transaction, alerted.flatMap(emailsFor))
    return rows
  })
}
