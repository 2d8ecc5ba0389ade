// A worker's turn: batches of due plans, then a batch of payouts of ended runs. Small batches keep locks on
// merchants' accounts short.
import { makeTransactionId, makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { utcDay } from '../../platform/runtime/utc.ts'
import { makeNotifyPayout, type NotifyPayoutParts } from './notify-payout.ts'
import { decidePlan } from './rules/decide-payouts.ts'
import { endPayout } from './rules/end-payout.ts'
import type { Making, PayoutBatchStore } from './store/payout-batches.ts'

export interface WorkPayoutsParts extends ClockAndRandom, NotifyPayoutParts {
  readonly payoutBatches: PayoutBatchStore
}

export interface PayoutTurn {
  readonly made: number
  readonly ended: number
  readonly more: boolean
}

/** About a tenth of a second per transaction, the longest wait for a merchant's account. */
export const payoutBatch = 1_000

export function makeWorkPayouts(parts: WorkPayoutsParts) {
  const { payoutBatches: batches, clock, random } = parts
  const notify = makeNotifyPayout(parts)
  return async ({ batchesAtOnce = 1 } = {}): Promise<PayoutTurn> => {
    const nowMs = clock.now()
    const today = utcDay(nowMs)
    const making: Making = {
      today,
      nowMs,
      limit: payoutBatch,
      decide: (due) => decidePlan(due, today),
      newRunId: () => makeUuid(nowMs, random),
      newPayoutId: () => makeTransactionId(nowMs, random),
    }
    const all = await allOver(Array.from({ length: batchesAtOnce }, () => batches.makePayouts(making)))
    const made = all.reduce((sum, { payouts }) => sum + payouts, 0)
    if (all.some(({ plans }) => plans === payoutBatch)) return { made, ended: 0, more: true }
    await batches.closeRuns({ nowMs, today })
    const ended = await batches.endPayouts({
      nowMs,
      limit: payoutBatch,
      decide: (payout, { bankName, ending, message, reference, valueDate }) => {
        if (!ending) throw new Error('only a run that ends ends its payouts')
        const outside = ending === 'paid' && reference && valueDate ? { reference, valueDate } : undefined
        return endPayout(
          payout,
          { status: ending, outside, message },
          { bankName, auditId: undefined, nowMs, random },
        )
      },
      notify: (payout, { to, message = '' }, wallet) =>
        notify(payout, { status: to, reason: message, wallet }),
    })
    return { made, ended: ended ?? 0, more: ended !== undefined }
  }
}

/** Waits for all, even if one fails, so that nothing continues after the turn. */
async function allOver<Result>(all: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(all)
  return Promise.all(all)
}
