// A status as a word with a colour and a shape: round is good, square waits, a diamond is bad, hollow is over.
import { type Html, html } from '../html.ts'

export type Look = 'good' | 'wait' | 'bad' | 'off'

export const statusLooks = {
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
} as const satisfies Record<string, Look>

export function statusBadge(look: Look, text: string): Html {
  return html`<span class="status ${look}">${text}</span>`
}
