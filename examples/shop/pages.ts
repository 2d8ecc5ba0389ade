// The shop's pages: templates alone.
import { isFinalOrderStatus, isFinalRefundStatus, toDecimalText } from '@tillgate/sdk'
import { baseStyle, Html, html, type PageParts, page } from '../page.ts'
import { type CartLine, totalMinor } from './cart.ts'
import { currency, goods } from './goods.ts'
import type { ShopOrder } from './shop.ts'

const prices = new Intl.NumberFormat('en', { style: 'currency', currency })
/** Safe: the text is a decimal number, which the format takes without rounding. */
const price = (minor: bigint) => prices.format(toDecimalText(minor, currency) as `${number}`)

const leaf = new Html('<path d="M5 19c0-9 5-14 14-14 0 9-5 14-14 14zM5 19l8-8"/>')
const shopPageOf = (parts: Pick<PageParts, 'title' | 'content' | 'isWaiting'>) =>
  page({ name: 'Leaf & Cup', about: 'Demo shop. No real money, no real tea.', mark: leaf, ...parts })

export function shopPage(cart: readonly CartLine[]): string {
  return shopPageOf({
    title: 'Leaf & Cup',
    content: html`<div class="shop"><div><h1>Everything for tea</h1>
<p class="quiet lead">Put something into the cart, pay with test money, and see what the shop receives.</p>
<ul class="goods">
${goods.map(
  ({ id, name, about, priceMinor, drawing }) => html`<li>
<svg viewBox="0 0 48 48" aria-hidden="true">${new Html(drawing)}</svg>
<div class="what"><h2>${name}</h2><p class="quiet">${about}</p></div>
<p class="money">${price(priceMinor)}</p>
${button({ goodsId: id, by: 1, words: 'Add to cart', label: `Add to cart: ${name}` })}
</li>
`,
)}</ul></div>
<section class="cart card" aria-labelledby="cart">
<h2 id="cart">Your cart</h2>
${cart.length === 0 ? html`<p class="quiet">Your cart is empty.</p>` : cartLines(cart)}
</section></div>`,
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
  pending: ['wait', 'Pending', 'Your order is waiting for your payment.'],
  confirming: ['wait', 'Processing', 'Your payment is being processed.'],
  success: ['good', 'Paid', 'Thank you. Your order is paid.'],
  failed: ['bad', 'Failed', 'The payment failed. You have not been charged.'],
  timeout: ['bad', 'Expired', 'The payment expired. You have not been charged.'],
  cancelled: ['bad', 'Cancelled', 'The order was cancelled. You have not been charged.'],
  refunding: ['wait', 'Refund pending', 'Your refund is on its way.'],
  refund_success: ['good', 'Refunded', 'Your money was refunded.'],
  refund_failed: ['bad', 'Refund failed', 'The refund failed. The order is still paid.'],
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
${isWaiting && !order.isAsked && html`<p class="quiet">Waiting for the gateway’s callback. This page reloads every second.</p>`}
${status === 'pending' && checkoutUrl && html`<p><a href="${checkoutUrl}">Continue to payment</a></p>`}
${kind === 'bad' && !refundStatus && html`<form method="post" action="/buy"><button class="primary">Try again</button></form>`}
${status === 'success' && !refundStatus && html`<form method="post" action="/orders/${orderNo}/refund"><button>Refund this order</button></form>`}
<h2>What the shop received</h2>
<ol class="steps card">
<li><strong>Order created</strong> <code>${orderNo}</code></li>
${redirectStatus && html`<li><strong>You returned</strong> with a signed <code>status=${redirectStatus}</code>. Only the callback decides.</li>`}
${order.isAsked && html`<li><strong>No callback arrived</strong>, so the shop queried the order: <code>${refundStatus ?? status}</code></li>`}
${
  callback
    ? html`<li><strong>Callback received</strong> <code>${callback.event.eventName}</code>, verified and decrypted
<p class="quiet">id <code>${callback.event.id}</code>, at <time datetime="${new Date(callback.receivedAtMs).toISOString()}">${new Date(callback.receivedAtMs).toLocaleTimeString('en-GB')}</time></p>
<pre tabindex="0" aria-label="Content of the callback">${JSON.stringify(callback.event.result, null, 2)}</pre></li>`
    : !order.isAsked && html`<li class="quiet">The callback has not arrived yet.</li>`
}
</ol>
<p><a href="/">Back to the shop</a></p>`,
  })
}

export function troublePage(words: string): string {
  return shopPageOf({
    title: 'Leaf & Cup',
    content: html`<h1>That did not work</h1>
<p>${words}</p>
<p><a href="/">Back to the shop</a></p>`,
  })
}

export const style = `${baseStyle}
:root { --serif: "Iowan Old Style", Palatino, "Palatino Linotype", P052, Georgia, serif; }
.name, h1 { font-family: var(--serif); }
header > div, main { max-width: 1080px; }
main:not(:has(.shop)) { max-width: 672px; }
.lead { margin-bottom: 24px; }
.shop { display: grid; grid-template-columns: minmax(0, 1fr); gap: 32px; }
.goods { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 260px), 1fr)); gap: 16px; margin: 0; padding: 0; list-style: none; }
.goods li { display: grid; grid-template-columns: 1fr auto; gap: 12px; align-items: center; padding: 16px; border: 1px solid var(--line); border-radius: 16px; background: var(--surface); box-shadow: var(--shadow); }
.goods p { margin: 0; }
.goods .quiet { font-size: 0.875rem; }
.goods .what { grid-column: 1 / -1; align-self: start; }
.goods .money { font-size: 1.125rem; font-weight: 600; text-align: left; }
.goods svg { grid-column: 1 / -1; width: 100%; height: 144px; padding: 24px; border-radius: 10px; background: color-mix(in srgb, var(--tint) 16%, var(--surface)); fill: color-mix(in srgb, var(--tint) 24%, var(--surface)); stroke: light-dark(color-mix(in srgb, var(--tint) 70%, #10201c), var(--tint)); stroke-width: 1.25; stroke-linecap: round; stroke-linejoin: round; }
.goods li { --tint: #3f9d6d; }
.goods li:nth-child(2) { --tint: #6f8f9c; }
.goods li:nth-child(3) { --tint: #c9825b; }
.goods li:nth-child(4) { --tint: #d9a32f; }
.money { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.cart { align-self: start; }
.cart > p { margin: 8px 0 0; }
table { width: 100%; margin: 8px 0 16px; border-collapse: collapse; }
th { font-weight: 400; text-align: left; }
th, td { padding: 4px 0; }
tbody tr:last-child > * { padding-bottom: 16px; }
tfoot th, tfoot td { padding-top: 16px; border-top: 1px solid var(--line); font-weight: 600; }
.total { font-size: 1.25rem; }
.quantity form { display: inline; }
.quantity button { width: 36px; min-height: 36px; padding: 0; border-color: var(--line); }
.quantity span { display: inline-block; width: 28px; text-align: center; font-variant-numeric: tabular-nums; }
.quantity { text-align: center; white-space: nowrap; }
main > h2 { margin-top: 40px; margin-bottom: 12px; }
.steps { padding: 8px 24px; list-style: none; }
.steps li { padding: 12px 0; }
.steps li + li { border-top: 1px solid var(--line); }
.steps p { margin: 0; font-size: 0.8125rem; }
.steps + p { margin-top: 24px; }
pre { margin: 8px 0 0; padding: 12px 16px; border-radius: 8px; background: var(--sunken); overflow-x: auto; white-space: pre-wrap; }
@media (max-width: 559px) {
  .goods li { grid-template-columns: 88px 1fr auto; }
  .goods svg { grid-row: 1 / 3; grid-column: 1; height: 100%; padding: 12px; }
  .goods .what { grid-column: 2 / -1; }
}
@media (min-width: 900px) {
  .shop { grid-template-columns: minmax(0, 1fr) 340px; }
  .cart { position: sticky; top: 24px; }
}
`
