// Attempts at rails in PostgreSQL: begun with the order that names them, and changed together with order, ledger,
// callbacks and the claim on what is to be asked. Answers that come at the same time share a transaction.
import type { NextAction } from '@tillgate/protocol'
import type { Lane } from '../../callbacks/rules/delivery-lanes.ts'
import { commitQueueing, insertCallbacks, type OnQueued } from '../../callbacks/store/callbacks.ts'
import { batched } from '../../database/batching.ts'
import { isDataError } from '../../database/data-error.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { isTransient } from '../../database/transient.ts'
import { type AccountKey, accountKeyOf, effectsOf, type Transfer } from '../../ledger/rules/ledger.ts'
import { addEffects, insertTransfers, lockAccounts, makeAccountOpener } from '../../ledger/store/ledger.ts'
import type { Act } from '../../operators/rules/audit.ts'
import { audited } from '../../operators/store/audit.ts'
import type { OrderKey } from '../../orders/rules/order.ts'
import { changeStatuses } from '../../orders/store/orders.ts'
import type { RefundChange } from '../../refunds/rules/refund.ts'
import { changeRefunds } from '../../refunds/store/refunds.ts'
import type { Attempt, AttemptStatus, Decision } from '../rules/attempt.ts'
import type { ClaimedTask, RailCall, RailTask } from '../rules/rail-task.ts'
import {
  claimRailTask,
  claimRailTasks,
  insertRailTasks,
  type NewTask,
  nextRailTaskDue,
  postponeRailTasks,
  removeRailTasks,
  type TaskClaiming,
  wakeRailTasks,
} from './rail-tasks.ts'

/** What came of asking, to be committed whole. */
export interface RailOutcome {
  readonly task: ClaimedTask
  readonly calls: readonly RailCall[]
  /** Undefined where the answer changed nothing, or there was none. */
  readonly decision?: Decision | undefined
  /** As it was when that was decided. */
  readonly before?: Attempt | undefined
  readonly refund?: RefundChange | undefined
  /** Undefined: nothing more is to be asked. */
  readonly next: { readonly dueAtMs: number; readonly failures: number } | undefined
}

/** Somebody else changed the order or the attempt: load and decide again. */
export class RailRaceLost extends Error {}

export interface BegunAttempt {
  readonly attempt: Attempt
  readonly task: NewTask
}

export interface AttemptKey {
  readonly merchantId: string
  readonly transactionId: string
}

export type RailAttemptStore = ReturnType<typeof makeRailAttemptStore>

export function makeRailAttemptStore(database: Pool, onQueued: OnQueued = () => {}) {
  const openAccounts = makeAccountOpener(database)
  return {
    /** False: the order is not pending any more, or has an open attempt. */
    begin: batched(
      (begun: readonly BegunAttempt[]) =>
        database.transaction((transaction) => beginAttempts(transaction, begun)),
      { maxItems: 100, maxFlights: 1, isItemError: isDataError },
    ),
    findAttempt: batched((keys: readonly AttemptKey[]) => findAttempts(database, keys), {
      ...{ maxItems: 200, maxFlights: 2, isItemError: isDataError },
    }),
    /** The oldest first. */
    listAttempts: (key: OrderKey) => listAttempts(database, key),
    /** The newest last. */
    listCalls: (key: OrderKey, limit: number) => listCalls(database, key, limit),
    /** The consumer wants another way to pay. */
    askToCancel: (key: AttemptKey, nowMs: number) => askToCancel(database, key, nowMs),
    claim: (claiming: TaskClaiming, limits: ReadonlyMap<string, number>) =>
      claimRailTasks(database, claiming, limits),
    claimOne: (taskId: string, claiming: TaskClaiming) => claimRailTask(database, taskId, claiming),
    nextDue: (railIds: readonly string[]) => nextRailTaskDue(database, railIds),
    /** False: nothing of this rail waits under this id. */
    wake: async (railId: string, taskId: string) => (await wakeRailTasks(database, [taskId], railId)) > 0,
    /** What is over is asked about once more. */
    askAgain: (task: RailTask, nowMs: number) => insertRailTasks(database, [{ ...task, dueAtMs: nowMs }]),
    /** The task of an attempt, which a rail names by its id alone. Undefined: it is none of this rail. */
    findTask: (railId: string, transactionId: string) => findTask(database, railId, transactionId),
    /** False: it is not held. */
    returnHeld: (attempt: Attempt, given: { readonly returnId: string; readonly nowMs: number }, act: Act) =>
      audited(database, act, (transaction) => returnHeld(transaction, attempt, given)),
    /** False: the claim was lost, and nothing was written. Throws RailRaceLost. */
    commit: batched(
      async (outcomes: readonly RailOutcome[]) => {
        await openAccounts(
          outcomes.flatMap(({ decision }) => (decision?.transfers ?? []).flatMap(accountsOf)),
        )
        return commitQueueing(database, onQueued, (transaction) => commitOutcomes(transaction, outcomes))
      },
      // They meet in the rails' and the merchants' accounts, so a second would wait for the first.
      { maxItems: 100, maxFlights: 1, isItemError: (error) => !isTransient(error) },
    ),
  }
}

function accountsOf({ debitAccountId, creditAccountId }: Transfer): AccountKey[] {
  return [debitAccountId, creditAccountId].map(accountKeyOf)
}

async function beginAttempts(transaction: Queryable, begun: readonly BegunAttempt[]): Promise<boolean[]> {
  const attempts = begun.map(({ attempt }) => attempt)
  const { rows } = await transaction.query<{ transaction_id: string }>({
    name: 'begin-rail-attempts',
    text: `
with given as (
  select *
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::text[], $8::bigint[])
      as g (merchant_id, payment_id, transaction_id, rail_id, amount_minor, currency, locale, started_at)
), taken as (
  update orders o
     set open_attempt = g.transaction_id
    from given g
   where o.merchant_id = g.merchant_id and o.payment_id = g.payment_id and o.status = 'pending'
     and o.open_attempt is null and g.started_at < o.expires_at
  returning o.merchant_id, o.payment_id, o.open_attempt as transaction_id
)
insert into rail_attempts (merchant_id, payment_id, transaction_id, rail_id, amount_minor, currency, locale,
                           started_at, status)
select g.*, 'starting' from given g join taken using (merchant_id, payment_id, transaction_id)
returning transaction_id`,
    values: [
      attempts.map(({ merchantId }) => merchantId),
      attempts.map(({ paymentId }) => paymentId),
      attempts.map(({ transactionId }) => transactionId),
      attempts.map(({ railId }) => railId),
      attempts.map(({ amountMinor }) => amountMinor.toString()),
      attempts.map(({ currency }) => currency),
      attempts.map(({ locale }) => locale),
      attempts.map(({ startedAtMs }) => startedAtMs),
    ],
  })
  const taken = new Set(rows.map((row) => row.transaction_id))
  const won = begun.filter(({ attempt }) => taken.has(attempt.transactionId))
  await insertRailTasks(
    transaction,
    won.map(({ task }) => task),
  )
  return attempts.map(({ transactionId }) => taken.has(transactionId))
}

async function askToCancel(database: Pool, key: AttemptKey, nowMs: number): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query({
      text: `
update rail_attempts set cancel_asked_at = $3
 where merchant_id = $1 and transaction_id = $2 and ended_at is null and cancel_asked_at is null`,
      values: [key.merchantId, key.transactionId, nowMs],
    })
    await wakeRailTasks(transaction, [key.transactionId])
  })
}

async function returnHeld(
  transaction: Queryable,
  { merchantId, transactionId, paymentId, railId }: Attempt,
  { returnId, nowMs }: { readonly returnId: string; readonly nowMs: number },
): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
update rail_attempts set status = 'returning', return_id = $3
 where merchant_id = $1 and transaction_id = $2 and status = 'held'`,
    values: [merchantId, transactionId, returnId],
  })
  if (rowCount === 0) return false
  const task = { taskId: returnId, kind: 'return', railId, merchantId, paymentId, transactionId } as const
  await insertRailTasks(transaction, [{ ...task, createdAtMs: nowMs, dueAtMs: nowMs }])
  return true
}

async function commitOutcomes(transaction: Queryable, all: readonly RailOutcome[]) {
  // The orders first, as whoever ends an order does, so that nobody waits in a circle.
  await lockOrders(
    transaction,
    all.filter(({ decision }) => decision).map(({ task }) => task),
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
  const queued = await commitDecisions(transaction, outcomes)
  return { result: given.map(({ taskId }) => ours.has(taskId)), queued }
}

async function commitDecisions(transaction: Queryable, outcomes: readonly RailOutcome[]): Promise<Lane[]> {
  const decisions = outcomes.flatMap(({ decision }) => decision ?? [])
  const refunds = outcomes.flatMap(({ refund }) => refund ?? [])
  if (decisions.length === 0 && refunds.length === 0) return []
  const queued: Lane[] = []
  await changeAttempts(transaction, outcomes)
  await freeOrders(transaction, outcomes)
  const transfers = [
    ...decisions.flatMap((decision) => decision.transfers),
    ...refunds.flatMap(({ end }) => end ?? []),
  ]
  await insertTransfers(transaction, transfers)
  // One change of an order after the other: what is approved at once passes through confirming.
  for (const step of [0, 1]) {
    const changes = decisions.flatMap((decision) => decision.changes[step] ?? [])
    const changed = await changeStatuses(transaction, changes)
    if (changed.won.length !== changes.length) throw new RailRaceLost('the order changed meanwhile')
    queued.push(...changed.queued)
  }
  queued.push(
    ...(await insertCallbacks(
      transaction,
      refunds.flatMap(({ callback }) => callback ?? []),
    )),
  )
  await insertRailTasks(
    transaction,
    decisions.flatMap(({ newTask }) => (newTask ? [{ ...newTask, dueAtMs: newTask.createdAtMs }] : [])),
  )
  // As late as can be, for many meet here; and before the refunds' shares of the orders, as everywhere.
  const effects = effectsOf(transfers)
  await lockAccounts(transaction, effects.keys())
  await addEffects(transaction, effects)
  await changeRefunds(transaction, refunds)
  return queued
}

async function lockOrders(transaction: Queryable, keys: readonly OrderKey[]): Promise<void> {
  if (keys.length === 0) return
  await transaction.query({
    name: 'lock-orders-of-rails',
    text: `
select
  from orders o
  join (select * from unnest($1::text[], $2::text[]) as k (merchant_id, payment_id)) as k
    on o.merchant_id = k.merchant_id and o.payment_id = k.payment_id
 order by o.payment_id
   for update of o`,
    values: [keys.map(({ merchantId }) => merchantId), keys.map(({ paymentId }) => paymentId)],
  })
}

/** Each must still be as it was when its change was decided. */
async function changeAttempts(transaction: Queryable, outcomes: readonly RailOutcome[]): Promise<void> {
  const changed = outcomes.flatMap(({ decision, before }) =>
    decision?.attempt && before ? [{ before, after: decision.attempt }] : [],
  )
  if (changed.length === 0) return
  const { rowCount } = await transaction.query({
    name: 'change-rail-attempts',
    text: `
update rail_attempts a
   set status = c.status, reference = c.reference, next_action = c.next_action::jsonb, reason = c.reason,
       return_id = c.return_id, ended_at = c.ended_at
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::bigint[])
    as c (merchant_id, transaction_id, before, status, reference, next_action, reason, return_id, ended_at)
 where a.merchant_id = c.merchant_id and a.transaction_id = c.transaction_id and a.status = c.before`,
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

/** Those whose attempt ended and that may be paid otherwise. */
async function freeOrders(transaction: Queryable, outcomes: readonly RailOutcome[]): Promise<void> {
  const freed = outcomes.flatMap(({ decision, before }) => (decision?.freesOrder && before ? [before] : []))
  if (freed.length === 0) return
  await transaction.query({
    name: 'free-orders-of-rails',
    text: `
update orders o
   set open_attempt = null
  from unnest($1::text[], $2::text[], $3::text[]) as f (merchant_id, payment_id, transaction_id)
 where o.merchant_id = f.merchant_id and o.payment_id = f.payment_id and o.open_attempt = f.transaction_id`,
    values: [
      freed.map(({ merchantId }) => merchantId),
      freed.map(({ paymentId }) => paymentId),
      freed.map(({ transactionId }) => transactionId),
    ],
  })
}

async function insertCalls(transaction: Queryable, outcomes: readonly RailOutcome[]): Promise<void> {
  const made = outcomes.flatMap(({ task, calls }) => calls.map((call) => ({ task, call })))
  if (made.length === 0) return
  await transaction.query({
    name: 'insert-rail-calls',
    text: `
insert into rail_calls (merchant_id, payment_id, call_id, rail_id, task_id, type, called_at, duration_ms, http_status,
                        outcome, detail)
select *
  from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::integer[],
              $9::integer[], $10::text[], $11::text[])`,
    values: [
      made.map(({ task }) => task.merchantId),
      made.map(({ task }) => task.paymentId),
      made.map(({ call }) => call.callId),
      made.map(({ task }) => task.railId),
      made.map(({ task }) => task.taskId),
      made.map(({ call }) => call.type),
      made.map(({ call }) => call.calledAtMs),
      made.map(({ call }) => call.durationMs),
      made.map(({ call }) => call.httpStatus ?? null),
      made.map(({ call }) => call.outcome),
      made.map(({ call }) => call.detail ?? null),
    ],
  })
}

interface AttemptRow {
  merchant_id: string
  payment_id: string
  transaction_id: string
  rail_id: string
  status: AttemptStatus
  amount_minor: string
  currency: string
  locale: string
  reference: string | null
  next_action: NextAction | null
  reason: string | null
  cancel_asked_at: string | null
  return_id: string | null
  started_at: string
  ended_at: string | null
}

const columns = `a.merchant_id, a.payment_id, a.transaction_id, a.rail_id, a.status, a.amount_minor, a.currency, a.locale,
       a.reference, a.next_action, a.reason, a.cancel_asked_at, a.return_id, a.started_at, a.ended_at`

async function findAttempts(
  database: Queryable,
  keys: readonly AttemptKey[],
): Promise<(Attempt | undefined)[]> {
  const { rows } = await database.query<AttemptRow>({
    name: 'find-rail-attempts',
    text: `
select ${columns}
  from unnest($1::text[], $2::text[]) as k (merchant_id, transaction_id)
  join rail_attempts a using (merchant_id, transaction_id)`,
    values: [keys.map(({ merchantId }) => merchantId), keys.map(({ transactionId }) => transactionId)],
  })
  const found = new Map(rows.map((row) => [`${row.merchant_id} ${row.transaction_id}`, toAttempt(row)]))
  return keys.map(({ merchantId, transactionId }) => found.get(`${merchantId} ${transactionId}`))
}

async function listAttempts(database: Queryable, { merchantId, paymentId }: OrderKey): Promise<Attempt[]> {
  const { rows } = await database.query<AttemptRow>({
    text: `
select ${columns}
  from rail_attempts a
 where a.merchant_id = $1 and a.payment_id = $2
 order by a.started_at, a.transaction_id`,
    values: [merchantId, paymentId],
  })
  return rows.map(toAttempt)
}

export interface RecordedRailCall extends RailCall {
  readonly railId: string
  readonly taskId: string
}

async function listCalls(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
  limit: number,
): Promise<RecordedRailCall[]> {
  const { rows } = await database.query<{
    call_id: string
    rail_id: string
    task_id: string
    type: string
    called_at: string
    duration_ms: number
    http_status: number | null
    outcome: string
    detail: string | null
  }>({
    text: `
select call_id, rail_id, task_id, type, called_at, duration_ms, http_status, outcome, detail
  from rail_calls
 where merchant_id = $1 and payment_id = $2
 order by call_id desc
 limit $3`,
    values: [merchantId, paymentId, limit],
  })
  return rows
    .map((row) => ({
      callId: row.call_id,
      railId: row.rail_id,
      taskId: row.task_id,
      type: row.type,
      calledAtMs: Number(row.called_at),
      durationMs: row.duration_ms,
      httpStatus: row.http_status ?? undefined,
      outcome: row.outcome,
      detail: row.detail ?? undefined,
    }))
    .reverse()
}

async function findTask(
  database: Queryable,
  railId: string,
  transactionId: string,
): Promise<RailTask | undefined> {
  const { rows } = await database.query<{
    merchant_id: string
    payment_id: string
    transaction_id: string
    started_at: string
  }>({
    // Across merchants, by the index rail_attempts_transaction.
    text: `
select merchant_id, payment_id, transaction_id, started_at
  from rail_attempts
 where rail_id = $1 and transaction_id = $2`,
    values: [railId, transactionId],
  })
  const row = rows[0]
  return (
    row && {
      taskId: row.transaction_id,
      kind: 'payment',
      railId,
      merchantId: row.merchant_id,
      paymentId: row.payment_id,
      transactionId: row.transaction_id,
      createdAtMs: Number(row.started_at),
    }
  )
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    merchantId: row.merchant_id,
    paymentId: row.payment_id,
    transactionId: row.transaction_id,
    railId: row.rail_id,
    status: row.status,
    amountMinor: BigInt(row.amount_minor),
    currency: row.currency,
    locale: row.locale,
    reference: row.reference ?? undefined,
    nextAction: row.next_action ?? undefined,
    reason: row.reason ?? undefined,
    cancelAskedAtMs: row.cancel_asked_at === null ? undefined : Number(row.cancel_asked_at),
    returnId: row.return_id ?? undefined,
    startedAtMs: Number(row.started_at),
    endedAtMs: row.ended_at === null ? undefined : Number(row.ended_at),
  }
}
