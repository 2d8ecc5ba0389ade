// Payment attempts at rails: started with their order, and changed together with order, ledger, callbacks and the
// task's claim. Concurrent responses share a transaction.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { commitAndPublish } from '../../../core/changes/store/commit.ts'
import { makeAccountOpener } from '../../../core/ledger/store/ledger.ts'
import type { RailTask } from '../../../core/orders/payments/rules/rail-task.ts'
import {
  claimRailTasks,
  claimTheseRailTasks,
  insertRailTasks,
  type NewTask,
  nextRailTaskDue,
  type OneClaim,
  type TaskClaiming,
  wakeRailTasks,
} from '../../../core/orders/payments/store/rail-tasks.ts'
import type { OrderKey } from '../../../core/orders/rules/order.ts'
import { batched } from '../../../platform/database/batching.ts'
import { isDataError } from '../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { columnsOf, prepared, sql } from '../../../platform/database/sql.ts'
import { isTransient } from '../../../platform/database/transient.ts'
import type { Attempt } from '../rules/attempt.ts'
import { listCalls } from './rail-calls.ts'
import { accountsOf, commitOutcomes, type RailOutcome } from './rail-outcomes.ts'

export interface BegunAttempt {
  readonly attempt: Attempt
  readonly task: NewTask
}

export interface AttemptKey {
  readonly merchantId: string
  readonly transactionId: string
}

export type RailAttemptStore = ReturnType<typeof makeRailAttemptStore>

export function makeRailAttemptStore(database: Pool, publish: Publish = unpublished) {
  const taskDue = () => publish([{ kind: 'rail task' }])
  const openAccounts = makeAccountOpener(database)
  return {
    /** False if the order is not pending or has an open attempt. */
    begin: batched(
      async (begun: readonly BegunAttempt[]) => {
        const won = await database.transaction((transaction) => beginAttempts(transaction, begun))
        if (won.includes(true)) taskDue()
        return won
      },
      { maxItems: 100, maxFlights: 1, isItemError: isDataError },
    ),
    findAttempt: batched((keys: readonly AttemptKey[]) => findAttempts(database, keys), {
      maxItems: 200,
      maxFlights: 2,
      isItemError: isDataError,
    }),
    listAttempts: batched((keys: readonly OrderKey[]) => listAttempts(database, keys), {
      maxItems: 200,
      maxFlights: 2,
      isItemError: isDataError,
    }),
    listCalls: (key: OrderKey, limit: number) => listCalls(database, key, limit),
    askToCancel: (key: AttemptKey, nowMs: number) => askToCancel(database, key, nowMs).then(taskDue),
    claim: (claiming: TaskClaiming, limits: ReadonlyMap<string, number>) =>
      claimRailTasks(database, claiming, limits),
    claimOne: batched((wanted: readonly OneClaim[]) => claimTheseRailTasks(database, wanted), {
      maxItems: 100,
      maxFlights: 1,
      isItemError: isDataError,
    }),
    nextDue: (railIds: readonly string[]) => nextRailTaskDue(database, railIds),
    /** False if no such task of this rail waits. */
    async wake(railId: string, taskId: string): Promise<boolean> {
      const woken = await wakeRailTasks(database, [taskId], railId)
      if (woken > 0) taskDue()
      return woken > 0
    },
    /** Asks once more about an ended attempt. */
    askAgain: (task: RailTask, nowMs: number) =>
      insertRailTasks(database, [{ ...task, dueAtMs: nowMs }]).then(taskDue),
    /** The task of an attempt by its id; undefined if it is not this rail's. */
    findTask: (railId: string, transactionId: string) => findTask(database, railId, transactionId),
    /** False if it is not held, or an operator moved it on. */
    async returnHeld(
      attempt: Attempt,
      given: { readonly returnId: string; readonly nowMs: number },
      entry: AuditEntry,
    ): Promise<boolean> {
      const isDone = await audited(database, entry, (transaction) => returnHeld(transaction, attempt, given))
      if (isDone) taskDue()
      return isDone
    },
    /** False if the claim was lost; nothing was written. Throws RailRaceLost. */
    commit: batched(
      async (outcomes: readonly RailOutcome[]) => {
        await openAccounts(
          outcomes.flatMap(({ decision }) => (decision?.transfers ?? []).flatMap(accountsOf)),
        )
        return commitAndPublish(database, publish, (transaction) => commitOutcomes(transaction, outcomes))
      },
      // All use the rails' and merchants' accounts, so a second flight would wait for the first.
      { maxItems: 100, maxFlights: 1, isItemError: (error) => !isTransient(error) },
    ),
  }
}

async function beginAttempts(transaction: Queryable, begun: readonly BegunAttempt[]): Promise<boolean[]> {
  const attempts = begun.map(({ attempt }) => ({ ...attempt, amount: attempt.amountMinor.toString() }))
  const [merchants, payments, transactions, rails, amounts, currencies, locales, times] = columnsOf(
    attempts,
    ...(['merchantId', 'paymentId', 'transactionId', 'railId', 'amount', 'currency', 'locale'] as const),
    'startedAtMs',
  )
  const { rows } = await transaction.query<{ transaction_id: string }>(prepared('begin-rail-attempts')`
with given as (
  select *
    from unnest(${merchants}::text[], ${payments}::text[], ${transactions}::text[], ${rails}::text[],
                ${amounts}::numeric[], ${currencies}::text[], ${locales}::text[], ${times}::bigint[])
      as g (merchant_id, payment_id, transaction_id, rail_id, amount_minor, currency, locale, started_at)
), taken as (
  update orders o
     set open_attempt = g.transaction_id
    from given g
   where o.merchant_id = g.merchant_id and o.payment_id = g.payment_id and o.status = 'pending'
     and o.open_attempt is null and g.started_at < o.expires_at and o.merchant_id = any (${merchants}::text[])
  returning o.merchant_id, o.payment_id, o.open_attempt as transaction_id
)
insert into rail_attempts (merchant_id, payment_id, transaction_id, rail_id, amount_minor, currency, locale,
                           started_at, status)
select g.*, 'starting' from given g join taken using (merchant_id, payment_id, transaction_id)
returning transaction_id`)
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
    // Tasks before attempts, as when a response is committed.
    await wakeRailTasks(transaction, [key.transactionId])
    await transaction.query(sql`
update rail_attempts set cancel_asked_at = ${nowMs}
 where merchant_id = ${key.merchantId} and transaction_id = ${key.transactionId} and ended_at is null
   and cancel_asked_at is null`)
  })
}

async function returnHeld(
  transaction: Queryable,
  { merchantId, transactionId, paymentId, railId }: Attempt,
  { returnId, nowMs }: { readonly returnId: string; readonly nowMs: number },
): Promise<boolean> {
  // A separate first statement, so that the next one sees what a concurrent correction committed.
  await transaction.query(sql`
select from rail_attempts where merchant_id = ${merchantId} and transaction_id = ${transactionId} for update`)
  const { rowCount } = await transaction.query(sql`
update rail_attempts set status = 'returning', return_id = ${returnId}
 where merchant_id = ${merchantId} and transaction_id = ${transactionId} and status = 'held'
   and not exists (select 1 from corrected_transfers c
                    where c.merchant_id = ${merchantId} and c.transfer_id in (${transactionId}, ${`${transactionId}L`}))`)
  if (rowCount === 0) return false
  const task = { taskId: returnId, kind: 'return', railId, merchantId, paymentId, transactionId } as const
  await insertRailTasks(transaction, [{ ...task, createdAtMs: nowMs, dueAtMs: nowMs }])
  return true
}

const attemptShape = rowShape<Attempt>('attempt', {
  merchantId: 'a.merchant_id',
  paymentId: 'a.payment_id',
  transactionId: 'a.transaction_id',
  railId: 'a.rail_id',
  status: 'a.status',
  amountMinor: bigint('a.amount_minor'),
  currency: 'a.currency',
  locale: 'a.locale',
  reference: 'a.reference',
  nextAction: 'a.next_action',
  reason: 'a.reason',
  cancelAskedAtMs: number('a.cancel_asked_at'),
  returnId: 'a.return_id',
  startedAtMs: number('a.started_at'),
  endedAtMs: number('a.ended_at'),
})

async function findAttempts(
  database: Queryable,
  keys: readonly AttemptKey[],
): Promise<(Attempt | undefined)[]> {
  const [merchants, transactions] = columnsOf(keys, 'merchantId', 'transactionId')
  const { rows } = await database.query(prepared('find-rail-attempts')`
select ${attemptShape.columns}
  from unnest(${merchants}::text[], ${transactions}::text[]) as k (merchant_id, transaction_id)
  join rail_attempts a using (merchant_id, transaction_id)
 where a.merchant_id = any (${merchants}::text[])`)
  const found = new Map(rows.map(attemptShape.read).map((attempt) => [keyOf(attempt), attempt]))
  return keys.map((key) => found.get(keyOf(key)))
}

function keyOf({ merchantId, transactionId }: AttemptKey): string {
  return `${merchantId} ${transactionId}`
}

async function listAttempts(database: Queryable, keys: readonly OrderKey[]): Promise<Attempt[][]> {
  const [merchants, payments] = columnsOf(keys, 'merchantId', 'paymentId')
  const { rows } = await database.query(prepared('list-rail-attempts')`
select ${attemptShape.columns}
  from (select distinct * from unnest(${merchants}::text[], ${payments}::text[]) as k (merchant_id, payment_id)) as k
  join rail_attempts a using (merchant_id, payment_id)
 where a.merchant_id = any (${merchants}::text[])
 order by a.started_at, a.transaction_id`)
  const attempts = rows.map(attemptShape.read)
  return keys.map(({ merchantId, paymentId }) =>
    attempts.filter((each) => each.merchantId === merchantId && each.paymentId === paymentId),
  )
}

const taskShape = rowShape<Omit<RailTask, 'kind'>>('task', {
  taskId: 'transaction_id',
  railId: 'rail_id',
  merchantId: 'merchant_id',
  paymentId: 'payment_id',
  transactionId: 'transaction_id',
  createdAtMs: number('started_at'),
})

/** Searches all merchants with rail_attempts_transaction. */
async function findTask(
  database: Queryable,
  railId: string,
  transactionId: string,
): Promise<RailTask | undefined> {
  const { rows } = await database.query(sql`
select ${taskShape.columns} from rail_attempts where rail_id = ${railId} and transaction_id = ${transactionId}`)
  return rows[0] && { ...taskShape.read(rows[0]), kind: 'payment' }
}
