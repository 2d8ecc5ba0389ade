// The areas of the console, each at the path of its name: on the left, on a phone at the bottom.
import { type Html, html } from '../kit/html.ts'

const icons = {
  overview: html`<path d="M4 20V10m6 10V4m6 16v-7m4 7H2"/>`,
  orders: html`<path d="M5 3h14v18l-3-2-4 2-4-2-3 2z"/><path d="M9 8h6m-6 4h6"/>`,
  callbacks: html`<path d="M4 12a8 8 0 1 1 2.5 5.8"/><path d="M4 20v-5h5"/>`,
  merchants: html`<path d="M3 9l2-5h14l2 5v2H3zM5 11v9h14v-9"/><path d="M10 20v-5h4v5"/>`,
  wallets: html`<rect x="3" y="6" width="18" height="13" rx="2"/><path d="M16 12.5h2M3 10h18"/>`,
  links: html`<path d="M10 14a4 4 0 0 1 0-5.7l3-3a4 4 0 0 1 5.7 5.7l-1.5 1.5M14 10a4 4 0 0 1 0 5.7l-3 3A4 4 0 0 1 5.3 13l1.5-1.5"/>`,
  rails: html`<path d="M3 9h18L12 3zM5 9v9m5-9v9m4-9v9m5-9v9M3 21h18"/>`,
  money: html`<ellipse cx="12" cy="6" rx="8" ry="3"/><path d="M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3"/>`,
  reconciliation: html`<path d="M4 7h11l-3-3m8 13H9l3 3"/>`,
  ledger: html`<path d="M12 4v16M5 7h14M5 7l-3 7h6zm14 0l-3 7h6zM8 20h8"/>`,
  applications: html`<path d="M4 4h16v12H8l-4 4z"/><path d="M8 8h8m-8 4h5"/>`,
  approvals: html`<circle cx="8" cy="8" r="3"/><circle cx="17" cy="9" r="2.5"/><path d="M2 20c.5-4 2.5-6 6-6s5.5 2 6 6m1-5.5c3.5-.5 6 1.5 6.5 5.5"/>`,
  audit: html`<path d="M6 3h9l4 4v14H6z"/><path d="M9 11h6m-6 4h6"/>`,
  system: html`<rect x="4" y="4" width="16" height="7" rx="1"/><rect x="4" y="13" width="16" height="7" rx="1"/><path d="M8 7.5v.1M8 16.5v.1"/>`,
  account: html`<circle cx="12" cy="8" r="4"/><path d="M4 21c1-5 4-7 8-7s7 2 8 7"/>`,
} as const

export type AreaName = keyof typeof icons
// Safe: these are its own keys.
const names = Object.keys(icons) as AreaName[]

/** How much waits in an area; undefined where nothing ever does, and there is no such area. */
export interface Waiting {
  readonly approvals: number | undefined
  readonly applications: number | undefined
}

export function navigation(current: AreaName | undefined, waiting: Waiting): Html {
  const waits = (name: AreaName): name is keyof Waiting => name in waiting
  const shown = names.filter((name) => !waits(name) || waiting[name] !== undefined)
  return html`<nav aria-label="Areas"><ul>${shown.map(
    (name) =>
      html`<li><a href="/${name}"${name === current && html` aria-current="page"`}>${icon(name)}<span>${labelOf(name)}</span>${
        waits(name) && waitingMark(waiting[name])
      }</a></li>`,
  )}</ul></nav>`
}

function labelOf(name: AreaName): string {
  return name === 'audit' ? 'Audit log' : name.charAt(0).toUpperCase() + name.slice(1)
}

function icon(name: AreaName): Html {
  return html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${icons[name]}</svg>`
}

function waitingMark(waiting = 0): Html | undefined {
  return waiting === 0
    ? undefined
    : html`<span class="count">${waiting}<span class="hidden"> waiting</span></span>`
}
