// The console's words for statuses.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { ApprovalStatus } from '../../core/authority/rules/approval.ts'
import type { CallbackState } from '../../core/callbacks/rules/callback-attempt.ts'
import type { PayoutStatus } from '../../finance/payouts/rules/payout.ts'
import type { ApplicationStatus } from '../../identity/applications/rules/application.ts'
import type { Html } from '../kit/html.ts'
import { shownStatus, statusPill } from '../kit/pages/status.ts'
import { capitalized } from './words.ts'

type StatusName =
  | OrderStatus
  | RefundStatus
  | CallbackState
  | ApprovalStatus
  | ApplicationStatus
  | PayoutStatus
  | 'refunded'
  | 'authorized'
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
  exhausted: 'Undelivered',
}

export function wordOf(name: StatusName): string {
  return words[name] ?? capitalized(name)
}

export function status(name: StatusName, text: string = wordOf(name)): Html {
  return statusPill(name, text)
}

/** Why a callback received no HTTP response. */
const outcomes: Readonly<Record<string, string>> = {
  dns: 'Host not found',
  connect: 'Connection failed',
  tls: 'TLS failed',
  timeout: 'No response in time',
  closed: 'Connection closed',
  protocol: 'Invalid HTTP response',
  url_not_allowed: 'URL not allowed',
  address_not_public: 'Not a public address',
}

export function outcomeWord(outcome: string): string {
  return Object.hasOwn(outcomes, outcome) ? (outcomes[outcome] as string) : outcome
}

export function orderStatus(order: Parameters<typeof shownStatus<OrderStatus>>[0]): Html {
  return status(shownStatus(order))
}
