// Queues resends: a delivered or exhausted callback returns to the queue for one attempt, and a waiting one gets an
// extra attempt first. Callbacks that are being sent or already queued for a resend are skipped.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { columnsOf, prepared, sql } from '../../../platform/database/sql.ts'
import { byMerchant } from '../../../platform/database/tables.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { audited } from '../../audit/store/audit.ts'
import { type Change, type Publish, unpublished } from '../../changes/rules/change.ts'
import { commitAndPublish } from '../../changes/store/commit.ts'
import type { Lane } from '../rules/delivery-lanes.ts'
import { type CallbackKey, isOfKey, keyColumns, rememberFirstAttempts, unnestKeys } from './callback-state.ts'
import { callbacksQueued } from './callbacks.ts'
import { destinationIdOf } from './destination-id.ts'
import { loadEndpoints } from './endpoints.ts'

export type CallbackResends = ReturnType<typeof makeCallbackResends>

export interface Resend {
  readonly merchantId: string
  readonly callbackId: string
  readonly dueAtMs: number
}

export interface ResendRules {
  readonly nowMs: number
  /** Skips callbacks that were resent after this time. */
  readonly notSinceMs: number
}

/** Identifies a repeated envelope. */
export interface ResendRequest {
  readonly requestedAtMs: number
  readonly signHash: Buffer
  readonly forgetBeforeMs: number
}

export function makeCallbackResends(database: Pool, publish: Publish = unpublished) {
  return {
    /**
     * Queues all callbacks to an order's own callbackUrl and returns how many. A repeated request queues none and
     * returns the same number.
     */
    resendOfOrder: (
      order: { merchantId: string; paymentId: string },
      rules: ResendRules,
      request: ResendRequest,
    ) =>
      commitAndPublish(database, publish, (transaction) =>
        once(transaction, order.merchantId, request, () => resendOfOrder(transaction, order, rules)),
      ),
    /** Returns how many were queued. Without any, no audit entry is written. */
    async resendMany(resends: readonly Resend[], rules: ResendRules, entry: AuditEntry): Promise<number> {
      let queued: readonly Lane[] = []
      const isDone = await audited(database, entry, async (transaction) => {
        queued = await resend(transaction, resends, rules)
        return queued.length > 0
      })
      if (isDone) publish(callbacksQueued(queued))
      return queued.length
    },
  }
}

/** The second of two concurrent requests waits here for the first. */
async function once(
  transaction: Queryable,
  merchantId: string,
  { requestedAtMs, signHash, forgetBeforeMs }: ResendRequest,
  work: () => Promise<readonly Lane[]>,
): Promise<{ readonly result: number; readonly changes: readonly Change[] }> {
  await transaction.query(prepared('forget-resend-requests')`
delete from resend_requests where merchant_id = ${merchantId} and requested_at < ${forgetBeforeMs}`)
  const { rowCount: isNew } = await transaction.query(prepared('add-resend-request')`
insert into resend_requests (merchant_id, requested_at, sign_hash)
values (${merchantId}, ${requestedAtMs}, ${signHash})
    on conflict do nothing`)
  const isIt = sql`merchant_id = ${merchantId} and requested_at = ${requestedAtMs} and sign_hash = ${signHash}`
  if (!isNew) {
    const { rows } = await transaction.query<{ queued: number }>(prepared('find-resend-request')`
select queued from resend_requests where ${isIt}`)
    return { result: rows[0]?.queued ?? 0, changes: [] }
  }
  const queued = await work()
  await transaction.query(prepared('answer-resend-request')`
update resend_requests set queued = ${queued.length} where ${isIt}`)
  return { result: queued.length, changes: callbacksQueued(queued) }
}

async function resendOfOrder(
  transaction: Queryable,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
  rules: ResendRules,
): Promise<readonly Lane[]> {
  const { rows } = await transaction.query<{ callback_id: string }>(prepared('find-callbacks-of-order')`
select callback_id from callbacks
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and endpoint_id = ''
 order by callback_id`)
  const resends = rows.map((row) => ({ merchantId, callbackId: row.callback_id, dueAtMs: rules.nowMs }))
  return resend(transaction, resends, rules)
}

interface WantedResend extends CallbackKey {
  readonly host: string
  readonly endpointId: string
  readonly callbackUrl: string
  readonly dueAt: string
  readonly isEnded: boolean
}

/**
 * Locks the callbacks' own rows first, so that concurrent requests see each other. Returns the lane of each queued
 * callback.
 */
async function resend(
  transaction: Queryable,
  resends: readonly Resend[],
  { nowMs, notSinceMs }: ResendRules,
): Promise<readonly Lane[]> {
  if (resends.length === 0) return []
  for (const [merchantId, theirs] of byMerchant(resends)) {
    const [callbackIds] = columnsOf(theirs, 'callbackId')
    await transaction.query(prepared('lock-callbacks-to-resend')`
select 1 from callbacks where merchant_id = ${merchantId} and callback_id = any (${callbackIds}::uuid[])
 order by callback_id for update`)
  }
  const [merchantIds, callbackIds, dueAts] = columnsOf(resends, 'merchantId', 'callbackId', 'dueAtMs')
  const { rows } = await transaction.query<WantedResend>(prepared('find-callbacks-to-resend')`
select ${keyColumns}, c.host, c.endpoint_id as "endpointId", c.callback_url as "callbackUrl", k.due_at as "dueAt",
       (c.delivered_at is not null or c.exhausted_at is not null) as "isEnded"
  from unnest(${merchantIds}::text[], ${callbackIds}::uuid[], ${dueAts}::bigint[]) as k (merchant_id, callback_id, due_at)
  join callbacks_with_progress c using (merchant_id, callback_id)
 where c.merchant_id = any (${merchantIds}::text[]) and c.body is not null and (c.first_attempt_at is not null or c.exhausted_at is not null)
   and (c.resent_at is null or c.resent_at <= ${notSinceMs})
 order by c.merchant_id, c.callback_id`)
  const wanted = await withoutRemovedEndpoints(transaction, rows)
  const { rows: queued } = await transaction.query<{ callback_id: string }>({
    name: 'queue-resends',
    text: `
with wanted as (
  select *
    from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::text[], $7::uuid[])
      as w (callback_id, merchant_id, host, due_at, is_ended, endpoint_id, destination_id)
), sooner as (
  update callback_queue q
     set due_at = w.due_at, is_resend = true
    from wanted w
   where q.callback_id = w.callback_id and not q.is_resend and q.claim_id is null and q.due_at > w.due_at
  returning q.callback_id
), again as (
  insert into callback_queue (callback_id, merchant_id, host, due_at, is_resend, endpoint_id, destination_id)
  select callback_id, merchant_id, host, due_at, true, endpoint_id, destination_id from wanted where is_ended
      on conflict do nothing
  returning callback_id
)
select callback_id from sooner union all select callback_id from again`,
    values: [
      ...columnsOf(wanted, 'callbackId', 'merchantId', 'host', 'dueAt', 'isEnded', 'endpointId'),
      wanted.map(destinationIdOf),
    ],
  })
  const queuedIds = new Set(queued.map((row) => row.callback_id))
  const taken = wanted.filter(({ callbackId }) => queuedIds.has(callbackId))
  if (taken.length === 0) return []
  await rememberFirstAttempts(transaction, taken)
  await transaction.query(prepared('note-resends')`
update callbacks c set resent_at = ${nowMs}
  from ${unnestKeys(taken)}
 where ${isOfKey('c', taken)}`)
  return taken.map((each) => ({
    merchantId: each.merchantId,
    host: each.host,
    destinationId: destinationIdOf(each),
  }))
}

/** Callbacks of a removed endpoint stay as they ended. */
async function withoutRemovedEndpoints(
  transaction: Queryable,
  wanted: readonly WantedResend[],
): Promise<readonly WantedResend[]> {
  const keyOf = ({ merchantId, endpointId }: WantedResend) => ({
    merchant_id: merchantId,
    endpoint_id: endpointId,
  })
  const endpoints = await loadEndpoints(
    transaction,
    wanted.filter(({ endpointId }) => endpointId !== '').map(keyOf),
  )
  return wanted.filter(
    ({ merchantId, endpointId }) => endpoints.get(`${merchantId} ${endpointId}`)?.removedAtMs === undefined,
  )
}
