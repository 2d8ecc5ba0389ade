// The console's words for statuses.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { ApprovalStatus } from '../../core/audit/rules/approval.ts'
import type { CallbackState } from '../../core/callbacks/rules/callback-attempt.ts'
import type { PayoutStatus } from '../../finance/payouts/rules/payout.ts'
import type { ApplicationStatus } from '../../identity/applications/rules/application.ts'
import type { Html } from '../kit/html.ts'
import { shownStatus, statusPill } from '../kit/pages/status.ts'

type StatusName =
  | OrderStatus
  | RefundStatus
  | CallbackState
  | ApprovalStatus
  | ApplicationStatus
  | PayoutStatus
  | 'refunded'
  | 'partially_refunded'
  | 'active'
  | 'suspended'
  | 'locked'
  | 'closed'

/** Used where the code's word is not fit for people. */
const words: Partial<Record<StatusName, string>> = {
  success: 'Paid',
  confirming: 'Processing',
  timeout: 'Expired',
  refunding: 'Refund processing',
  partially_refunded: 'Partially refunded',
  refund_success: 'Refunded',
  refund_failed: 'Refund failed',
  exhausted: 'Failed',
}

export function wordOf(name: StatusName): string {
  return words[name] ?? name.charAt(0).toUpperCase() + name.slice(1)
}

export function status(name: StatusName, text: string = wordOf(name)): Html {
  return statusPill(name, text)
}

export function orderStatus(order: Parameters<typeof shownStatus<OrderStatus>>[0]): Html {
  return status(shownStatus(order))
}
