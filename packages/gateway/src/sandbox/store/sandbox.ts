// Shifts the times of one order into the past, as if time had passed for it.
import { callbacksQueued } from '../../core/callbacks/store/callbacks.ts'
import { type Publish, unpublished } from '../../core/changes/rules/change.ts'
import { commitAndPublish } from '../../core/changes/store/commit.ts'
import type { OrderKey } from '../../core/orders/rules/order.ts'
import type { Pool, Queryable } from '../../platform/database/pool.ts'
import { sql } from '../../platform/database/sql.ts'
import { deadlock } from '../../platform/database/transient.ts'
import { codeOf } from '../../platform/runtime/errors.ts'

export type SandboxStore = ReturnType<typeof makeSandboxStore>

export function makeSandboxStore(database: Pool, publish: Publish = unpublished) {
  return {
    /**
     * Shifts the gateway's own times of this order into the past, not the merchant's. False if the order does not
     * exist.
     */
    async advanceOrder(shift: Shift): Promise<boolean> {
      for (let tries = 1; ; tries++)
        try {
          return await commitAndPublish(database, publish, (transaction) => advanceOrder(transaction, shift))
        } catch (error) {
          if (tries === maxTries || codeOf(error) !== deadlock) throw error
        }
    },
  }
}

/** Workers lock the same tables in other orders. A deadlock rolls everything back, so the transaction is repeated. */
const maxTries = 5

interface Shift extends OrderKey {
  readonly milliseconds: number
}

/** Transfers and audit entries do not move: the books keep the real time. */
const shifts = [
  `update authorizations set submitted_at = submitted_at - $3, due_at = due_at - $3`,
  `update captures set captured_at = captured_at - $3`,
  `update rail_tasks set created_at = created_at - $3, due_at = due_at - $3`,
  `update rail_attempts
      set started_at = started_at - $3, cancel_asked_at = cancel_asked_at - $3, ended_at = ended_at - $3`,
  `update rail_calls set called_at = called_at - $3`,
  `update order_history set changed_at = changed_at - $3`,
  `update refunds set created_at = created_at - $3, completed_at = completed_at - $3`,
  `update callbacks
      set created_at = created_at - $3, first_attempt_at = first_attempt_at - $3,
          last_attempt_at = last_attempt_at - $3, next_attempt_at = next_attempt_at - $3,
          delivered_at = delivered_at - $3, exhausted_at = exhausted_at - $3, resent_at = resent_at - $3`,
] as const

async function advanceOrder(transaction: Queryable, { merchantId, paymentId, milliseconds }: Shift) {
  const values = [merchantId, paymentId, milliseconds]
  for (const shift of shifts) {
    await transaction.query({ text: `${shift} where merchant_id = $1 and payment_id = $2`, values })
  }
  const { rows: callbacks } = await transaction.query<{ callback_id: string }>(sql`
select callback_id from callbacks where merchant_id = ${merchantId} and payment_id = ${paymentId}`)
  const callbackIds = callbacks.map((row) => row.callback_id)
  await transaction.query(sql`
update callback_attempts set started_at = started_at - ${milliseconds}
 where merchant_id = ${merchantId} and callback_id = any (${callbackIds}::uuid[])`)
  const { rows: queued } = await transaction.query<{ host: string; destination_id: string }>(sql`
update callback_queue set due_at = due_at - ${milliseconds}
 where callback_id = any (${callbackIds}::uuid[])
returning host, destination_id`)
  const { rowCount } = await transaction.query({
    text: `
update orders
   set expires_at = expires_at - $3, advanced_ms = advanced_ms + $3, created_at = created_at - $3,
       completed_at = completed_at - $3, held_until = held_until - $3
 where merchant_id = $1 and payment_id = $2`,
    values,
  })
  const lanes = queued.map((row) => ({ merchantId, host: row.host, destinationId: row.destination_id }))
  return {
    result: rowCount === 1,
    changes: [{ kind: 'order advanced' as const }, ...callbacksQueued(lanes)],
  }
}
