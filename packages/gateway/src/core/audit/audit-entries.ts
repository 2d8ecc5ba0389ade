// Makes entries of the audit log in one actor's name, for operations to write with what they record.
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Actor } from './context.ts'
import type { AuditEntry } from './rules/audit.ts'
import { type Authority, approvalNeeded, needsApproval } from './rules/authority.ts'
import { type AuditedAction, type Effect, effectsOfActions } from './rules/effects.ts'

export interface AuditDetails extends Partial<Pick<AuditEntry, 'merchantId' | 'reason' | 'emails'>> {
  /** Those that this change really has, where the action can have more. */
  readonly effects?: readonly Effect[]
  /** The id under which the action runs once. */
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

/** Throws what the audit entry of this action would, before anything else is begun. */
export function demandApproval(authority: Authority | undefined, action: AuditedAction): void {
  if (!authority || !needsApproval(authority, effectsOfActions[action])) return
  if (authority.kind !== 'operator' || !authority.approval) throw approvalNeeded(authority)
}
