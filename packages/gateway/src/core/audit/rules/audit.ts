// The audit entry of an action, written in the same transaction as its change.

import type { Approval } from '../../authority/rules/approval.ts'
import type { Authority } from '../../authority/rules/authority.ts'
import type { AuditedAction } from '../../authority/rules/effects.ts'
import type { NewEmail } from '../../emails/rules/email.ts'

export interface AuditEntry {
  readonly auditId: string
  readonly actedAtMs: number
  readonly actor: string
  readonly action: AuditedAction
  readonly merchantId: string | undefined
  /** An id, never a secret. */
  readonly subject: string
  readonly reason: string | undefined
  /** Checked again when the entry is written. Undefined for the gateway itself and for people at their own account. */
  readonly authority?: Authority | undefined
  readonly needsApproval?: boolean
  /** Writing the entry uses the approval up. */
  readonly approval?: Approval | undefined
  /** Queued in the same transaction. */
  readonly emails?: readonly NewEmail[] | undefined
}
