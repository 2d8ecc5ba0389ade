// The areas of the console, each at the path of its name.
import { html } from '../kit/html.ts'
import type { IconName } from '../kit/icons.ts'
import type { NavigationGroup } from '../kit/pages/frame.ts'

const icons = {
  overview: 'layout-dashboard',
  orders: 'receipt-text',
  callbacks: 'webhook',
  links: 'link',
  merchants: 'store',
  wallets: 'wallet',
  applications: 'inbox',
  money: 'coins',
  reconciliation: 'scale',
  ledger: 'book-open',
  rails: 'landmark',
  approvals: 'user-check',
  audit: 'scroll-text',
  system: 'server',
  account: 'circle-user',
} as const satisfies Record<string, IconName>

export type AreaName = keyof typeof icons

const groups: readonly (readonly [label: string | undefined, names: readonly AreaName[]])[] = [
  [undefined, ['overview']],
  ['Payments', ['orders', 'callbacks', 'links']],
  ['People', ['merchants', 'wallets', 'applications']],
  ['Money', ['money', 'reconciliation', 'ledger', 'rails']],
  ['Administration', ['approvals', 'audit', 'system', 'account']],
]

/** The number of waiting items by area; undefined if the area never has any or does not exist. */
export interface Waiting {
  readonly approvals: number | undefined
  readonly applications: number | undefined
}

export function navigation(current: AreaName | undefined, waiting: Waiting): NavigationGroup[] {
  const waits = (name: AreaName): name is keyof Waiting => name in waiting
  return groups.map(([label, names]) => ({
    label,
    areas: names
      .filter((name) => !waits(name) || waiting[name] !== undefined)
      .map((name) => ({
        path: `/${name}`,
        label: labelOf(name),
        icon: icons[name],
        isCurrent: name === current,
        count:
          waits(name) &&
          Boolean(waiting[name]) &&
          html`<span class="count">${waiting[name]}<span class="hidden"> waiting</span></span>`,
      })),
  }))
}

function labelOf(name: AreaName): string {
  return name === 'audit' ? 'Audit log' : name.charAt(0).toUpperCase() + name.slice(1)
}
