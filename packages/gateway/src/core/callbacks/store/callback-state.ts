// How far a callback has come. Its own row is told of attempts only where there is something to remember for later: a
// retry, a warning, an end without success. What is acknowledged at the first attempt, as nearly all are, is written down
// as that attempt alone; whoever reads callbacks reads the view callbacks_with_progress, which puts the two together.
import type { Queryable } from '../../../platform/database/pool.ts'
import { columnsOf, plainSql, prepared, type Sql, sql } from '../../../platform/database/sql.ts'
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

/** The same as an expression. */
export const stateSource = `case when delivered_at is not null then 'delivered'
            when exhausted_at is not null then 'exhausted' else 'waiting' end`

export const keyColumns = sql`merchant_id as "merchantId", callback_id as "callbackId"`

/** For a `from`: the keys as rows of k. Their columns have names of their own, so that others need no prefix. */
export function unnestKeys(keys: readonly CallbackKey[]): Sql {
  const [merchantIds, callbackIds] = columnsOf(keys, 'merchantId', 'callbackId')
  return sql`unnest(${merchantIds}::text[], ${callbackIds}::uuid[]) as k (of_merchant, of_callback)`
}

/** The condition that goes with it. The list of merchants says on which machines the rows lie. */
export function isOfKey(alias: 'c' | 'a', keys: readonly CallbackKey[]): Sql {
  const of = plainSql(alias)
  const [merchantIds] = columnsOf(keys, 'merchantId')
  return sql`${of}.merchant_id = k.of_merchant and ${of}.callback_id = k.of_callback
   and ${of}.merchant_id = any (${merchantIds}::text[])`
}

/** Before one of them comes back into the queue, or loses its attempts: from then on its own row says it all. */
export async function rememberFirstAttempts(
  transaction: Queryable,
  callbacks: readonly CallbackKey[],
): Promise<void> {
  await transaction.query(prepared('remember-first-attempts')`
update callbacks c
   set attempts_made = 1, first_attempt_at = a.started_at, last_attempt_at = a.started_at, next_attempt_at = null,
       last_outcome = a.outcome, last_http_status = a.http_status, delivered_at = a.started_at + a.duration_ms
  from ${unnestKeys(callbacks)}
  join callback_attempts a
    on ${isOfKey('a', callbacks)} and a.attempt = 1
 where ${isOfKey('c', callbacks)} and c.attempts_made = 0`)
}
