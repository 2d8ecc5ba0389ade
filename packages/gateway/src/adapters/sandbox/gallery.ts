// Every component of the pages in every state, for people who change them and for the screenshot test.
import type { FastifyInstance } from 'fastify'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { type Html, html } from '../kit/html.ts'
import { icon } from '../kit/icons.ts'
import { chart } from '../kit/pages/charts.ts'
import { flashMessage, notice } from '../kit/pages/flash.ts'
import { sendWorkspace, wordmark } from '../kit/pages/frame.ts'
import { statusBadge, statusLooks, statusPill } from '../kit/pages/status.ts'
import { empty, facts, number, pages, table } from '../kit/pages/tables.ts'
import { galleryPath } from './paths.ts'

const times = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`)
const volume = times.map((_, hour) => Math.round(40 + 30 * Math.sin(hour / 3)))
// Safe: these are its own keys.
const statuses = Object.keys(statusLooks) as (keyof typeof statusLooks)[]

export function serveGallery(listener: FastifyInstance, newNonce: () => string): void {
  listener.get<{ Querystring: { dir?: string } }>(galleryPath, (request, reply) =>
    sendWorkspace(reply, {
      title: 'Components · Tillgate',
      heading: 'Components',
      nonce: newNonce(),
      language: { tag: 'en', direction: request.query.dir === 'rtl' ? 'rtl' : 'ltr' },
      brand: wordmark(statusBadge('wait', 'sandbox', 'flask-conical')),
      navigation: [
        {
          label: 'Gallery',
          areas: [
            { path: galleryPath, label: 'Components', icon: 'layout-dashboard', isCurrent: true },
            { path: `${galleryPath}?dir=rtl`, label: 'Right to left', icon: 'globe', isCurrent: false },
          ],
        },
      ],
      search: { path: galleryPath, label: 'Search', placeholder: 'Search', maxLength: 64 },
      account: html`<strong>admin</strong> · viewer`,
      signOut: { path: galleryPath, token: '' },
      words: { skip: 'Skip to content', areas: 'Areas', menu: 'Menu', signOut: 'Sign out' },
      content: html`${controls()}${lists()}${figures()}${states()}`,
    }),
  )
}

function controls(): Html {
  return html`<h2>Type</h2>
<p class="figure">€1,234.50 ${statusPill('partially_refunded', 'Partially refunded')}</p>
<p>Body text with a <a href="${galleryPath}">link</a>, <strong>strong text</strong>, <span class="quiet">quiet text</span>, and <code>code</code>.</p>
<h2>Statuses</h2>
<p class="acts">${statuses.map((each) => statusPill(each, each.replaceAll('_', ' ')))}</p>
<h2>Messages</h2>
${flashMessage({ kind: 'good', text: 'Refund created. The customer receives the money within a few minutes.' })}
${flashMessage({ kind: 'bad', text: 'Nothing was changed. Fix the following:', errors: [{ field: 'amount', message: 'Enter an amount of at most 12.50.' }] })}
${notice('wait', 'A payout is waiting for approval.')}
${notice('info', 'Your bank is processing the payment.')}
<h2>Buttons</h2>
<p class="acts"><button class="primary" type="button">Create link</button><button type="button">Export CSV</button><button class="danger" type="button">Refund</button><button class="plain" type="button">Not now</button><button type="button" disabled>Disabled</button><button class="primary" type="button" aria-busy="true">Paying</button></p>
<h2>Fields</h2>
<form class="card stack narrow">
${fieldOf({ name: 'title', label: 'Title', hint: 'Customers see the title.', value: 'A set of six cups' })}
${fieldOf({ name: 'amount', label: 'Amount', value: '99.00', error: { message: 'Enter an amount of at most 12.50.', isFirst: false } })}
${fieldOf({
  name: 'role',
  label: 'Role',
  value: 'viewer',
  choices: [
    ['viewer', 'Viewer'],
    ['owner', 'Owner'],
  ],
})}
${fieldOf({
  name: 'events',
  label: 'Events',
  ticked: ['paid'],
  choices: [
    ['paid', 'An order is paid'],
    ['failed', 'A payment fails'],
  ],
})}
${fieldOf({ name: 'note', label: 'Note', kind: 'long', value: 'Several lines' })}
</form>
`
}

function lists(): Html {
  return html`<h2>Tabs and filters</h2>
<nav class="tabs" aria-label="Tabs"><ul><li><a href="${galleryPath}" aria-current="page">Orders</a></li><li><a href="${galleryPath}">Payment links</a></li></ul></nav>
<nav class="segments" aria-label="Period"><ul><li><a href="${galleryPath}">24 hours</a></li><li><a href="${galleryPath}" aria-current="true">7 days</a></li><li><a href="${galleryPath}">30 days</a></li></ul></nav>
<ul class="chips"><li><a href="${galleryPath}" aria-current="true">All</a></li><li><a href="${galleryPath}">Paid</a></li><li><a href="${galleryPath}">Failed</a></li></ul>
<form class="filters"><label class="wide">Order number<input name="q"></label><label>From<input type="date" name="from"></label><button type="button">Filter</button></form>
<h2>Tables</h2>
${table(
  'Orders',
  ['Order number', number('Amount'), 'Status', 'Created', 'Payment ID'],
  statuses
    .slice(0, 6)
    .map((each, index) => [
      html`<a href="${galleryPath}">A-10${index}</a>`,
      html`<span class="money">€${12 + index}.50</span>`,
      statusPill(each, each),
      '3 minutes ago',
      html`<code>P01M7RH5Z2DNWC1SYJ2GGJESB${index}</code>`,
    ]),
  { isList: true },
)}
${pages(galleryPath, new URLSearchParams('before=x'), { older: 'y' })}
`
}

function figures(): Html {
  return html`<h2>Charts</h2>
<div class="charts">${chart({
    id: 'volume',
    title: 'Paid volume',
    times,
    lines: [
      { label: 'Paid', look: 'first', values: volume, texts: volume, whole: '€960.00' },
      {
        label: 'Failed',
        look: 'second',
        values: volume.map((each) => each / 4),
        texts: volume,
        whole: '€240.00',
      },
    ],
    write: String,
  })}${chart({ id: 'none', title: 'No data', times, lines: [{ label: 'No data', look: 'first', values: times.map(() => undefined), texts: [], whole: '—' }], write: String })}</div>
<h2>Cards, names with values, timeline</h2>
<div class="grid"><section class="card"><h2>Details</h2>${facts([
    ['Payment ID', html`<code>P01M7RH5Z2DNWC1SYJ2GGJESB7</code>`],
    ['Fee', '€0.66'],
    ['Net', '€11.84'],
  ])}</section>
<section class="card"><h2>Timeline</h2><ol class="timeline"><li>${statusPill('pending', 'Pending')}<p>12:00 · the merchant</p></li><li>${statusPill('success', 'Paid')}<p>12:01 · the customer</p></li></ol></section></div>
`
}

function states(): Html {
  return html`<h2>Dialog</h2>
<details class="act"><summary class="button danger">Refund…</summary><dialog aria-label="Refund"><form class="stack" method="dialog"><h2>Refund</h2><p>The money goes back to the customer.</p><button class="danger">Refund</button><button class="close">Not now</button></form></dialog></details>
<h2>Empty states, progress, secrets</h2>
<div class="empty card">${icon('link')}<h2>No payment links yet</h2><p>Create a link and share it with your customers.</p><a class="button primary" href="${galleryPath}">Create link</a></div>
${empty('No order matches these filters.')}
<p><label>Importing 40 of 100 lines<progress value="40" max="100"></progress></label></p>
<p class="skeleton"></p>
<p class="secret"><code>whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw</code></p>
<details class="fold"><summary>Order as JSON</summary><div><pre tabindex="0">{"orderNo": "A-100"}</pre></div></details>`
}
