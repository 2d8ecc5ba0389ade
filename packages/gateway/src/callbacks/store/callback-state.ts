// How far a callback has come. Its own row is told of attempts only where there is something to remember for later: a
// retry, a warning, an end without success. What is acknowledged at the first attempt, as nearly all are, is written down
// as that attempt alone; whoever reads callbacks reads the view callbacks_with_progress, which puts the two together.
import type { Queryable } from '../../database/pool.ts'
import type { CallbackState } from '../rules/callback-attempt.ts'

export interface CallbackKey {
  readonly merchantId: string
  readonly callbackId: string
}

export function stateOf(row: {
  readonly delivered_at: string | null
  readonly exhausted_at: string | null
}): CallbackState {
  if (row.delivered_at !== null) return 'delivered'
  return row.exhausted_at === null ? 'waiting' : 'exhausted'
}

/** Before one of them comes back into the queue, or loses its attempts: from then on its own row says it all. */
export async function rememberFirstAttempts(
  transaction: Queryable,
  callbacks: readonly CallbackKey[],
): Promise<void> {
  await transaction.query({
    name: 'remember-first-attempts',
    text: `
update callbacks c
   set attempts_made = 1, first_attempt_at = a.started_at, last_attempt_at = a.started_at, next_attempt_at = null,
       last_outcome = a.outcome, last_http_status = a.http_status, delivered_at = a.started_at + a.duration_ms
  from unnest($1::text[], $2::uuid[]) as k (merchant_id, callback_id)
  join callback_attempts a
    on a.merchant_id = k.merchant_id and a.callback_id = k.callback_id and a.attempt = 1
 where c.merchant_id = k.merchant_id and c.callback_id = k.callback_id and c.attempts_made = 0`,
    values: [callbacks.map(({ merchantId }) => merchantId), callbacks.map(({ callbackId }) => callbackId)],
  })
}
