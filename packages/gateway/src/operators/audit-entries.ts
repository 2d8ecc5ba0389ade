// Makes entries of the audit log in one actor's name, for operations to write with what they record.
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../platform/clock.ts'
import type { Act } from './rules/audit.ts'

export interface ActParts extends ClockAndRandom {
  /** Such as `cli:alice`. */
  readonly actor: string
}

export function makeActs({ clock, random, actor }: ActParts) {
  return (
    act: string,
    subject: string,
    {
      merchantId,
      reason,
      approval,
      notices,
    }: Partial<Pick<Act, 'merchantId' | 'reason' | 'approval' | 'notices'>> = {},
  ): Act => {
    const actedAtMs = clock.now()
    const auditId = makeUuid(actedAtMs, random)
    return { auditId, actedAtMs, actor, act, merchantId, subject, reason, approval, notices }
  }
}
