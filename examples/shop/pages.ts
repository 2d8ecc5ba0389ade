// The shop's pages: templates alone.
import { isFinalOrderStatus, isFinalRefundStatus, toDecimalText } from '@tillgate/sdk'
import { baseStyle, Html, html, type PageParts, page } from '../page.ts'
import { type CartLine, totalMinor } from './cart.ts'
import { currency, goods } from './goods.ts'
import type { ShopOrder } from './shop.ts'

const price = (minor: bigint) => `${toDecimalText(minor, currency)} ${currency}`

const shopPageOf = (parts: Pick<PageParts, 'title' | 'content' | 'isWaiting'>) =>
  page({ name: 'Leaf & Cup', about: 'a demo shop: no real money, no real tea', ...parts })

export function shopPage(cart: readonly CartLine[]): string {
  return shopPageOf({
    title: 'Leaf & Cup',
    content: html`<h1>Everything for tea</h1>
<ul class="goods">
${goods.map(
  ({ id, name, about, priceMinor, drawing }) => html`<li>
<svg viewBox="0 0 48 48" aria-hidden="true">${new Html(drawing)}</svg>
<div><h2>${name}</h2><p class="quiet">${about}</p></div>
<p class="money">${price(priceMinor)}</p>
${button({ goodsId: id, by: 1, words: 'Add to cart', label: `Add to cart: ${name}` })}
</li>
`,
)}</ul>
<section class="cart" aria-labelledby="cart">
<h2 id="cart">Your cart</h2>
${cart.length === 0 ? html`<p class="quiet">It is empty. Add something, then pay with test money.</p>` : cartLines(cart)}
</section>`,
  })
}

function cartLines(cart: readonly CartLine[]): Html {
  return html`<table>
<tbody>
${cart.map(
  ({ goods: { id, name, priceMinor }, quantity }) => html`<tr>
<th scope="row">${name}</th>
<td class="quantity">${button({ goodsId: id, by: -1, words: '−', label: `One ${name} less` })}
<span>${quantity}</span>
${button({ goodsId: id, by: 1, words: '+', label: `One ${name} more` })}</td>
<td class="money">${price(priceMinor * BigInt(quantity))}</td>
</tr>
`,
)}</tbody>
<tfoot><tr><th scope="row" colspan="2">Total</th><td class="money total">${price(totalMinor(cart))}</td></tr></tfoot>
</table>
<form method="post" action="/buy"><button class="primary">Buy</button></form>`
}

function button(what: { goodsId: string; by: 1 | -1; words: string; label: string }): Html {
  return html`<form method="post" action="/cart"><input type="hidden" name="goods" value="${what.goodsId}"><input type="hidden" name="by" value="${what.by}"><button aria-label="${what.label}">${what.words}</button></form>`
}

export function isSettled({ status, refundStatus }: ShopOrder): boolean {
  return refundStatus ? isFinalRefundStatus(refundStatus) : isFinalOrderStatus(status)
}

const headlines: Record<string, readonly [kind: 'good' | 'wait' | 'bad', badge: string, words: string]> = {
  pending: ['wait', 'Waiting', 'We wait to hear that you paid.'],
  confirming: ['wait', 'Being paid', 'Your payment is on its way.'],
  success: ['good', 'Paid', 'Thank you. Your order is paid.'],
  failed: ['bad', 'Not paid', 'The payment failed. No money was taken.'],
  timeout: ['bad', 'Not paid', 'Time ran out before the order was paid. No money was taken.'],
  cancelled: ['bad', 'Cancelled', 'The order is cancelled. No money was taken.'],
  refunding: ['wait', 'Being refunded', 'Your money is on its way back.'],
  refund_success: ['good', 'Refunded', 'Your money is back in your wallet.'],
  refund_failed: ['bad', 'Not refunded', 'The refund failed. The order is still paid.'],
}

/** `redirectStatus` is what the consumer brought back, verified for this very payment. */
export function orderPage(order: ShopOrder, redirectStatus: string | undefined): string {
  const { orderNo, status, refundStatus, callback, checkoutUrl } = order
  const [kind, badge, words] = headlines[refundStatus ?? status] ?? ['wait', status, '']
  const isWaiting = !isSettled(order)
  return shopPageOf({
    title: `${badge} – Leaf & Cup`,
    isWaiting,
    content: html`<p class="badge ${kind}" role="status">${badge}</p>
<h1>${words}</h1>
${isWaiting && !order.isAsked && html`<p class="quiet">This page waits for the gateway’s callback and looks again every second.</p>`}
${status === 'pending' && checkoutUrl && html`<p><a href="${checkoutUrl}">Go on paying</a></p>`}
${kind === 'bad' && !refundStatus && html`<form method="post" action="/buy"><button class="primary">Try again</button></form>`}
${status === 'success' && !refundStatus && html`<form method="post" action="/orders/${orderNo}/refund"><button>Refund it all</button></form>`}
<h2>How the shop knows</h2>
<ol class="steps">
<li><strong>Order made</strong> <code>${orderNo}</code></li>
${redirectStatus && html`<li><strong>You came back</strong> with a signed <code>status=${redirectStatus}</code>, which is shown and not relied on</li>`}
${order.isAsked && html`<li><strong>No callback came</strong>, so the shop asked: <code>${refundStatus ?? status}</code></li>`}
${
  callback
    ? html`<li><strong>Callback received</strong> <code>${callback.event.eventName}</code>, verified and decrypted
<p class="quiet">id <code>${callback.event.id}</code>, at <time datetime="${new Date(callback.receivedAtMs).toISOString()}">${new Date(callback.receivedAtMs).toLocaleTimeString('en-GB')}</time></p>
<pre tabindex="0" aria-label="What the callback said">${JSON.stringify(callback.event.result, null, 2)}</pre></li>`
    : !order.isAsked && html`<li class="quiet">The callback has not come yet.</li>`
}
</ol>
<p><a href="/">Back to the shop</a></p>`,
  })
}

export function troublePage(words: string): string {
  return shopPageOf({
    title: 'Leaf & Cup',
    content: html`<h1>That did not work.</h1>
<p>${words}</p>
<p><a href="/">Back to the shop</a></p>`,
  })
}

export const style = `${baseStyle}
.goods { margin: 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.goods li { display: grid; grid-template-columns: 48px 1fr auto; gap: 0 16px; align-items: center; padding: 16px; }
.goods li + li { border-top: 1px solid var(--line); }
.goods p { margin: 0; }
.goods .quiet { font-size: 0.8125rem; }
.goods form { grid-column: 2 / -1; margin-top: 8px; }
svg { width: 48px; height: 48px; fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.money { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.cart { margin-top: 32px; padding: 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.cart > p { margin: 8px 0 0; }
table { width: 100%; margin: 8px 0 16px; border-collapse: collapse; }
th { font-weight: 400; text-align: left; }
th, td { padding: 4px 0; }
tbody tr:last-child > * { padding-bottom: 16px; }
tfoot th, tfoot td { padding-top: 16px; border-top: 1px solid var(--line); }
.total { font-size: 1.375rem; font-weight: 600; }
.quantity form { display: inline; }
.quantity button { width: 40px; padding: 0; }
.quantity span { display: inline-block; width: 32px; text-align: center; font-variant-numeric: tabular-nums; }
.quantity { text-align: center; white-space: nowrap; }
.badge + h1 { margin-top: 8px; }
main > h2 { margin-top: 32px; }
.steps { margin: 8px 0 16px; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); }
.steps li { padding: 8px 16px; }
.steps li + li { border-top: 1px solid var(--line); }
.steps p { margin: 0; font-size: 0.8125rem; }
pre { margin: 8px 0 0; padding: 8px; border-radius: 4px; background: var(--ground); overflow-x: auto; white-space: pre-wrap; }
@media (min-width: 560px) {
  .goods li { grid-template-columns: 48px 1fr auto auto; }
  .goods form { grid-column: auto; margin: 0; }
}
`
