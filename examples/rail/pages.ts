// The test bank's pages: templates alone.
import { baseStyle, type Html, html, page } from '../page.ts'
import { type Bank, type Choice, type Payment, refundWays } from './bank.ts'

const about = 'a rail for trying things out: no real money'
const bankPage = (title: string, content: Html) =>
  page({ title: `${title} – Test bank`, name: 'Test bank', about, content })

/** The button, named as in the sandbox's checkout, and what comes of it. */
const words: Record<Choice, readonly [button: string, about: string]> = {
  approve: ['Approve', 'Paid, and told at once.'],
  decline: ['Decline', 'No money moves.'],
  delay: ['Approve after 5 seconds', 'The bank says submitted until then.'],
  late: ['Approve after the order expires', 'Pending until the order has ended, then approved.'],
  twice: ['Approve (duplicate notification)', 'Approved, with two notifications.'],
  never: ['Never respond', 'Submitted until you decide on the front page of the bank.'],
}
const refundWords = { approve: 'Approved at once', delay: 'After 5 seconds', decline: 'Declined' } as const
const kinds: Record<string, string> = { approved: 'good', declined: 'bad', cancelled: 'bad' }
const badge = (status: string) => html`<span class="badge ${kinds[status] ?? 'wait'}">${status}</span>`

export function payPage(payment: Payment): string {
  const { amount, currency, merchantName, orderNo, description, status, choice, returnUrl } = payment
  return bankPage(
    `Pay ${amount} ${currency}`,
    html`<h1>Pay ${merchantName}</h1>
<p class="amount">${amount} <small>${currency}</small></p>
<p class="quiet">Order ${orderNo}${description && html`<br>${description}`}</p>
${
  status === 'pending' && choice === undefined
    ? html`<form method="post">${buttons(['approve', 'decline'])}
<h2>To see what else can happen</h2>
${buttons(['delay', 'late', 'twice', 'never'])}</form>`
    : html`<p role="status">${badge(status)} ${choice && words[choice][1]}</p>
<p><a href="${returnUrl}">Back to the checkout</a></p>`
}`,
  )
}

const buttons = (names: readonly Choice[]) => html`<ul class="choices">${names.map(button)}</ul>`
const button = (
  name: Choice,
) => html`<li><button name="choice" value="${name}"${name === 'approve' && html` class="primary"`}>${words[name][0]}</button>
<span class="quiet">${words[name][1]}</span></li>`

export function frontPage(bank: Bank): string {
  const payments = bank.newestPayments()
  return bankPage(
    'Payments',
    html`<h1>Payments</h1>
${payments.length === 0 && html`<p class="quiet">None yet. Choose the test bank at the checkout of the sandbox.</p>`}
<ul class="rows">${payments.map((payment) => paymentRow(payment, bank))}</ul>
<h2>Refunds from now on</h2>
<form method="post" action="/refunds" class="row">${refundWays.map(
      (way) =>
        html`<button name="way" value="${way}" aria-pressed="${String(way === bank.refundWay())}">${refundWords[way]}</button> `,
    )}</form>`,
  )
}

function paymentRow(payment: Payment, bank: Bank): Html {
  const { transactionId, amount, currency, merchantName, orderNo, status, reference, choice } = payment
  return html`<li>
<p><strong>${amount} ${currency}</strong> ${badge(status)}</p>
<p class="quiet">${merchantName}, order ${orderNo}<br>${reference}${choice && html`<br>${words[choice][0]}`}</p>
${bank.refundsOf(transactionId).map((refund) => html`<p>Refund of ${refund.amount} ${currency} ${badge(refund.status)}</p>`)}
${
  ['pending', 'submitted'].includes(status) &&
  html`<form method="post" action="/pay/${transactionId}" class="row"><input type="hidden" name="stay" value="1">
<button name="choice" value="approve" aria-label="Approve ${reference}">Approve</button> <button name="choice" value="decline" aria-label="Decline ${reference}">Decline</button></form>`
}
</li>
`
}

export const troublePage = (trouble: string) =>
  bankPage('Not found', html`<h1>That did not work.</h1><p>${trouble}</p>`)

export const style = `${baseStyle}
:root { --accent: light-dark(#27548a, #86b3ea); --on-accent: light-dark(#ffffff, #0d1a2a); }
form h2, main > h2 { margin: 32px 0 8px; }
main .quiet { font-size: 0.8125rem; }
.amount { margin: 0; font-size: 2rem; font-weight: 600; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; }
.amount small { font-size: 1rem; font-weight: 400; }
[aria-pressed=true] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.choices, .rows { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere; }
.choices li { display: grid; grid-template-columns: 180px 1fr; gap: 0 16px; align-items: center; margin-bottom: 8px; }
.rows li { margin-bottom: 8px; padding: 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.rows p { margin: 0 0 8px; }
.row { display: flex; flex-wrap: wrap; gap: 8px; }
@media (max-width: 479px) { .choices li { grid-template-columns: 1fr; margin-bottom: 16px; } }
`
