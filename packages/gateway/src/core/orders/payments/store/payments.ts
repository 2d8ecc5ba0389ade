// Submitted payments: order, hold, claim row and callback commit together. Concurrent payments share a transaction
// with separate outcomes, so insufficient funds in one wallet do not affect the others.

import { batched } from '../../../../platform/database/batching.ts'
import { isDataError } from '../../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { CommitUnknown } from '../../../../platform/database/transient.ts'
import { type Change, type Publish, unpublished } from '../../../changes/rules/change.ts'
import { commitAndPublish } from '../../../changes/store/commit.ts'
import { effectsOf, merchantAccount, type Transfer } from '../../../ledger/rules/transfer.ts'
import {
  addEffects,
  insertTransfers,
  lockAccounts,
  makeAccountOpener,
  type Spent,
} from '../../../ledger/store/ledger.ts'
import { brokenLimit, dayOf, nothingSpent, spentMinorOn } from '../../../wallets/rules/limits.ts'
import { lockPayers, type Payer } from '../../../wallets/store/limits.ts'
import type { StatusChange } from '../../rules/status-change.ts'
import { changeStatuses } from '../../store/orders.ts'
import type { Submission } from '../rules/payment.ts'
import { insertAuthorizations } from './authorizations.ts'

/** `race_lost`: the order was no longer payable. `unknown`: the response to COMMIT was lost; read the order. */
export type SubmissionOutcome = 'submitted' | RefusedSubmission | 'race_lost' | 'unknown'

type RefusedSubmission = 'insufficient_funds' | 'over_limit'

export type PaymentStore = ReturnType<typeof makePaymentStore>

export function makePaymentStore(database: Pool, publish: Publish = unpublished) {
  const openAccounts = makeAccountOpener(database)
  const submit = batched(
    async (submissions: readonly Submission[]) => {
      await openAccounts(submissions.map(({ hold }) => merchantAccount(hold.merchantId, hold.currency)))
      return commitAndPublish(database, publish, (transaction) => commitSubmissions(transaction, submissions))
    },
    // One at a time, because two would wait for each other's merchant accounts.
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

/** Within the caller's transaction. The merchants' accounts exist. */
export async function commitSubmissions(transaction: Queryable, submissions: readonly Submission[]) {
  const outcomes = new Map<Submission, SubmissionOutcome>()
  const won: Submission[] = []
  const changes: Change[] = []
  const payers = await lockPayers(
    transaction,
    submissions.map(({ hold }) => hold.debitAccountId),
  )
  let waiting = submissions
  // A payment that loses the race for its order frees its money for others that had too little, so these retry.
  for (;;) {
    const { affordable, refused } = takeAffordable(waiting, payers)
    const changed = await changeStatuses(transaction, changesOf(affordable))
    const moved = new Set(changed.won)
    changes.push(...changed.changes)
    for (const submission of affordable) {
      if (moved.has(submission.change)) won.push(submission)
      else takeMoney(submission, payers, -1n)
    }
    if (moved.size === affordable.length) {
      for (const [submission, why] of refused) outcomes.set(submission, why)
      break
    }
    waiting = [...refused.keys()]
  }
  for (const submission of won) outcomes.set(submission, 'submitted')
  const holds = won.map(({ hold }) => hold)
  await insertTransfers(transaction, holds)
  await insertAuthorizations(
    transaction,
    won.map(({ authorization }) => authorization),
  )
  // The merchants' accounts come last, because all payments of a merchant wait for them.
  await lockAccounts(
    transaction,
    holds.map(({ creditAccountId }) => creditAccountId),
  )
  await addEffects(transaction, effectsOf(holds), spentBy(holds))
  const result = submissions.map((submission) => outcomes.get(submission) ?? 'race_lost')
  if (won.length > 0) changes.push({ kind: 'payment submitted' })
  return { result, changes }
}

function changesOf(submissions: readonly Submission[]): StatusChange[] {
  return submissions.map(({ change }) => change)
}

/**
 * Selects payments that the wallets can afford in sequence, one per order, and records their holds in `payers`. Other
 * payments of the same order lose the race.
 */
function takeAffordable(
  submissions: readonly Submission[],
  payers: Map<string, Payer>,
): { affordable: Submission[]; refused: Map<Submission, RefusedSubmission> } {
  const affordable: Submission[] = []
  const refused = new Map<Submission, RefusedSubmission>()
  const taken = new Set<string>()
  const orderOf = ({ change }: Submission) => `${change.merchantId} ${change.paymentId}`
  for (const submission of submissions) {
    if (taken.has(orderOf(submission))) continue
    const why = refusalOf(submission, payers.get(submission.hold.debitAccountId))
    if (why) {
      refused.set(submission, why)
      continue
    }
    takeMoney(submission, payers, 1n)
    taken.add(orderOf(submission))
    affordable.push(submission)
  }
  for (const submission of refused.keys()) if (taken.has(orderOf(submission))) refused.delete(submission)
  return { affordable, refused }
}

function refusalOf({ hold, limits }: Submission, payer: Payer | undefined): RefusedSubmission | undefined {
  const { amountMinor } = hold
  const given = { amountMinor, day: dayOf(hold.madeAtMs), defaults: limits }
  if (brokenLimit(payer?.spending ?? nothingSpent, given)) return 'over_limit'
  return !payer || payer.availableMinor < amountMinor ? 'insufficient_funds' : undefined
}

/** Deducts the amount; with -1, returns it. */
function takeMoney({ hold }: Submission, payers: Map<string, Payer>, times: 1n | -1n): void {
  const payer = payers.get(hold.debitAccountId)
  if (!payer) return
  const { availableMinor, spending } = payer
  const minor = times * hold.amountMinor
  const day = Math.max(spending.spentOn, dayOf(hold.madeAtMs))
  payers.set(hold.debitAccountId, {
    availableMinor: availableMinor - minor,
    spending: { ...spending, spentOn: day, spentMinor: spentMinorOn(spending, day) + minor },
  })
}

function spentBy(holds: readonly Transfer[]): Spent {
  const spent = new Map<string, { day: number; minor: bigint }>()
  for (const { debitAccountId, amountMinor, madeAtMs } of holds) {
    const before = spent.get(debitAccountId)
    const day = Math.max(dayOf(madeAtMs), before?.day ?? 0)
    spent.set(debitAccountId, { day, minor: (before?.minor ?? 0n) + amountMinor })
  }
  return spent
}
