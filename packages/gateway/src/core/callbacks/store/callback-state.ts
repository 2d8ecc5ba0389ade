// A callback's progress. Nearly all are acknowledged at the first attempt and stored only as that attempt; the
// callback's own row changes on a retry, a warning or a failure. The view callbacks_with_progress combines both.
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

export const stateSource = `case when delivered_at is not null then 'delivered'
            when exhausted_at is not null then 'exhausted' else 'waiting' end`

export const keyColumns = sql`merchant_id as "merchantId", callback_id as "callbackId"`

/** For a `from` clause: the keys as rows of k, with column names that need no prefix elsewhere. */
export function unnestKeys(keys: readonly CallbackKey[]): Sql {
  const [merchantIds, callbackIds] = columnsOf(keys, 'merchantId', 'callbackId')
  return sql`unnest(${merchantIds}::text[], ${callbackIds}::uuid[]) as k (of_merchant, of_callback)`
}

/** The matching condition. The list of merchants limits the query to their machines. */
export function isOfKey(alias: 'c' | 'a', keys: readonly CallbackKey[]): Sql {
  const of = plainSql(alias)
  const [merchantIds] = columnsOf(keys, 'merchantId')
  return sql`${of}.merchant_id = k.of_merchant and ${of}.callback_id = k.of_callback
   and ${of}.merchant_id = any (${merchantIds}::text[])`
}

/** Copies the first attempt into the callback's row before a resend or before the attempt is deleted. */
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
