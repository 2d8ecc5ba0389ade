// Who did what, when, to whom and why: written with the change itself, in one transaction.
import type { NewEmail } from '../../emails/rules/email.ts'
import type { Approval } from './approval.ts'
import type { Authority } from './authority.ts'
import type { AuditedAction } from './effects.ts'

export interface AuditEntry {
  readonly auditId: string
  readonly actedAtMs: number
  /** Such as `cli:alice`. */
  readonly actor: string
  readonly action: AuditedAction
  readonly merchantId: string | undefined
  /** What it was done to: an id, never a secret. */
  readonly subject: string
  readonly reason: string | undefined
  /** Checked again when the entry is written. Undefined: the gateway itself, or a person at their own account. */
  readonly authority?: Authority | undefined
  /** The change needs a second operator. */
  readonly needsApproval?: boolean
  /** The second operator's consent, where the change needs one. Writing the entry uses it up. */
  readonly approval?: Approval | undefined
  /** Emails about it: queued with the change, or not at all. */
  readonly emails?: readonly NewEmail[] | undefined
}
