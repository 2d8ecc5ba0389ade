// Commits the consequences of a rail's responses: attempt, order, ledger, callbacks and the task's claim. A worker
// that lost its claim writes nothing, and a decision on outdated state is repeated.
import { isFinalOrderStatus } from '@tillgate/protocol'
import { callbacksQueued, insertCallbacks } from '../../../core/callbacks/store/callbacks.ts'
import type { Change } from '../../../core/changes/rules/change.ts'
import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import { type AccountKey, accountKeyOf, type Transfer } from '../../../core/ledger/rules/transfer.ts'
import { insertTransfers } from '../../../core/ledger/store/ledger.ts'
import { failCapture, recordCaptured } from '../../../core/orders/captures/store/captures.ts'
import type { ClaimedTask, RailCall } from '../../../core/orders/payments/rules/rail-task.ts'
import {
  insertRailTasks,
  postponeRailTasks,
  removeRailTasks,
} from '../../../core/orders/payments/store/rail-tasks.ts'
import type { RefundChange } from '../../../core/orders/refunds/rules/refund.ts'
import { endRefunds, refundChanged } from '../../../core/orders/refunds/store/refunds.ts'
import type { Order } from '../../../core/orders/rules/order.ts'
import { callbacksOf, changeWithoutCallbacks, statusesChanged } from '../../../core/orders/store/orders.ts'
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'
import { byMerchant } from '../../../platform/database/tables.ts'
import type { Decision, OrderAndAttempt } from '../rules/attempt.ts'
import { insertCalls } from './rail-calls.ts'

export interface Decided {
  readonly decision?: Decision | undefined
  /** The order and attempt as they were when the outcome was decided. */
  readonly before?: OrderAndAttempt | undefined
  readonly refund?: RefundChange | undefined
}

export interface RailOutcome extends Decided {
  readonly task: ClaimedTask
  readonly calls: readonly RailCall[]
  readonly emails?: readonly NewEmail[]
  /** Undefined: no further questions. */
  readonly next: { readonly dueAtMs: number; readonly failures: number } | undefined
}

/** The order or the attempt changed meanwhile: load and decide again. */
export class RailRaceLost extends Error {}

/** Opened before the transaction that uses them. */
export function accountsOf({ debitAccountId, creditAccountId }: Transfer): AccountKey[] {
  return [debitAccountId, creditAccountId].map(accountKeyOf)
}

export async function commitOutcomes(transaction: Queryable, all: readonly RailOutcome[]) {
  // Locks orders first, like every transaction that ends an order, to prevent deadlocks. Ended orders stay unlocked,
  // because refunds lock them after the accounts.
  await lockOrders(
    transaction,
    all.flatMap(({ decision, before }) =>
      decision && before && !isFinalOrderStatus(before.order.status) ? before.order : [],
    ),
  )
  const given = all.map((outcome) => outcome.task)
  const postponed = all.flatMap(({ task, next }) => (next ? [{ task, ...next }] : []))
  const ours = new Set([
    ...(await removeRailTasks(
      transaction,
      given.filter((_, index) => !all[index]?.next),
    )),
    ...(await postponeRailTasks(transaction, postponed)),
  ])
  const outcomes = all.filter(({ task }) => ours.has(task.taskId))
  await insertCalls(transaction, outcomes)
  await queueEmails(
    transaction,
    outcomes.flatMap(({ emails = [] }) => emails),
  )
  const changes = await commitDecisions(transaction, outcomes)
  return {
    result: given.map(({ taskId }) => ours.has(taskId)),
    changes: postponed.length > 0 ? [...changes, { kind: 'rail task' as const }] : changes,
  }
}

export async function commitDecisions(
  transaction: Queryable,
  outcomes: readonly Decided[],
): Promise<readonly Change[]> {
  const decisions = outcomes.flatMap(({ decision }) => decision ?? [])
  const refunds = outcomes.flatMap(({ refund }) => refund ?? [])
  if (decisions.length === 0 && refunds.length === 0) return []
  await changeAttempts(transaction, outcomes)
  await freeOrders(transaction, outcomes)
  const transfers = [
    ...decisions.flatMap((decision) => decision.transfers),
    ...refunds.flatMap(({ end }) => end ?? []),
  ]
  await insertTransfers(transaction, transfers)
  for (const { decision, before } of outcomes)
    if (decision && before) await changeCaptures(transaction, decision, before)
  // An immediate approval passes through confirming.
  const changes = decisions.flatMap((decision) => decision.changes.at(-1) ?? [])
  const passing = decisions.flatMap((decision) => decision.changes.slice(0, -1))
  const won = await changeWithoutCallbacks(transaction, changes, passing)
  if (won.length !== changes.length) throw new RailRaceLost('the order changed meanwhile')
  for (const { decision, before } of outcomes)
    if (decision?.heldUntilMs !== undefined && before)
      await holdUntil(transaction, before.order, decision.heldUntilMs)
  const lanes = await insertCallbacks(transaction, [
    ...callbacksOf(decisions.flatMap(({ changes }) => changes)),
    ...refunds.flatMap(({ callback }) => callback ?? []),
  ])
  const tasks = decisions.flatMap(({ newTask }) =>
    newTask ? [{ ...newTask, dueAtMs: newTask.createdAtMs }] : [],
  )
  await insertRailTasks(transaction, tasks)
  await endRefunds(transaction, refunds, transfers)
  return [
    ...outcomes.flatMap(pageChanged),
    ...statusesChanged(decisions.flatMap((decision) => decision.changes)),
    ...refunds.map(refundChanged),
    ...(tasks.length > 0 ? [{ kind: 'rail task' as const }] : []),
    ...callbacksQueued(lanes),
  ]
}

/** The attempt's appearance or a capture changed, but not the order's status. */
function pageChanged({ decision, before }: Decided): readonly Change[] {
  const isChanged = decision?.attempt ?? decision?.captured ?? decision?.captureFailure
  if (!isChanged || !before || decision?.changes.length !== 0) return []
  const { merchantId, paymentId } = before.order
  return [{ kind: 'order', merchantId, paymentId }]
}

async function changeCaptures(
  transaction: Queryable,
  { captured, captureFailure }: Decision,
  { order }: OrderAndAttempt,
): Promise<void> {
  if (captureFailure !== undefined) await failCapture(transaction, order, captureFailure)
  if (captured && !(await recordCaptured(transaction, captured)))
    throw new RailRaceLost('the order changed meanwhile')
}

async function holdUntil(transaction: Queryable, { merchantId, paymentId }: Order, heldUntilMs: number) {
  await transaction.query(sql`
update orders set held_until = ${heldUntilMs}
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and status = 'confirming'`)
}

/** Each must be unchanged since the decision. One statement per merchant, because a lock cannot span shards. */
export async function lockOrders(transaction: Queryable, orders: readonly Order[]): Promise<void> {
  for (const [merchantId, theirs] of byMerchant(orders)) {
    const { rowCount } = await transaction.query({
      name: 'lock-orders-of-rails',
      text: `
select 1
  from orders o
  join unnest($2::text[], $3::text[], $4::text[]) as k (payment_id, status, open_attempt)
    on o.payment_id = k.payment_id and o.status = k.status and o.open_attempt is not distinct from k.open_attempt
 where o.merchant_id = $1
 order by o.payment_id
   for update of o`,
      values: [
        merchantId,
        theirs.map(({ paymentId }) => paymentId),
        theirs.map(({ status }) => status),
        theirs.map(({ openAttempt }) => openAttempt ?? null),
      ],
    })
    if (rowCount !== theirs.length) throw new RailRaceLost('the order changed meanwhile')
  }
}

/** Each must be unchanged since the decision. */
async function changeAttempts(transaction: Queryable, outcomes: readonly Decided[]): Promise<void> {
  const changed = outcomes.flatMap(({ decision, before }) =>
    decision?.attempt && before ? [{ before: before.attempt, after: decision.attempt }] : [],
  )
  if (changed.length === 0) return
  const { rowCount } = await transaction.query({
    name: 'change-rail-attempts',
    text: `
update rail_attempts a
   set status = c.status, reference = c.reference, next_action = c.next_action::jsonb, reason = c.reason,
       return_id = c.return_id, ended_at = c.ended_at,
       cancel_asked_at = case when c.status = 'authorized' then null else a.cancel_asked_at end
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::bigint[])
    as c (merchant_id, transaction_id, before, status, reference, next_action, reason, return_id, ended_at)
 where a.merchant_id = c.merchant_id and a.transaction_id = c.transaction_id and a.status = c.before
   and a.merchant_id = any ($1::text[])`,
    values: [
      changed.map(({ after }) => after.merchantId),
      changed.map(({ after }) => after.transactionId),
      changed.map(({ before }) => before.status),
      changed.map(({ after }) => after.status),
      changed.map(({ after }) => after.reference ?? null),
      changed.map(({ after }) => (after.nextAction ? JSON.stringify(after.nextAction) : null)),
      changed.map(({ after }) => after.reason ?? null),
      changed.map(({ after }) => after.returnId ?? null),
      changed.map(({ after }) => after.endedAtMs ?? null),
    ],
  })
  if (rowCount !== changed.length) throw new RailRaceLost('the attempt changed meanwhile')
}

/** Orders whose attempt ended and that can be paid another way. */
async function freeOrders(transaction: Queryable, outcomes: readonly Decided[]): Promise<void> {
  const freed = outcomes.flatMap(({ decision, before }) =>
    decision?.freesOrder && before ? before.attempt : [],
  )
  if (freed.length === 0) return
  await transaction.query({
    name: 'free-orders-of-rails',
    text: `
update orders o
   set open_attempt = null
  from unnest($1::text[], $2::text[], $3::text[]) as f (merchant_id, payment_id, transaction_id)
 where o.merchant_id = f.merchant_id and o.payment_id = f.payment_id and o.open_attempt = f.transaction_id
   and o.merchant_id = any ($1::text[])`,
    values: [
      freed.map(({ merchantId }) => merchantId),
      freed.map(({ paymentId }) => paymentId),
      freed.map(({ transactionId }) => transactionId),
    ],
  })
}
