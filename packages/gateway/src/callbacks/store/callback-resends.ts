// Asking for callbacks once more: what is delivered or exhausted comes back into the queue for one attempt, what
// waits for a retry has one attempt more before it. What is under way, or asked for already, is left alone.
import type { Pool, Queryable } from '../../database/pool.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import type { Lane } from '../rules/delivery-lanes.ts'
import { rememberFirstAttempts } from './callback-state.ts'
import { commitQueueing, type OnQueued } from './callbacks.ts'

export type CallbackResends = ReturnType<typeof makeCallbackResends>

export interface Resend {
  readonly merchantId: string
  readonly callbackId: string
  readonly dueAtMs: number
}

export interface ResendRules {
  readonly nowMs: number
  /** Leave out what was asked for after this. */
  readonly notSinceMs: number
}

/** What the same envelope, sent again, is known by. */
export interface ResendRequest {
  readonly requestedAtMs: number
  readonly signHash: Buffer
  readonly forgetBeforeMs: number
}

export function makeCallbackResends(database: Pool, onQueued: OnQueued = () => {}) {
  return {
    /** All of an order's callbacks; how many were queued. The same request again queues none and has the same answer. */
    resendOfOrder: (
      order: { merchantId: string; paymentId: string },
      rules: ResendRules,
      request: ResendRequest,
    ) =>
      commitQueueing(database, onQueued, (transaction) =>
        once(transaction, order.merchantId, request, () => resendOfOrder(transaction, order, rules)),
      ),
    /** An operator's act; how many were queued. With none, nothing is recorded. */
    async resendMany(resends: readonly Resend[], rules: ResendRules, act: Act): Promise<number> {
      let queued: readonly Lane[] = []
      const isDone = await audited(database, act, async (transaction) => {
        queued = await resend(transaction, resends, rules)
        return queued.length > 0
      })
      if (isDone) onQueued(queued)
      return queued.length
    },
  }
}

/** The second of two at once waits here for the first to be committed. */
async function once(
  transaction: Queryable,
  merchantId: string,
  { requestedAtMs, signHash, forgetBeforeMs }: ResendRequest,
  work: () => Promise<readonly Lane[]>,
): Promise<{ readonly result: number; readonly queued: readonly Lane[] }> {
  await transaction.query({
    name: 'forget-resend-requests',
    text: 'delete from resend_requests where merchant_id = $1 and requested_at < $2',
    values: [merchantId, forgetBeforeMs],
  })
  const key = [merchantId, requestedAtMs, signHash]
  const { rowCount: isNew } = await transaction.query({
    name: 'add-resend-request',
    text: `
insert into resend_requests (merchant_id, requested_at, sign_hash) values ($1, $2, $3)
    on conflict do nothing`,
    values: key,
  })
  if (!isNew) {
    const { rows } = await transaction.query<{ queued: number }>({
      name: 'find-resend-request',
      text: 'select queued from resend_requests where merchant_id = $1 and requested_at = $2 and sign_hash = $3',
      values: key,
    })
    return { result: rows[0]?.queued ?? 0, queued: [] }
  }
  const queued = await work()
  await transaction.query({
    name: 'answer-resend-request',
    text: `
update resend_requests set queued = $4
 where merchant_id = $1 and requested_at = $2 and sign_hash = $3`,
    values: [...key, queued.length],
  })
  return { result: queued.length, queued }
}

async function resendOfOrder(
  transaction: Queryable,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  rules: ResendRules,
): Promise<readonly Lane[]> {
  const { rows } = await transaction.query<{ callback_id: string }>({
    name: 'find-callbacks-of-order',
    text: 'select callback_id from callbacks where merchant_id = $1 and payment_id = $2 order by callback_id',
    values: [merchantId, paymentId],
  })
  const resends = rows.map((row) => ({ merchantId, callbackId: row.callback_id, dueAtMs: rules.nowMs }))
  return resend(transaction, resends, rules)
}

/**
 * The callbacks' own rows are locked first, so that of two who ask at once the second sees the first. Answers the
 * lane of each that it queued.
 */
async function resend(
  transaction: Queryable,
  resends: readonly Resend[],
  { nowMs, notSinceMs }: ResendRules,
): Promise<readonly Lane[]> {
  if (resends.length === 0) return []
  const keys = [resends.map(({ merchantId }) => merchantId), resends.map(({ callbackId }) => callbackId)]
  await transaction.query({
    name: 'lock-callbacks-to-resend',
    text: `
select
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
  join callbacks c using (merchant_id, callback_id)
 order by c.merchant_id, c.callback_id
   for update of c`,
    values: keys,
  })
  const { rows: wanted } = await transaction.query<{
    merchant_id: string
    callback_id: string
    host: string
    is_ended: boolean
    due_at: string
  }>({
    name: 'find-callbacks-to-resend',
    text: `
select c.merchant_id, c.callback_id, c.host, k.due_at,
       (c.delivered_at is not null or c.exhausted_at is not null) as is_ended
  from unnest($1::text[], $2::uuid[], $3::bigint[]) as k (merchant_id, callback_id, due_at)
  join callbacks_with_progress c using (merchant_id, callback_id)
 where c.body is not null and (c.first_attempt_at is not null or c.exhausted_at is not null)
   and (c.resent_at is null or c.resent_at <= $4)
 order by c.merchant_id, c.callback_id`,
    values: [...keys, resends.map(({ dueAtMs }) => dueAtMs), notSinceMs],
  })
  const { rows: queued } = await transaction.query<{ callback_id: string }>({
    name: 'queue-resends',
    text: `
with wanted as (
  select *
    from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
      as w (callback_id, merchant_id, host, due_at, is_ended)
), sooner as (
  update callback_queue q
     set due_at = w.due_at, is_resend = true
    from wanted w
   where q.callback_id = w.callback_id and not q.is_resend and q.claim_id is null and q.due_at > w.due_at
  returning q.callback_id
), again as (
  insert into callback_queue (callback_id, merchant_id, host, due_at, is_resend)
  select callback_id, merchant_id, host, due_at, true from wanted where is_ended
      on conflict do nothing
  returning callback_id
)
select callback_id from sooner union all select callback_id from again`,
    values: [
      wanted.map((row) => row.callback_id),
      wanted.map((row) => row.merchant_id),
      wanted.map((row) => row.host),
      wanted.map((row) => row.due_at),
      wanted.map((row) => row.is_ended),
    ],
  })
  const queuedIds = new Set(queued.map((row) => row.callback_id))
  const taken = wanted.filter((row) => queuedIds.has(row.callback_id))
  if (taken.length === 0) return []
  await rememberFirstAttempts(
    transaction,
    taken.map((row) => ({ merchantId: row.merchant_id, callbackId: row.callback_id })),
  )
  await transaction.query({
    name: 'note-resends',
    text: `
update callbacks c set resent_at = $3
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
 where c.merchant_id = k.merchant_id and c.callback_id = k.callback_id`,
    values: [taken.map((row) => row.merchant_id), taken.map((row) => row.callback_id), nowMs],
  })
  return taken.map((row) => ({ merchantId: row.merchant_id, host: row.host }))
}
