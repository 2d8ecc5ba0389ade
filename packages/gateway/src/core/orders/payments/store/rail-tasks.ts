// The small table of questions to rails. Workers claim with a lease and a claim id, within each rail's capacity;
// writes with another claim id change nothing.
import type { Queryable } from '../../../../platform/database/pool.ts'
import { columnsOf, prepared } from '../../../../platform/database/sql.ts'
import type { ClaimedTask, RailTask } from '../rules/rail-task.ts'

interface TaskRow {
  task_id: string
  kind: RailTask['kind']
  rail_id: string
  merchant_id: string
  payment_id: string
  transaction_id: string
  created_at: string
  claim_id: string
  claims: number
  failures: number
}

export interface NewTask extends RailTask {
  readonly dueAtMs: number
  /** Set if the creator asks at once, so that no other worker claims it before the lease ends. */
  readonly claimId?: string
}

export async function insertRailTasks(transaction: Queryable, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return
  await transaction.query({
    name: 'insert-rail-tasks',
    text: `
insert into rail_tasks (task_id, kind, rail_id, merchant_id, payment_id, transaction_id, created_at, due_at, claim_id,
                        claims)
select *, case when t.claim_id is null then 0 else 1 end
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
              $9::uuid[])
    as t (task_id, kind, rail_id, merchant_id, payment_id, transaction_id, created_at, due_at, claim_id)
    on conflict (task_id) do update set due_at = least(rail_tasks.due_at, excluded.due_at), is_woken = true`,
    values: [
      tasks.map(({ taskId }) => taskId),
      tasks.map(({ kind }) => kind),
      tasks.map(({ railId }) => railId),
      tasks.map(({ merchantId }) => merchantId),
      tasks.map(({ paymentId }) => paymentId),
      tasks.map(({ transactionId }) => transactionId),
      tasks.map(({ createdAtMs }) => createdAtMs),
      tasks.map(({ dueAtMs }) => dueAtMs),
      tasks.map(({ claimId }) => claimId ?? null),
    ],
  })
}

/** Makes tasks due now; a claimed one is due when its claim ends. Returns how many there were. */
export async function wakeRailTasks(
  transaction: Queryable,
  taskIds: readonly string[],
  railId?: string,
): Promise<number> {
  const { rowCount } = await transaction.query({
    name: 'wake-rail-tasks',
    text: `
update rail_tasks
   set is_woken = true, due_at = case when claim_id is null then 0 else due_at end
 where task_id = any ($1::text[]) and ($2::text is null or rail_id = $2)`,
    values: [taskIds, railId ?? null],
  })
  return rowCount
}

export interface TaskClaiming {
  readonly claimId: string
  readonly nowMs: number
  readonly leaseMs: number
}

/** Due tasks within each rail's limit, including those whose lease ended. */
export async function claimRailTasks(
  database: Queryable,
  { claimId, nowMs, leaseMs }: TaskClaiming,
  limits: ReadonlyMap<string, number>,
): Promise<ClaimedTask[]> {
  const { rows } = await database.query<TaskRow>({
    name: 'claim-rail-tasks',
    text: `
update rail_tasks t
   set claim_id = $1, due_at = $3, claims = t.claims + 1, is_woken = false
  from unnest($4::text[], $5::integer[]) as r (rail_id, most)
 cross join lateral (select task_id
                       from rail_tasks
                      where rail_id = r.rail_id and due_at <= $2
                      order by due_at
                      limit r.most
                        for update skip locked) as due
 where t.task_id = due.task_id
returning t.*`,
    values: [claimId, nowMs, nowMs + leaseMs, [...limits.keys()], [...limits.values()]],
  })
  return rows.map(toTask)
}

export interface OneClaim extends TaskClaiming {
  readonly taskId: string
}

/** Due or not, unless another worker holds them. */
export async function claimTheseRailTasks(
  database: Queryable,
  wanted: readonly OneClaim[],
): Promise<(ClaimedTask | undefined)[]> {
  const ends = wanted.map((claim) => ({ ...claim, leaseEndsAtMs: claim.nowMs + claim.leaseMs }))
  const [tasks, claims, times, leaseEnds] = columnsOf(ends, 'taskId', 'claimId', 'nowMs', 'leaseEndsAtMs')
  const { rows } = await database.query<TaskRow>(prepared('claim-these-rail-tasks')`
update rail_tasks t
   set claim_id = c.claim_id, due_at = c.lease_end, claims = t.claims + 1, is_woken = false
  from unnest(${tasks}::text[], ${claims}::uuid[], ${times}::bigint[], ${leaseEnds}::bigint[])
    as c (task_id, claim_id, now, lease_end)
 where t.task_id = c.task_id and (t.claim_id is null or t.due_at <= c.now)
returning t.*`)
  const claimed = new Map(rows.map((row) => [row.claim_id, toTask(row)]))
  return wanted.map(({ claimId }) => claimed.get(claimId))
}

export interface Postponed {
  readonly task: ClaimedTask
  readonly dueAtMs: number
  readonly failures: number
}

/** Releases claims until then, or at once if they were woken meanwhile. Returns the claims that were still held. */
export async function postponeRailTasks(
  transaction: Queryable,
  postponed: readonly Postponed[],
): Promise<ReadonlySet<string>> {
  if (postponed.length === 0) return new Set()
  const { rows } = await transaction.query<{ task_id: string }>({
    name: 'postpone-rail-tasks',
    text: `
update rail_tasks t
   set claim_id = null, due_at = case when t.is_woken then 0 else p.due_at end, failures = p.failures
  from unnest($1::text[], $2::uuid[], $3::bigint[], $4::integer[]) as p (task_id, claim_id, due_at, failures)
 where t.task_id = p.task_id and t.claim_id = p.claim_id
returning t.task_id`,
    values: [
      postponed.map(({ task }) => task.taskId),
      postponed.map(({ task }) => task.claimId),
      postponed.map(({ dueAtMs }) => dueAtMs),
      postponed.map(({ failures }) => failures),
    ],
  })
  return new Set(rows.map((row) => row.task_id))
}

/**
 * Deletes tasks still held by their claimers and returns them. A payment or dispute with a notification during the call stays
 * due, because the rail may have changed its response.
 */
export async function removeRailTasks(
  transaction: Queryable,
  tasks: readonly ClaimedTask[],
): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set()
  const { rows } = await transaction.query<{ task_id: string }>({
    name: 'remove-rail-tasks',
    text: `
delete from rail_tasks t
 using unnest($1::text[], $2::uuid[]) as c (task_id, claim_id)
 where t.task_id = c.task_id and t.claim_id = c.claim_id and not (t.is_woken and t.kind in ('payment', 'dispute'))
returning t.task_id`,
    values: [tasks.map(({ taskId }) => taskId), tasks.map(({ claimId }) => claimId)],
  })
  const removed = new Set(rows.map((row) => row.task_id))
  const left = tasks.filter(({ taskId }) => !removed.has(taskId))
  const woken = await postponeRailTasks(
    transaction,
    left.map((task) => ({ task, dueAtMs: 0, failures: 0 })),
  )
  return new Set([...removed, ...woken])
}

/** The next due time of these rails, or the next end of a lease. */
export async function nextRailTaskDue(
  database: Queryable,
  railIds: readonly string[],
): Promise<number | undefined> {
  const { rows } = await database.query<{ next: string | null }>({
    name: 'next-rail-task-due',
    text: 'select min(due_at) as next from rail_tasks where rail_id = any ($1::text[])',
    values: [railIds],
  })
  const next = rows[0]?.next
  return next ? Number(next) : undefined
}

function toTask(row: TaskRow): ClaimedTask {
  return {
    taskId: row.task_id,
    kind: row.kind,
    railId: row.rail_id,
    merchantId: row.merchant_id,
    paymentId: row.payment_id,
    transactionId: row.transaction_id,
    createdAtMs: Number(row.created_at),
    claimId: row.claim_id,
    claims: row.claims,
    failures: row.failures,
  }
}
