// A merchant's callbacks as a listener receives them: once when created and once more for each resend; and the
// acknowledgement of one.
import type { WebhookEventName } from '@tillgate/protocol'
import { rememberFirstAttempts } from '../../core/callbacks/store/callback-state.ts'
import type { Pool, Queryable } from '../../platform/database/pool.ts'
import { rowShape } from '../../platform/database/row-shape.ts'
import { prepared, sql } from '../../platform/database/sql.ts'
import { firstCallbackIdAt, timeOfCallbackId } from '../../platform/runtime/time-ordered-ids.ts'

export type SandboxListenStore = ReturnType<typeof makeSandboxListenStore>

export interface HeardCallback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly eventName: WebhookEventName
  readonly callbackUrl: string
  readonly body: string
  readonly kind: 'first' | 'resend'
  /** The time of its creation or of a resend request. */
  readonly atMs: number
}

export interface TakenCallback {
  readonly merchantId: string
  readonly callbackId: string
  readonly startedAtMs: number
  readonly durationMs: number
  readonly nowMs: number
  readonly answer: Buffer
  readonly isWarned: boolean
  /** The program that acknowledged it. */
  readonly detail: string
  /** Also while a worker sends it: the worker's attempt then writes nothing. */
  readonly isForced: boolean
}

export type Taken = 'recorded' | 'delivered_already' | 'under_way' | 'not_found'

export function makeSandboxListenStore(database: Pool) {
  return {
    /** Lists callbacks of that millisecond and later, oldest first. */
    listFrom: (from: From) => listFrom(database, from),
    /** Records an attempt with the listener's HTTP 200. */
    take: (taken: TakenCallback) => database.transaction((transaction) => take(transaction, taken)),
  }
}

interface From {
  readonly merchantId: string
  readonly fromMs: number
  readonly limit: number
}

const shape = rowShape<Omit<HeardCallback, 'merchantId' | 'kind' | 'atMs'>>('heard', {
  callbackId: 'callback_id',
  paymentId: 'payment_id',
  eventName: 'event_name',
  callbackUrl: 'callback_url',
  body: 'body',
})

/** Uses the primary key, because ids start with their time, and callbacks_resent. */
async function listFrom(database: Queryable, { merchantId, fromMs, limit }: From): Promise<HeardCallback[]> {
  const kept = sql`merchant_id = ${merchantId} and body is not null and endpoint_id = ''`
  const { rows } = await database.query<{ resent_at: string | null }>(prepared('listen-to-callbacks')`
(select ${shape.columns}, null::bigint as resent_at
   from callbacks
  where ${kept} and callback_id >= ${firstCallbackIdAt(fromMs)}::uuid
  order by callback_id
  limit ${limit})
union all
(select ${shape.columns}, resent_at
   from callbacks
  where ${kept} and resent_at >= ${fromMs}
  order by resent_at
  limit ${limit})`)
  return rows
    .map((row) => {
      const heard = { merchantId, ...shape.read(row) }
      return row.resent_at === null
        ? { ...heard, kind: 'first' as const, atMs: timeOfCallbackId(heard.callbackId) }
        : { ...heard, kind: 'resend' as const, atMs: Number(row.resent_at) }
    })
    .sort((a, b) => a.atMs - b.atMs || (a.callbackId < b.callbackId ? -1 : 1))
    .slice(0, limit)
}

/** Locks the queue before the callback's row, as recording an attempt does. */
async function take(transaction: Queryable, taken: TakenCallback): Promise<Taken> {
  const { merchantId, callbackId, startedAtMs, nowMs } = taken
  const isIt = sql`merchant_id = ${merchantId} and callback_id = ${callbackId}`
  const { rows: removed } = await transaction.query<{ is_resend: boolean }>(sql`
delete from callback_queue
 where ${isIt} and (${taken.isForced} or claimed_until is null or claimed_until <= ${nowMs})
returning is_resend`)
  const wasQueued = removed.length > 0
  if (!wasQueued) {
    const { rows: waiting } = await transaction.query(sql`select from callback_queue where ${isIt}`)
    if (waiting.length > 0) return 'under_way'
  }
  await rememberFirstAttempts(transaction, [taken])
  const { rows } = await transaction.query<{ attempts_made: number }>(sql`
update callbacks
   set attempts_made = attempts_made + 1, first_attempt_at = coalesce(first_attempt_at, ${startedAtMs}),
       last_attempt_at = ${startedAtMs}, next_attempt_at = null, last_outcome = 'acknowledged', last_http_status = 200,
       held_reason = null, is_warned = ${taken.isWarned}, delivered_at = coalesce(delivered_at, ${nowMs}),
       exhausted_at = null
 where ${isIt} and (${wasQueued} or delivered_at is null)
returning attempts_made`)
  const [row] = rows
  if (!row) {
    const { rows: there } = await transaction.query(sql`select from callbacks where ${isIt}`)
    return there.length > 0 ? 'delivered_already' : 'not_found'
  }
  await transaction.query(sql`
insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status,
                               detail, answer, is_resend)
values (${merchantId}, ${callbackId}, ${row.attempts_made}, ${startedAtMs}, ${taken.durationMs}, 'acknowledged', 200,
        ${taken.detail}, ${taken.answer}, ${removed[0]?.is_resend ?? false})`)
  return 'recorded'
}
