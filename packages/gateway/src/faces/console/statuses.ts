// The console's words for statuses.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { ApplicationStatus } from '../../applications/rules/application.ts'
import type { CallbackState } from '../../callbacks/rules/callback-attempt.ts'
import type { Html } from '../../http/html.ts'
import { statusBadge, statusLooks } from '../../http/pages/status.ts'
import type { ApprovalStatus } from '../../operators/rules/approval.ts'
import type { PayoutStatus } from '../../payouts/rules/payout.ts'

type StatusName =
  | OrderStatus
  | RefundStatus
  | CallbackState
  | ApprovalStatus
  | ApplicationStatus
  | PayoutStatus
  | 'active'
  | 'suspended'
  | 'locked'
  | 'closed'

/** Where the program's word is not a person's. */
const words: Partial<Record<StatusName, string>> = {
  success: 'paid',
  timeout: 'timed out',
  refund_success: 'refunded',
  refund_failed: 'refund failed',
  exhausted: 'given up',
}

export function wordOf(name: StatusName): string {
  return words[name] ?? name
}

export function status(name: StatusName, text: string = wordOf(name)): Html {
  return statusBadge(statusLooks[name], text)
}
