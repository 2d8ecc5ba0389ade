// The checkout page of one order in any state: payee and amount on top, then the payment methods or the result, then
// the collapsed details. The layout is the same in all states.
import { isFinalOrderStatus } from '@tillgate/protocol'
import { returnUrlOf } from '../../../core/orders/return-to-shop.ts'
import { isHeld, seenStatus } from '../../../core/orders/rules/order.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { FramedPage } from './frame.ts'
import { countdown, payState } from './pay.ts'
import { resultState } from './result.ts'
import { isolated, shop, total } from './shop.ts'
import { readSummary, type Summary, summary } from './summary.ts'
import { testTools } from './test-tools.ts'
import type { ShownAttempt, View } from './view.ts'

/** How often a browser without scripts refreshes a payment in progress. */
const refreshSeconds = 3
/** Longer while the consumer copies an account and a reference. */
const copyingSeconds = 30

export function checkoutPage(view: View): Omit<FramedPage, 'nonce' | 'accentStyle'> {
  const { order, merchant, language, mode, brand } = view
  const isPayable = order.status === 'pending' && merchant.status === 'active'
  const isCompact = order.channel === 'APP'
  const content = readSummary(order.content)
  return {
    language,
    mode,
    brand,
    title: titleOf(view),
    isCompact,
    withScript: true,
    withPasskeys: isPayable && view.visitor?.passkeySite !== undefined,
    ...refresh(view),
    main: html`<main id="checkout" data-status="${seenStatus(order)}" data-now="${view.nowMs}" data-expires="${order.expiresAtMs}" data-path="${view.path}"${view.rails.open && html` data-attempt="${attemptStamp(view.rails.open)}"`}>
<div class="card">
${due(view, content, isPayable)}
<section class="state ${seenStatus(order)}${!isPayable && ' result'}" aria-labelledby="state">
${isPayable ? payState(view) : resultState(view)}
${leave(view)}
</section>
${summary(view, content)}
${isPayable && !isCompact && phone(view)}
</div>
${isPayable && mode === 'sandbox' && !view.rails.open && testTools(view)}
</main>`,
  }
}

/** Leaves the order unchanged. A result has its own button. */
function leave({ order, merchant, language, path }: View): Content {
  if (isHeld(order) || isFinalOrderStatus(order.status) || returnUrlOf(order) === undefined) return undefined
  const name = html`<bdi>${merchant.name}</bdi>`
  return html`<p class="leave small"><a class="link" href="${path}/return" rel="noreferrer"><span>${fill(language.words.back.button, { merchant: name })}</span></a></p>`
}

function due(view: View, { orderDescription }: Summary, isPayable: boolean): Html {
  const { order, merchant, language } = view
  return html`<header class="due">
${isPayable && countdown(view)}
<h1>${shop(merchant)}
${total(language, order.paymentAmountMinor, order.currency)}</h1>
${orderDescription !== undefined && html`<p class="quiet about"><bdi class="lines">${orderDescription}</bdi></p>`}
</header>`
}

/** The page is rendered again when the stamp changes. */
export function attemptStamp({ status, isLeaving, nextAction }: ShownAttempt): string {
  if (isLeaving) return 'leaving'
  // A part of the money may have arrived, which reduces the remaining amount.
  const lines = nextAction?.kind === 'instructions' ? nextAction.lines.map(({ value }) => value) : []
  return [status, ...lines].join(' ')
}

/** Collapsed, and hidden on phones. The image is loaded only when it is opened. */
function phone({ language, path }: View): Html {
  const { heading, text, code, emv } = language.words.phone
  return html`<details class="fold phone">
<summary>${heading}</summary>
<div><img class="qr" src="${path}/qr.svg" alt="${code}" width="184" height="184" loading="lazy">
<p class="quiet small">${text}</p>
<details class="emv"><summary>${emv}</summary><img class="qr" src="${path}/emv.svg" alt="${emv}" width="184" height="184" loading="lazy"></details></div>
</details>`
}

/** A waiting order refreshes only when it ends, because a reload would discard typed input. */
function refresh({ order, nowMs, rails, note }: View): Pick<FramedPage, 'refreshSeconds' | 'goesTo'> {
  if (isFinalOrderStatus(order.status)) return rails.late?.status === 'asking' ? { refreshSeconds } : {}
  if (isHeld(order)) return {}
  const action = rails.open?.nextAction
  if (action?.kind === 'redirect' && note?.code === 'goOn') return { goesTo: action.url }
  if (action?.kind === 'instructions') return { refreshSeconds: copyingSeconds }
  if (order.status === 'confirming' || rails.open) return { refreshSeconds }
  return { refreshSeconds: Math.max(1, Math.ceil((order.expiresAtMs - nowMs) / 1000)) + 1 }
}

/** What to do, or the result, and the merchant. */
function titleOf({ order, merchant, language: { words } }: View): Content {
  const name = isolated(merchant.name)
  const status = seenStatus(order)
  return status === 'pending'
    ? fill(words.title, { merchant: name })
    : html`${words[status].status} · ${name}`
}
