// Records every call to a rail with its outcome, for the order's page.

import type { RailCall, RailTask } from '../../../core/orders/payments/rules/rail-task.ts'
import type { OrderKey } from '../../../core/orders/rules/order.ts'
import type { Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { columnsOf, prepared, sql } from '../../../platform/database/sql.ts'

export interface RecordedRailCall extends RailCall {
  readonly railId: string
  readonly taskId: string
}

export async function insertCalls(
  transaction: Queryable,
  asked: readonly { readonly task: RailTask; readonly calls: readonly RailCall[] }[],
): Promise<void> {
  const made = asked.flatMap(({ task, calls }) => calls.map((call) => ({ ...task, ...call })))
  if (made.length === 0) return
  const [merchants, payments, ids, rails, tasks, types, times, durations, statuses, outcomes, details] =
    columnsOf(
      made,
      ...(['merchantId', 'paymentId', 'callId', 'railId', 'taskId', 'type', 'calledAtMs'] as const),
      ...(['durationMs', 'httpStatus', 'outcome', 'detail'] as const),
    )
  await transaction.query(prepared('insert-rail-calls')`
insert into rail_calls (merchant_id, payment_id, call_id, rail_id, task_id, type, called_at, duration_ms, http_status,
                        outcome, detail)
select *
  from unnest(${merchants}::text[], ${payments}::text[], ${ids}::uuid[], ${rails}::text[], ${tasks}::text[],
              ${types}::text[], ${times}::bigint[], ${durations}::integer[], ${statuses}::integer[],
              ${outcomes}::text[], ${details}::text[])`)
}

const callShape = rowShape<RecordedRailCall>('call', {
  callId: 'call_id',
  railId: 'rail_id',
  taskId: 'task_id',
  type: 'type',
  calledAtMs: number('called_at'),
  durationMs: number('duration_ms'),
  httpStatus: number('http_status'),
  outcome: 'outcome',
  detail: 'detail',
})

export async function listCalls(
  database: Queryable,
  { merchantId, paymentId }: OrderKey,
  limit: number,
): Promise<RecordedRailCall[]> {
  const { rows } = await database.query(sql`
select ${callShape.columns}
  from rail_calls
 where merchant_id = ${merchantId} and payment_id = ${paymentId}
 order by call_id desc
 limit ${limit}`)
  return rows.map(callShape.read).reverse()
}
