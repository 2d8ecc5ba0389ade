// Returns held late money through its rail, if the rail did not take it at first or the gateway is configured to hold
// it.

import { Failure, makeTransactionId } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Attempt } from './rules/attempt.ts'
import type { AttemptKey, RailAttemptStore } from './store/rail-attempts.ts'

export interface ReturnLateMoneyParts extends ClockAndRandom {
  readonly attempts: Pick<RailAttemptStore, 'findAttempt' | 'returnHeld'>
}

export type ReturnLateMoney = ReturnType<typeof makeReturnLateMoney>

export function makeReturnLateMoney(parts: ReturnLateMoneyParts) {
  const { attempts, clock, random } = parts
  return async (context: AnyContext, key: AttemptKey, reason: string): Promise<Attempt> => {
    const attempt = await attempts.findAttempt(key)
    if (!attempt)
      throw new Failure('not_found', {
        message: `This merchant has no attempt ${key.transactionId}.`,
      })
    const nowMs = clock.now()
    const returnId = makeTransactionId(nowMs, random)
    const recorded = makeAuditEntry(parts, context, 'rail.return-late-money', key.transactionId, {
      merchantId: key.merchantId,
      reason,
    })
    if (!(await attempts.returnHeld(attempt, { returnId, nowMs }, recorded)))
      throw new Failure('status_does_not_allow', {
        message: `No money is held for this attempt. ${attempt.status === 'held' ? 'It was already returned or released' : `Its status is ${attempt.status}`}.`,
      })
    return { ...attempt, status: 'returning', returnId }
  }
}
