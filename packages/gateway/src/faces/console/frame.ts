// What stands around every page of the console: the navigation (left, on a phone at the bottom), the sandbox's mark,
// a note about what was just done, and who is signed in.
import type { FastifyReply } from 'fastify'
import { assets } from '../../http/assets.ts'
import { type Html, html } from '../../http/html.ts'
import { sendPage } from '../../http/layout.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { AreaName, ConsolePage } from './console.ts'
import { fieldId } from './forms.ts'
import type { Note } from './visits.ts'

export interface Frame {
  readonly mode: 'sandbox' | 'live'
  readonly operator: Operator
  readonly note: Note | undefined
  readonly formToken: string
  readonly nonce: string
  /** How many requests wait for a second operator; undefined: nothing ever does, and there is no such area. */
  readonly approvalsWaiting: number | undefined
}

const areas: readonly { readonly name: AreaName; readonly path: string; readonly label: string }[] = [
  { name: 'overview', path: '/overview', label: 'Overview' },
  { name: 'orders', path: '/orders', label: 'Orders' },
  { name: 'callbacks', path: '/callbacks', label: 'Callbacks' },
  { name: 'merchants', path: '/merchants', label: 'Merchants' },
  { name: 'wallets', path: '/wallets', label: 'Wallets' },
  { name: 'rails', path: '/rails', label: 'Rails' },
  { name: 'ledger', path: '/ledger', label: 'Ledger' },
  { name: 'approvals', path: '/approvals', label: 'Approvals' },
  { name: 'audit', path: '/audit', label: 'Audit log' },
  { name: 'system', path: '/system', label: 'System' },
  { name: 'account', path: '/account', label: 'Account' },
]

export function sendConsolePage(reply: FastifyReply, page: ConsolePage, frame: Frame): FastifyReply {
  const { operator, nonce, note } = frame
  return sendPage(reply, {
    title: `${page.title} · Tillgate ${frame.mode}`,
    nonce,
    styles: [assets.consoleStyle],
    bodyClass: 'console',
    head: html`<script nonce="${nonce}" type="module" src="${assets.consoleScript.path}"></script>`,
    content: html`<a class="skip" href="#main">To the content</a>
<header class="side">
<a class="brand" href="/">Tillgate <span class="mode ${frame.mode}">${frame.mode}</span></a>
<nav aria-label="Areas"><ul>${areas.map(
      ({ name, path, label }) =>
        (name !== 'approvals' || frame.approvalsWaiting !== undefined) &&
        html`<li><a href="${path}"${name === page.area && html` aria-current="page"`}>${icon(name)}<span>${label}</span>${
          name === 'approvals' && waitingMark(frame.approvalsWaiting)
        }</a></li>`,
    )}</ul></nav>
<form class="who" method="post" action="/sign-out"><input type="hidden" name="token" value="${frame.formToken}">
<span>${operator.login}<span class="quiet"> · ${operator.role}</span></span>
<button class="plain">Sign out</button></form>
</header>
<main id="main" tabindex="-1"${page.isLive && html` data-live`}>
${note && noteLine(note)}
<h1>${page.title}</h1>
${page.content}
</main>`,
  })
}

function waitingMark(waiting = 0): Html | undefined {
  return waiting === 0
    ? undefined
    : html`<span class="count">${waiting}<span class="hidden"> waiting</span></span>`
}

/** Without navigation: nobody is signed in. */
export function sendSmallPage(
  reply: FastifyReply,
  page: { title: string; mode: 'sandbox' | 'live'; content: Html },
): FastifyReply {
  return sendPage(reply, {
    title: `${page.title} · Tillgate ${page.mode}`,
    styles: [assets.consoleStyle],
    bodyClass: 'console small-page',
    content: html`<main class="card">
<p class="brand">Tillgate <span class="mode ${page.mode}">${page.mode}</span></p>
${page.content}
</main>`,
  })
}

export function sendPlain(reply: FastifyReply, page: { title: string; text: string }): FastifyReply {
  return sendPage(reply, {
    title: page.title,
    styles: [assets.consoleStyle],
    bodyClass: 'console small-page',
    content: html`<main class="card">
<h1>${page.title}</h1>
<p>${page.text}</p>
<p><a class="button" href="/">To the console</a></p>
</main>`,
  })
}

const icons: Record<AreaName, Html> = {
  overview: html`<path d="M4 20V10m6 10V4m6 16v-7m4 7H2"/>`,
  orders: html`<path d="M5 3h14v18l-3-2-4 2-4-2-3 2z"/><path d="M9 8h6m-6 4h6"/>`,
  callbacks: html`<path d="M4 12a8 8 0 1 1 2.5 5.8"/><path d="M4 20v-5h5"/>`,
  merchants: html`<path d="M3 9l2-5h14l2 5v2H3zM5 11v9h14v-9"/><path d="M10 20v-5h4v5"/>`,
  wallets: html`<rect x="3" y="6" width="18" height="13" rx="2"/><path d="M16 12.5h2M3 10h18"/>`,
  rails: html`<path d="M3 9h18L12 3zM5 9v9m5-9v9m4-9v9m5-9v9M3 21h18"/>`,
  ledger: html`<path d="M12 4v16M5 7h14M5 7l-3 7h6zm14 0l-3 7h6zM8 20h8"/>`,
  approvals: html`<circle cx="8" cy="8" r="3"/><circle cx="17" cy="9" r="2.5"/><path d="M2 20c.5-4 2.5-6 6-6s5.5 2 6 6m1-5.5c3.5-.5 6 1.5 6.5 5.5"/>`,
  audit: html`<path d="M6 3h9l4 4v14H6z"/><path d="M9 11h6m-6 4h6"/>`,
  system: html`<rect x="4" y="4" width="16" height="7" rx="1"/><rect x="4" y="13" width="16" height="7" rx="1"/><path d="M8 7.5v.1M8 16.5v.1"/>`,
  account: html`<circle cx="12" cy="8" r="4"/><path d="M4 21c1-5 4-7 8-7s7 2 8 7"/>`,
}

function icon(name: AreaName): Html {
  return html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${icons[name]}</svg>`
}

/** What was just done, or why it was not. */
export function noteLine({ kind, text, errors }: Note): Html {
  if (!errors) return html`<p class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
  const hasField = errors.some(({ field }) => field !== undefined)
  return html`<div class="note ${kind}" role="alert" tabindex="-1"${!hasField && html` autofocus`}>${text}<ul>${errors.map(
    ({ field, message }) =>
      html`<li>${field === undefined ? message : html`<a href="#${fieldId(field)}">${message}</a>`}</li>`,
  )}</ul></div>`
}

export function redirect(reply: FastifyReply, to: string): FastifyReply {
  return reply
    .status(303)
    .header('location', to)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .send()
}
