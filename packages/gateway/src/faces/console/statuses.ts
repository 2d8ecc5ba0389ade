// A status as a word with a colour and a shape: round is good, square waits, a diamond is bad, hollow is over.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { ApplicationStatus } from '../../applications/rules/application.ts'
import type { CallbackState } from '../../callbacks/rules/callback-attempt.ts'
import { type Html, html } from '../../http/html.ts'
import type { ApprovalStatus } from '../../operators/rules/approval.ts'
import type { PayoutStatus } from '../../payouts/rules/payout.ts'

type Look = 'good' | 'wait' | 'bad' | 'off'

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

const looks: Record<StatusName, Look> = {
  pending: 'wait',
  confirming: 'wait',
  success: 'good',
  failed: 'bad',
  timeout: 'off',
  cancelled: 'off',
  refunding: 'wait',
  refund_success: 'good',
  refund_failed: 'bad',
  waiting: 'wait',
  delivered: 'good',
  exhausted: 'bad',
  approved: 'good',
  rejected: 'bad',
  withdrawn: 'off',
  expired: 'off',
  requested: 'wait',
  sent: 'wait',
  paid: 'good',
  returned: 'bad',
  active: 'good',
  suspended: 'bad',
  locked: 'bad',
  closed: 'off',
  asked: 'wait',
}

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
  return html`<span class="status ${looks[name]}">${text}</span>`
}

export function state(look: Look, text: string): Html {
  return html`<span class="status ${look}">${text}</span>`
}
