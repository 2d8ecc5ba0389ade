// The test bank's pages: templates alone.
import { Html, html, page } from '../page.ts'
import { type Bank, type Choice, type Payment, refundWays } from './bank.ts'
import { disputesPart } from './disputes.ts'

const about = 'Sandbox rail. No real money moves.'
const mark = new Html('<path d="M4 10h16L12 4zM6 10v8M10 10v8M14 10v8M18 10v8M3 20h18"/>')
const bankPage = (title: string, content: Html) =>
  page({ title: `${title} – Test bank`, name: 'Test bank', about, mark, content })

/** The button, named as in the sandbox's checkout, and what comes of it. */
const words: Record<Choice, readonly [button: string, about: string]> = {
  approve: ['Approve', 'Paid. The gateway is notified immediately.'],
  decline: ['Decline', 'No money moves.'],
  delay: ['Approve after 5 seconds', 'The payment stays submitted until then.'],
  late: ['Approve after the order expires', 'Stays pending until the order ends, then succeeds.'],
  twice: ['Approve (duplicate notification)', 'Paid. The same notification is sent twice.'],
  never: ['Never respond', 'Stays submitted until you decide on the bank’s home page.'],
}
const refundWords = {
  approve: 'Approved immediately',
  delay: 'Approved after 5 seconds',
  decline: 'Declined',
} as const
const kinds: Record<string, string> = { approved: 'good', declined: 'bad', cancelled: 'bad' }
const badge = (status: string) => html`<span class="badge ${kinds[status] ?? 'wait'}">${status}</span>`

export function payPage(payment: Payment): string {
  const { amount, currency, merchantName, orderNo, description, status, choice, returnUrl } = payment
  return bankPage(
    `Pay ${amount} ${currency}`,
    html`<section class="card"><h1>Pay ${merchantName}</h1>
<p class="amount">${amount} <small>${currency}</small></p>
<p class="quiet order">Order ${orderNo}${description && html`<br>${description}`}</p>
${
  status === 'pending' && choice === undefined
    ? html`<form method="post">${buttons(['approve', 'decline'])}
<h2>More outcomes</h2>
${buttons(['delay', 'late', 'twice', 'never'])}</form>`
    : html`<p role="status">${badge(status)} ${choice && words[choice][1]}</p>
<p><a href="${returnUrl}">Back to the checkout</a></p>`
}</section>`,
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
${payments.length === 0 && html`<p class="quiet">No payments yet. Choose the test bank at the checkout of the sandbox.</p>`}
<ul class="rows">${payments.map((payment) => paymentRow(payment, bank))}</ul>
<h2>Outcome of new refunds</h2>
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
${disputesPart(payment, bank)}
${
  ['pending', 'submitted'].includes(status) &&
  html`<form method="post" action="/pay/${transactionId}" class="row"><input type="hidden" name="stay" value="1">
<button name="choice" value="approve" aria-label="Approve ${reference}">Approve</button> <button name="choice" value="decline" aria-label="Decline ${reference}">Decline</button></form>`
}
</li>
`
}

export const troublePage = (trouble: string) =>
  bankPage('Not found', html`<h1>That did not work</h1><p>${trouble}</p>`)
