// Submitted payments: order, hold, claim row and callback are committed together. Payments that come at the same
// time share a transaction, and each has its own outcome: too little money in one wallet is nobody else's trouble.

import type { Lane } from '../../callbacks/rules/delivery-lanes.ts'
import { commitQueueing, type OnQueued } from '../../callbacks/store/callbacks.ts'
import { batched } from '../../database/batching.ts'
import { isDataError } from '../../database/data-error.ts'
import type { Pool, Queryable } from '../../database/pool.ts'
import { CommitUnknown } from '../../database/transient.ts'
import { availableMinor, type Balances, effectsOf, merchantAccount } from '../../ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts, makeAccountOpener } from '../../ledger/store/ledger.ts'
import type { StatusChange } from '../../orders/rules/status-change.ts'
import { changeStatuses } from '../../orders/store/orders.ts'
import type { Submission } from '../rules/payment.ts'
import { insertSettlements } from './settlements.ts'

/** `race_lost`: the order was no longer payable. `unknown`: the answer to COMMIT was lost; read the order. */
export type SubmissionOutcome = 'submitted' | 'insufficient_funds' | 'race_lost' | 'unknown'

export type PaymentStore = ReturnType<typeof makePaymentStore>

export function makePaymentStore(database: Pool, onQueued: OnQueued = () => {}) {
  const openAccounts = makeAccountOpener(database)
  const submit = batched(
    async (submissions: readonly Submission[]) => {
      await openAccounts(submissions.map(({ hold }) => merchantAccount(hold.merchantId, hold.currency)))
      return commitQueueing(database, onQueued, (transaction) => commitSubmissions(transaction, submissions))
    },
    // One at a time: two with payments for the same merchant would wait for each other's accounts.
    { maxItems: 200, maxFlights: 1, isItemError: isDataError },
  )
  return {
    submitPayment: (submission: Submission): Promise<SubmissionOutcome> =>
      submit(submission).catch((error: unknown) => {
        if (error instanceof CommitUnknown) return 'unknown'
        throw error
      }),
  }
}

async function commitSubmissions(transaction: Queryable, submissions: readonly Submission[]) {
  const outcomes = new Map<Submission, SubmissionOutcome>()
  const won: Submission[] = []
  const queued: Lane[] = []
  const balances = await lockAccounts(
    transaction,
    submissions.map(({ hold }) => hold.debitAccountId),
  )
  let waiting = submissions
  // Whoever loses the race for its order leaves its money to those that found too little, so they try once more.
  for (;;) {
    const { affordable, tooPoor } = takeAffordable(waiting, balances)
    const changed = await changeStatuses(transaction, changesOf(affordable))
    const moved = new Set(changed.won)
    queued.push(...changed.queued)
    for (const submission of affordable) {
      if (moved.has(submission.change)) won.push(submission)
      else giveBack(submission, balances)
    }
    if (moved.size === affordable.length) {
      for (const submission of tooPoor) outcomes.set(submission, 'insufficient_funds')
      break
    }
    waiting = tooPoor
  }
  for (const submission of won) outcomes.set(submission, 'submitted')
  const holds = won.map(({ hold }) => hold)
  await insertTransfers(transaction, holds)
  await insertSettlements(
    transaction,
    won.map(({ settlement }) => settlement),
  )
  // The merchants' accounts last: whoever else has a payment for the same merchant waits for them.
  await lockAccounts(
    transaction,
    holds.map(({ creditAccountId }) => creditAccountId),
  )
  await addEffects(transaction, effectsOf(holds))
  const result = submissions.map((submission) => outcomes.get(submission) ?? 'race_lost')
  return { result, queued }
}

function changesOf(submissions: readonly Submission[]): StatusChange[] {
  return submissions.map(({ change }) => change)
}

/**
 * Those that the wallets can pay one after the other, one for each order; what they take is held in `balances`.
 * Another payment of an order that is taken is in neither list: it lost the race.
 */
function takeAffordable(
  submissions: readonly Submission[],
  balances: Map<string, Balances>,
): { affordable: Submission[]; tooPoor: Submission[] } {
  const affordable: Submission[] = []
  const tooPoor: Submission[] = []
  const taken = new Set<string>()
  for (const submission of submissions) {
    const { hold, change } = submission
    const orderKey = `${change.merchantId} ${change.paymentId}`
    if (taken.has(orderKey)) continue
    const wallet = balances.get(hold.debitAccountId)
    if (!wallet || availableMinor(wallet) < hold.amountMinor) {
      tooPoor.push(submission)
      continue
    }
    balances.set(hold.debitAccountId, withHeld(wallet, hold.amountMinor))
    taken.add(orderKey)
    affordable.push(submission)
  }
  return {
    affordable,
    tooPoor: tooPoor.filter(({ change }) => !taken.has(`${change.merchantId} ${change.paymentId}`)),
  }
}

function giveBack({ hold }: Submission, balances: Map<string, Balances>): void {
  const wallet = balances.get(hold.debitAccountId)
  if (wallet) balances.set(hold.debitAccountId, withHeld(wallet, -hold.amountMinor))
}

function withHeld(balances: Balances, amountMinor: bigint): Balances {
  return { ...balances, debitsPendingMinor: balances.debitsPendingMinor + amountMinor }
}
