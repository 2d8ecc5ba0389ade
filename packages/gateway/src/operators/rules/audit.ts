// Who did what, when, to whom and why: written with the act itself, in one transaction.
import type { NewNotice } from '../../notices/rules/notice.ts'
import type { Approval } from './approval.ts'

export interface Act {
  readonly auditId: string
  readonly actedAtMs: number
  /** Such as `cli:alice`. */
  readonly actor: string
  /** Noun and verb, such as `merchant.suspend`. */
  readonly act: string
  readonly merchantId: string | undefined
  /** What it was done to: an id, never a secret. */
  readonly subject: string
  readonly reason: string | undefined
  /** Where a second operator allowed it: recorded with the act, and refused when the request no longer waits. */
  readonly approval?: Approval | undefined
  /** Who is told of it: queued with the act, or not at all. */
  readonly notices?: readonly NewNotice[] | undefined
}
