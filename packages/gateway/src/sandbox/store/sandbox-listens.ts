// A merchant's callbacks as somebody who listens sees them: each once when it came to be and once more for every time
// it was asked for again; and what becomes of one that the listener's program has taken.
import type { EventName } from '@tillgate/protocol'
import { rememberFirstAttempts } from '../../callbacks/store/callback-state.ts'
import type { Pool, Queryable } from '../../database/pool.ts'

export type SandboxListenStore = ReturnType<typeof makeSandboxListenStore>

export interface HeardCallback {
  readonly merchantId: string
  readonly callbackId: string
  readonly paymentId: string
  readonly eventName: EventName
  readonly callbackUrl: string
  readonly body: string
  readonly kind: 'first' | 'resend'
  /** When it came to be, or was asked for again. */
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
  /** Who took it. */
  readonly detail: string
  /** Also while a worker sends it: that attempt then writes nothing. */
  readonly isForced: boolean
}

export type Taken = 'recorded' | 'delivered_already' | 'under_way' | 'not_found'

export function makeSandboxListenStore(database: Pool) {
  return {
    /** From that millisecond on, the oldest first. */
    listFrom: (from: From) => listFrom(database, from),
    /** Records an attempt that the listener's program answered with HTTP 200. */
    take: (taken: TakenCallback) => database.transaction((transaction) => take(transaction, taken)),
  }
}

interface From {
  readonly merchantId: string
  readonly fromMs: number
  readonly limit: number
}

interface Row {
  callback_id: string
  payment_id: string
  event_name: EventName
  callback_url: string
  body: string
  resent_at: string | null
}

/** By the primary key, because an id begins with its time, and by callbacks_resent. */
async function listFrom(database: Queryable, { merchantId, fromMs, limit }: From): Promise<HeardCallback[]> {
  const { rows } = await database.query<Row>({
    name: 'listen-to-callbacks',
    text: `
(select callback_id, payment_id, event_name, callback_url, body, null::bigint as resent_at
   from callbacks
  where merchant_id = $1 and callback_id >= $2::uuid and body is not null
  order by callback_id
  limit $4)
union all
(select callback_id, payment_id, event_name, callback_url, body, resent_at
   from callbacks
  where merchant_id = $1 and resent_at >= $3 and body is not null
  order by resent_at
  limit $4)`,
    values: [merchantId, firstIdAt(fromMs), fromMs, limit],
  })
  return rows
    .map((row) => toHeard(merchantId, row))
    .sort((a, b) => a.atMs - b.atMs || (a.callbackId < b.callbackId ? -1 : 1))
    .slice(0, limit)
}

function toHeard(merchantId: string, row: Row): HeardCallback {
  const { callback_id: callbackId, resent_at: resentAt } = row
  return {
    merchantId,
    callbackId,
    paymentId: row.payment_id,
    eventName: row.event_name,
    callbackUrl: row.callback_url,
    body: row.body,
    ...(resentAt === null
      ? { kind: 'first', atMs: Number.parseInt(callbackId.replace('-', '').slice(0, 12), 16) }
      : { kind: 'resend', atMs: Number(resentAt) }),
  }
}

/** The smallest id that a callback of that millisecond can have. */
function firstIdAt(timeMs: number): string {
  const time = timeMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** The queue first and the callback's own row second, as whoever records an attempt does it. */
async function take(transaction: Queryable, taken: TakenCallback): Promise<Taken> {
  const { merchantId, callbackId, nowMs } = taken
  const { rows: removed } = await transaction.query<{ is_resend: boolean }>({
    text: `
delete from callback_queue
 where callback_id = $1 and merchant_id = $2 and ($4 or claimed_until is null or claimed_until <= $3)
returning is_resend`,
    values: [callbackId, merchantId, nowMs, taken.isForced],
  })
  if (removed.length === 0) {
    const { rows: waiting } = await transaction.query({
      text: 'select from callback_queue where callback_id = $1 and merchant_id = $2',
      values: [callbackId, merchantId],
    })
    if (waiting.length > 0) return 'under_way'
  }
  await rememberFirstAttempts(transaction, [taken])
  const { rows } = await transaction.query<{ attempts_made: number }>({
    text: `
update callbacks
   set attempts_made = attempts_made + 1, first_attempt_at = coalesce(first_attempt_at, $3), last_attempt_at = $3,
       next_attempt_at = null, last_outcome = 'acknowledged', last_http_status = 200, held_reason = null,
       is_warned = $5, delivered_at = coalesce(delivered_at, $4), exhausted_at = null
 where merchant_id = $1 and callback_id = $2 and ($6 or delivered_at is null)
returning attempts_made`,
    values: [merchantId, callbackId, taken.startedAtMs, nowMs, taken.isWarned, removed.length > 0],
  })
  const [row] = rows
  if (!row) {
    const { rows: there } = await transaction.query({
      text: 'select from callbacks where merchant_id = $1 and callback_id = $2',
      values: [merchantId, callbackId],
    })
    return there.length > 0 ? 'delivered_already' : 'not_found'
  }
  await transaction.query({
    text: `
insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status,
                               detail, answer, is_resend)
values ($1, $2, $3, $4, $5, 'acknowledged', 200, $6, $7, $8)`,
    values: [
      merchantId,
      callbackId,
      row.attempts_made,
      taken.startedAtMs,
      taken.durationMs,
      taken.detail,
      taken.answer,
      removed[0]?.is_resend ?? false,
    ],
  })
  return 'recorded'
}
