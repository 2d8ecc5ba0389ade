// Ends payments and refunds: status, money, callback and the claim's removal in one transaction that checks the
// claim. Concurrent ends share it, so that a busy account is updated once.

import { batched } from '../../../../platform/database/batching.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { sql } from '../../../../platform/database/sql.ts'
import { isTransient } from '../../../../platform/database/transient.ts'
import { callbacksQueued, insertCallbacks } from '../../../callbacks/store/callbacks.ts'
import { type Change, unpublished } from '../../../changes/rules/change.ts'
import { commitAndPublish } from '../../../changes/store/commit.ts'
import type { NewEmail } from '../../../emails/rules/email.ts'
import { queueEmails } from '../../../emails/store/queue-emails.ts'
import { type AccountKey, feesAccount, type Transfer } from '../../../ledger/rules/transfer.ts'
import { insertTransfers, makeAccountOpener, type Spent } from '../../../ledger/store/ledger.ts'
import { dayOf } from '../../../wallets/rules/limits.ts'
import type { RefundChange } from '../../refunds/rules/refund.ts'
import { endRefunds, refundChanged } from '../../refunds/store/refunds.ts'
import type { StatusChange } from '../../rules/status-change.ts'
import { changeStatuses, type OrderHooks } from '../../store/orders.ts'
import type { ClaimedAuthorization } from '../rules/authorization.ts'
import {
  type Claiming,
  claimAuthorizations,
  holdAuthorization,
  nextAuthorizationDue,
  type Postponement,
  postponeAuthorization,
  removeClaimed,
} from './authorizations.ts'

export type Decided =
  | {
      readonly kind: 'payment'
      readonly claimed: ClaimedAuthorization
      readonly change: StatusChange
      /** The end of the hold, and the fee. */
      readonly transfers: readonly Transfer[]
    }
  | { readonly kind: 'refund'; readonly claimed: ClaimedAuthorization; readonly change: RefundChange }

export type Settled = Decided & { readonly emails: readonly NewEmail[] }

export type SettlingStore = ReturnType<typeof makeSettlingStore>

export function makeSettlingStore(
  database: Pool,
  { onBatch = () => {}, publish = unpublished }: OrderHooks = {},
) {
  const openAccounts = makeAccountOpener(database)
  return {
    claim: (claiming: Claiming) => claimAuthorizations(database, claiming),
    /** False if the claim was lost; nothing was written. */
    settle: batched(
      async (settled: readonly Settled[]) => {
        await openAccounts(settled.flatMap(feeAccountOf))
        return commitAndPublish(database, publish, (transaction) => commitSettled(transaction, settled))
      },
      // An error in one of them, even our own bug, must not delay the others.
      {
        maxItems: 200,
        // All use the merchants' accounts, so a second flight would wait for the first.
        maxFlights: 1,
        isItemError: (error) => !isTransient(error),
        onFlight: (items) => onBatch('settle', items),
      },
    ),
    /** The payment is authorized: its money stays held until it is captured. */
    hold: (claimed: ClaimedAuthorization, heldUntilMs: number) =>
      commitAndPublish(database, publish, async (transaction) => {
        const held = { ...claimed, dueAtMs: heldUntilMs }
        if (!(await holdAuthorization(transaction, held))) return { result: undefined, changes: [] }
        await transaction.query(sql`
update orders set held_until = ${heldUntilMs}
 where merchant_id = ${claimed.merchantId} and payment_id = ${claimed.paymentId} and status = 'confirming'`)
        return { result: undefined, changes: [orderChanged(claimed)] }
      }),
    postpone: (postponement: Postponement) => postponeAuthorization(database, postponement),
    nextDue: () => nextAuthorizationDue(database),
  }
}

function feeAccountOf(settled: Settled): AccountKey[] {
  const isCharged = settled.kind === 'payment' && settled.change.order.fee
  return isCharged ? [feesAccount(settled.change.merchantId, settled.change.order.currency)] : []
}

async function commitSettled(transaction: Queryable, all: readonly Settled[]) {
  const ours = await removeClaimed(
    transaction,
    all.map(({ claimed }) => claimed),
  )
  const settled = all.filter(({ claimed }) => ours.has(claimed))
  const payments = settled.filter((each) => each.kind === 'payment')
  const refunds = settled.filter((each) => each.kind === 'refund').map(({ change }) => change)
  // Another worker ended the others, which pages may not show yet.
  const changes: Change[] = all.flatMap(({ claimed }) => (ours.has(claimed) ? [] : orderChanged(claimed)))
  if (settled.length > 0) {
    const ends = [
      ...payments.flatMap(({ transfers }) => transfers),
      ...refunds.flatMap(({ end }) => end ?? []),
    ]
    await insertTransfers(transaction, ends)
    const changed = await changeStatuses(
      transaction,
      payments.map(({ change }) => change),
    )
    if (changed.won.length !== payments.length)
      throw new Error('a claimed payment was not confirming any more')
    const ofRefunds = await insertCallbacks(
      transaction,
      refunds.flatMap(({ callback }) => callback ?? []),
    )
    changes.push(...changed.changes, ...refunds.map(refundChanged), ...callbacksQueued(ofRefunds))
    await queueEmails(
      transaction,
      settled.flatMap(({ emails }) => emails),
    )
    await endRefunds(transaction, refunds, ends, givenBack(payments))
  }
  return { result: all.map(({ claimed }) => ours.has(claimed)), changes }
}

function orderChanged({ merchantId, paymentId }: ClaimedAuthorization): Change {
  return { kind: 'order', merchantId, paymentId }
}

/** A failed payment does not count toward the day of its submission. */
function givenBack(payments: readonly Extract<Settled, { kind: 'payment' }>[]): Spent {
  const spent = new Map<string, { day: number; minor: bigint }>()
  for (const {
    transfers: [end],
    claimed,
  } of payments) {
    if (end?.phase !== 'void') continue
    const before = spent.get(end.debitAccountId)
    const day = dayOf(claimed.submittedAtMs)
    // Only the later of two days still counts.
    const isEarlier = before !== undefined && before.day > day
    const minor = before?.day === day ? before.minor - end.amountMinor : -end.amountMinor
    if (!isEarlier) spent.set(end.debitAccountId, { day, minor })
  }
  return spent
}
