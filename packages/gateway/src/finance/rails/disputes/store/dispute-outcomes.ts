// Commits a rail's response about a dispute: the dispute, the ledger, the order's disputed amount, events, emails and the
// task's claim, in one transaction. A worker that lost its claim writes nothing.
import assert from 'node:assert/strict'
import { callbacksQueued, insertCallbacks } from '../../../../core/callbacks/store/callbacks.ts'
import type { Change } from '../../../../core/changes/rules/change.ts'
import type { NewEmail } from '../../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../../core/emails/store/queue-emails.ts'
import {
  type AccountKey,
  accountIdOf,
  availableMinor,
  effectsOf,
  merchantAccount,
  noBalances,
  owedAccount,
} from '../../../../core/ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts } from '../../../../core/ledger/store/ledger.ts'
import type { ClaimedTask, RailCall } from '../../../../core/orders/payments/rules/rail-task.ts'
import { postponeRailTasks, removeRailTasks } from '../../../../core/orders/payments/store/rail-tasks.ts'
import type { Queryable } from '../../../../platform/database/pool.ts'
import { sql } from '../../../../platform/database/sql.ts'
import { insertCalls } from '../../store/rail-calls.ts'
import type { Dispute, DisputeChange, Means } from '../rules/dispute.ts'
import { findByReference } from './dispute-rows.ts'

export interface DisputeOutcome {
  readonly task: ClaimedTask
  readonly calls: readonly RailCall[]
  /** Undefined: no further questions. */
  readonly next: { readonly dueAtMs: number; readonly failures: number } | undefined
  /** The accounts of the rail and the merchant, opened before the transaction. */
  readonly accounts: readonly AccountKey[]
  /** Undefined if nothing is known of the dispute. */
  readonly answer?: DisputeDecision | undefined
}

export interface DisputeDecision {
  readonly reference: string
  readonly currency: string
  /** The merchant's response that the rail took with this answer. */
  readonly passedOnAtMs: number | undefined
  /** Decides with everything locked. `otherMinor` is disputed by the payment's other disputes. */
  readonly decide: (before: Dispute | undefined, means: Means, otherMinor: bigint) => DecidedDispute
}

export type DecidedDispute =
  | { readonly kind: 'changed'; readonly change: DisputeChange; readonly emails: readonly NewEmail[] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly why: string; readonly emails: readonly NewEmail[] }

export interface CommittedDispute {
  readonly decided: DecidedDispute | undefined
  readonly changes: readonly Change[]
}

export async function commitDispute(
  transaction: Queryable,
  { task, calls, next, accounts, answer }: DisputeOutcome,
): Promise<CommittedDispute | undefined> {
  const ours = next
    ? await postponeRailTasks(transaction, [{ task, ...next }])
    : await removeRailTasks(transaction, [task])
  if (!ours.has(task.taskId)) return undefined
  await insertCalls(transaction, [{ task, calls }])
  const decided = answer && (await decideLocked(transaction, { task, accounts, answer }))
  if (!decided) return { decided, changes: [{ kind: 'rail task' }] }
  if (decided.kind !== 'unchanged') await queueEmails(transaction, decided.emails)
  if (decided.kind !== 'changed') return { decided, changes: [{ kind: 'rail task' }] }
  const lanes = await write(transaction, decided.change)
  const { merchantId, paymentId } = task
  return {
    decided,
    changes: [{ kind: 'order', merchantId, paymentId }, { kind: 'rail task' }, ...callbacksQueued(lanes)],
  }
}

/** Locks the dispute, then accounts, then the order, as refunds do. */
async function decideLocked(
  transaction: Queryable,
  {
    task,
    accounts,
    answer,
  }: Pick<DisputeOutcome, 'task' | 'accounts'> & { readonly answer: DisputeDecision },
): Promise<DecidedDispute> {
  const { merchantId, paymentId, railId } = task
  const { reference, currency, passedOnAtMs } = answer
  const found = await findByReference(transaction, { merchantId, railId, reference }, { isLocked: true })
  if (found && passedOnAtMs !== undefined) {
    await transaction.query(sql`
update disputes set passed_on_at = ${passedOnAtMs} where merchant_id = ${merchantId} and dispute_id = ${found.disputeId}`)
  }
  const balances = await lockAccounts(transaction, accounts.map(accountIdOf))
  const balanceOf = (key: AccountKey) => availableMinor(balances.get(accountIdOf(key)) ?? noBalances)
  const { rows } = await transaction.query<{ disputed_minor: string }>(sql`
select disputed_minor from orders where merchant_id = ${merchantId} and payment_id = ${paymentId} for update`)
  const ownMinor = found && found.status !== 'won' ? found.amountMinor : 0n
  return answer.decide(
    found && { ...found, passedOnAtMs: passedOnAtMs ?? found.passedOnAtMs },
    {
      availableMinor: balanceOf(merchantAccount(merchantId, currency)),
      owedMinor: -balanceOf(owedAccount(merchantId, currency)),
    },
    BigInt(rows[0]?.disputed_minor ?? 0) - ownMinor,
  )
}

async function write(
  transaction: Queryable,
  { dispute, transfers, callbacks, disputedMinor }: DisputeChange,
) {
  await insertTransfers(transaction, transfers)
  await addEffects(transaction, effectsOf(transfers))
  if (disputedMinor !== 0n) {
    const { rowCount } = await transaction.query(sql`
update orders o
   set disputed_minor = o.disputed_minor + ${disputedMinor.toString()}::numeric,
       disputed_over_minor = greatest(0, o.refunded_minor + o.refund_held_minor + o.disputed_minor
                                         + ${disputedMinor.toString()}::numeric - o.payment_amount_minor)
 where o.merchant_id = ${dispute.merchantId} and o.payment_id = ${dispute.paymentId} and o.status = 'success'`)
    assert(rowCount === 1, 'only a paid order is disputed')
  }
  await upsert(transaction, dispute)
  return insertCallbacks(transaction, callbacks)
}

async function upsert(transaction: Queryable, dispute: Dispute): Promise<void> {
  await transaction.query(sql`
insert into disputes (merchant_id, dispute_id, rail_id, reference, payment_id, status, amount_minor, currency, fee_minor,
                      reason, respond_by, opened_at, closed_at, accepts, rounds)
values (${dispute.merchantId}, ${dispute.disputeId}, ${dispute.railId}, ${dispute.reference}, ${dispute.paymentId},
        ${dispute.status}, ${dispute.amountMinor.toString()}, ${dispute.currency}, ${dispute.feeMinor.toString()},
        ${dispute.reason}, ${dispute.respondByMs ?? null}, ${dispute.openedAtMs}, ${dispute.closedAtMs ?? null},
        ${[...dispute.accepts]}, ${dispute.rounds})
    on conflict (merchant_id, dispute_id) do update
   set status = excluded.status, amount_minor = excluded.amount_minor, fee_minor = excluded.fee_minor,
       reason = excluded.reason, respond_by = excluded.respond_by, closed_at = excluded.closed_at,
       accepts = excluded.accepts, rounds = excluded.rounds`)
}
