// Creates audit entries for one actor, which operations write in the transaction of their change.
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Actor } from '../authority/context.ts'
import { type Authority, approvalNeeded, needsApproval } from '../authority/rules/authority.ts'
import { type AuditedAction, type Effect, effectsOfActions } from '../authority/rules/effects.ts'
import type { AuditEntry } from './rules/audit.ts'

export interface AuditDetails extends Partial<Pick<AuditEntry, 'merchantId' | 'reason' | 'emails'>> {
  /** The effects of this change, if the action can have more. */
  readonly effects?: readonly Effect[]
  /** The idempotency key of the action. */
  readonly auditId?: string | undefined
}

export function makeAuditEntry(
  { clock, random }: ClockAndRandom,
  { actor, authority }: Actor,
  action: AuditedAction,
  subject: string,
  details: AuditDetails = {},
): AuditEntry {
  const { merchantId, reason, emails, effects = effectsOfActions[action] } = details
  const actedAtMs = clock.now()
  const auditId = details.auditId ?? makeUuid(actedAtMs, random)
  const isGuarded = needsApproval(authority, effects)
  return {
    auditId,
    actedAtMs,
    actor,
    action,
    merchantId,
    subject,
    reason,
    authority,
    needsApproval: isGuarded,
    approval: isGuarded && authority?.kind === 'operator' ? authority.approval : undefined,
    emails,
  }
}

/** Throws if the action needs an approval, before its entry is written. */
export function demandApproval(
  authority: Authority | undefined,
  action: AuditedAction,
  effects: readonly Effect[] = effectsOfActions[action],
): void {
  if (!authority || !needsApproval(authority, effects)) return
  if (authority.kind !== 'operator' || !authority.approval) throw approvalNeeded(authority)
}
