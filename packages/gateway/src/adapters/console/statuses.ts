// The console's words for statuses.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { ApprovalStatus } from '../../core/audit/rules/approval.ts'
import type { CallbackState } from '../../core/callbacks/rules/callback-attempt.ts'
import type { PayoutStatus } from '../../finance/payouts/rules/payout.ts'
import type { ApplicationStatus } from '../../identity/applications/rules/application.ts'
import type { Html } from '../kit/html.ts'
import { statusBadge, statusLooks } from '../kit/pages/status.ts'

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
