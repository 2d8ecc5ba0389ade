// Records attempts in one transaction under the claim: the queue row is removed or rescheduled, the attempt is
// stored, and the callback's row is updated if needed. Concurrent outcomes share a round trip.

import { makeBatcher } from '../../../platform/database/batching.ts'
import { isDataError } from '../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import type { Delivery } from '../../../platform/runtime/delivery.ts'
import { plainArray } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import { type StartTimer, startSystemTimer } from '../../../platform/runtime/timer.ts'
import type { NewEmail } from '../../emails/rules/email.ts'
import { queueEmails } from '../../emails/store/queue-emails.ts'
import type { Outcome } from '../rules/callback-attempt.ts'
import type { Failing } from '../rules/host-health.ts'
import type { ClaimedCallback } from './callback-queue.ts'
import { updateHealth } from './update-health.ts'

export type CallbackOutcomes = ReturnType<typeof makeCallbackOutcomes>

export interface RecordedAttempt {
  readonly callback: ClaimedCallback
  readonly delivery: Delivery
  readonly outcome: Outcome
  readonly startedAtMs: number
  readonly nowMs: number
  readonly emailsFor: (failing: Failing | undefined) => readonly NewEmail[]
}

export interface Recorded {
  readonly outcome: Outcome
  /** False if the claim was lost; nothing was written. */
  readonly isWritten: boolean
  readonly failing: { readonly what: 'host' | 'destination'; readonly state: Failing } | undefined
}

/**
 * Outcomes gather briefly, because no client waits for them; written individually they cost a sixth of all
 * deliveries. Outcomes lost in a crash are sent again with the same id.
 */
const gatherOutcomesMs = 400
const batching = { maxItems: 192, maxFlights: 1, isItemError: isDataError } as const
/** Of the response; enough to see what the receiver meant. */
const answerBytesKept = 1_024

export interface OutcomeGathering {
  /** Zero: outcomes do not wait for each other. */
  readonly gatherMs?: number
  readonly startTimer?: StartTimer
}

export function makeCallbackOutcomes(
  database: Pool,
  { gatherMs = gatherOutcomesMs, startTimer = startSystemTimer }: OutcomeGathering = {},
) {
  const batcher = makeBatcher((attempts: readonly RecordedAttempt[]) => record(database, attempts), {
    ...batching,
    gather: gatherMs > 0 ? { forMs: gatherMs, startTimer } : undefined,
  })
  return {
    record: batcher.add,
    flush: batcher.flush,
  }
}

function record(database: Pool, attempts: readonly RecordedAttempt[]): Promise<Recorded[]> {
  return database.transaction(async (transaction) => {
    const written = await settleQueue(transaction, attempts)
    const kept = attempts.filter(({ callback }) => written.has(callback.callbackId))
    if (kept.length > 0) await writeAttempts(transaction, kept)
    const ended = kept.filter(isToBeRecorded)
    if (ended.length > 0) await recordAtCallbacks(transaction, ended)
    const failingOf = await updateHealth(transaction, kept)
    const emails = kept.flatMap((attempt) => attempt.emailsFor(failingOf(attempt)?.state))
    await queueEmails(transaction, emails)
    return attempts.map((attempt) => ({
      outcome: attempt.outcome,
      isWritten: written.has(attempt.callback.callbackId),
      failing: failingOf(attempt),
    }))
  })
}

/** Returns those that still held their claim. */
async function settleQueue(
  transaction: Queryable,
  attempts: readonly RecordedAttempt[],
): Promise<ReadonlySet<string>> {
  const gone = attempts.filter(({ outcome }) => outcome.nextAttemptAtMs === undefined)
  const kept = attempts.filter(({ outcome }) => outcome.nextAttemptAtMs !== undefined)
  const settled = new Set<string>()
  const note = ({ rows }: { rows: { callback_id: string }[] }) => {
    for (const { callback_id } of rows) settled.add(callback_id)
  }
  if (gone.length > 0) {
    note(
      await transaction.query({
        name: 'remove-from-callback-queue',
        text: `
delete from callback_queue q
 using unnest($1::uuid[], $2::uuid[]) as d (callback_id, claim_id)
 where q.callback_id = d.callback_id and q.claim_id = d.claim_id
returning q.callback_id`,
        values: [idsOf(gone), claimsOf(gone)],
      }),
    )
  }
  if (kept.length > 0) {
    note(
      await transaction.query({
        name: 'put-off-in-callback-queue',
        text: `
update callback_queue q
   set due_at = d.due_at, is_resend = false, claim_id = null, claimed_until = null
  from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as d (callback_id, claim_id, due_at)
 where q.callback_id = d.callback_id and q.claim_id = d.claim_id
returning q.callback_id`,
        values: [idsOf(kept), claimsOf(kept), kept.map(({ outcome }) => outcome.nextAttemptAtMs)],
      }),
    )
  }
  return settled
}

function idsOf(attempts: readonly RecordedAttempt[]): string {
  return plainColumn(attempts, ({ callback }) => callback.callbackId)
}

function claimsOf(attempts: readonly RecordedAttempt[]): string {
  return plainColumn(attempts, ({ callback }) => callback.claimId)
}

async function writeAttempts(transaction: Queryable, attempts: readonly RecordedAttempt[]): Promise<void> {
  await transaction.query({
    name: 'write-callback-attempts',
    text: `
insert into callback_attempts (merchant_id, callback_id, attempt, started_at, duration_ms, outcome, http_status,
                               detail, answer, is_resend)
select *
  from unnest($1::text[], $2::uuid[], $3::integer[], $4::bigint[], $5::integer[], $6::text[], $7::smallint[],
              $8::text[], $9::bytea[], $10::boolean[])`,
    values: [
      ...attemptsOf(attempts),
      plainColumn(attempts, ({ delivery }) => Math.round(delivery.durationMs)),
      plainColumn(attempts, outcomeWord),
      plainColumn(attempts, httpStatusOf),
      attempts.map(({ delivery }) => (delivery.kind === 'unreachable' ? delivery.detail : null)),
      attempts.map(({ delivery }) =>
        delivery.kind === 'answered' ? delivery.answer.subarray(0, answerBytesKept) : null,
      ),
      plainColumn(attempts, ({ callback }) => callback.isResend),
    ],
  })
}

/** A first attempt that was acknowledged without a warning is stored only as the attempt (see callback-state.ts). */
function isToBeRecorded({ callback, outcome: { verdict } }: RecordedAttempt): boolean {
  const isUsual = verdict.kind === 'acknowledged' && !verdict.isWarned
  return !isUsual || callback.progress.attemptsMade > 0 || callback.isResend || callback.wasHeld
}

async function recordAtCallbacks(
  transaction: Queryable,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  await transaction.query({
    name: 'record-attempts-at-callbacks',
    text: `
update callbacks c
   set attempts_made = d.attempt, retries_made = d.retries_made,
       first_attempt_at = coalesce(c.first_attempt_at, d.started_at),
       last_attempt_at = d.started_at, next_attempt_at = d.next_attempt_at, last_outcome = d.outcome,
       last_http_status = d.http_status, held_reason = null,
       is_warned = case when d.delivered_at is null then c.is_warned else d.is_warned end,
       delivered_at = coalesce(c.delivered_at, d.delivered_at),
       exhausted_at = case when d.delivered_at is null then coalesce(c.exhausted_at, d.exhausted_at) end
  from unnest($1::text[], $2::uuid[], $3::integer[], $4::bigint[], $5::text[], $6::smallint[], $7::smallint[],
              $8::bigint[], $9::bigint[], $10::bigint[], $11::boolean[])
    as d (merchant_id, callback_id, attempt, started_at, outcome, http_status, retries_made, next_attempt_at,
          delivered_at, exhausted_at, is_warned)
 where c.merchant_id = d.merchant_id and c.callback_id = d.callback_id and c.merchant_id = any ($1::text[])`,
    values: [
      ...attemptsOf(attempts),
      plainColumn(attempts, outcomeWord),
      plainColumn(attempts, httpStatusOf),
      plainColumn(attempts, ({ outcome }) => outcome.retriesMade),
      plainColumn(attempts, ({ outcome }) => outcome.nextAttemptAtMs ?? null),
      plainColumn(attempts, ({ outcome: { verdict }, nowMs }) =>
        verdict.kind === 'acknowledged' ? nowMs : null,
      ),
      plainColumn(attempts, ({ outcome: { state }, nowMs }) => (state === 'exhausted' ? nowMs : null)),
      plainColumn(
        attempts,
        ({ outcome: { verdict } }) => verdict.kind === 'acknowledged' && verdict.isWarned,
      ),
    ],
  })
}

function attemptsOf(attempts: readonly RecordedAttempt[]): string[] {
  return [
    plainColumn(attempts, ({ callback }) => callback.merchantId),
    idsOf(attempts),
    plainColumn(attempts, ({ callback }) => callback.progress.attemptsMade + 1),
    plainColumn(attempts, ({ startedAtMs }) => startedAtMs),
  ]
}

function outcomeWord({ outcome: { verdict } }: RecordedAttempt): string {
  return verdict.kind === 'unreachable' ? verdict.reason : verdict.kind
}

function httpStatusOf({ delivery }: RecordedAttempt): number | null {
  return delivery.kind === 'answered' ? delivery.httpStatus : null
}

function plainColumn(
  attempts: readonly RecordedAttempt[],
  column: (attempt: RecordedAttempt) => string | number | boolean | null,
): string {
  return plainArray(attempts.map(column))
}
