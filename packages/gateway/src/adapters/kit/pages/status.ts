// A status as a pill with a word, a color and an icon, the same everywhere.
import { type Content, type Html, html } from '../html.ts'
import { type IconName, icon } from '../icons.ts'

export type Look = 'good' | 'wait' | 'info' | 'bad' | 'off'

export const statusLooks = {
  pending: 'wait',
  confirming: 'info',
  authorized: 'info',
  success: 'good',
  failed: 'bad',
  timeout: 'off',
  cancelled: 'off',
  refunding: 'info',
  refund_success: 'good',
  refund_failed: 'bad',
  refunded: 'off',
  partially_refunded: 'off',
  waiting: 'wait',
  retrying: 'bad',
  held: 'wait',
  delivered: 'good',
  exhausted: 'bad',
  approved: 'good',
  rejected: 'bad',
  withdrawn: 'off',
  expired: 'off',
  requested: 'wait',
  sent: 'info',
  paid: 'good',
  returned: 'bad',
  active: 'good',
  suspended: 'bad',
  locked: 'bad',
  closed: 'off',
  asked: 'wait',
} as const satisfies Record<string, Look>

const icons: Record<Look, IconName> = {
  good: 'check',
  wait: 'clock',
  info: 'loader-circle',
  bad: 'x',
  off: 'minus',
}
const ownIcons: Partial<Record<keyof typeof statusLooks, IconName>> = {
  refunded: 'rotate-ccw',
  partially_refunded: 'rotate-ccw',
  cancelled: 'ban',
  suspended: 'ban',
  locked: 'lock',
  authorized: 'lock',
  sent: 'send',
  retrying: 'rotate-ccw',
  held: 'pause',
}

export function statusBadge(look: Look, text: Content, named: IconName = icons[look]): Html {
  return html`<span class="pill ${look}">${icon(named)}${text}</span>`
}

export function statusPill(name: keyof typeof statusLooks, text: Content): Html {
  return statusBadge(statusLooks[name], text, ownIcons[name])
}

/** A refund is the latest event of a paid order, so it is shown. */
export function shownStatus<Status extends string>({
  status,
  refundedMinor,
  paymentAmountMinor,
  isHeld,
}: {
  readonly status: Status
  readonly refundedMinor: bigint
  readonly paymentAmountMinor: bigint
  readonly isHeld: boolean
}): Status | 'refunded' | 'partially_refunded' | 'authorized' {
  if (isHeld) return 'authorized'
  if (status !== 'success' || refundedMinor === 0n) return status
  return refundedMinor < paymentAmountMinor ? 'partially_refunded' : 'refunded'
}
