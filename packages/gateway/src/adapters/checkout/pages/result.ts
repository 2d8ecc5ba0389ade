// An order that can no longer be paid, or is being processed: the result in a sentence, and the link back to the shop.
import { isFinalOrderStatus } from '@tillgate/protocol'
import { returnUrlOf } from '../../../core/orders/return-to-shop.ts'
import { isHeld, seenStatus } from '../../../core/orders/rules/order.ts'
import { tokenField } from '../../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { Words } from '../words.ts'
import { type IconName, icon } from './icons.ts'
import { notice } from './notice.ts'
import type { View } from './view.ts'

/** The time to read a result; failures take longer to read. */
const returnAfterSeconds = { success: 5, other: 10 } as const
/** A consumer who opens the page later is not redirected. */
const returnsWithinMs = 2 * 60_000

export function resultState(view: View): Content {
  const { words } = view.language
  switch (seenStatus(view.order)) {
    case 'pending':
      return state(view, { icon: 'stopped', tone: 'wait', ...words.suspended })
    case 'confirming':
      return state(view, { icon: 'working', tone: 'wait', ...words.confirming, text: processing(view) })
    case 'authorized':
      return state(view, { icon: 'lock', tone: 'good', ...words.authorized, text: reserved(view) })
    case 'success': {
      const said = view.order.topsUp === undefined ? words.success : words.topUp
      return state(view, { icon: 'done', tone: 'good', ...said }, paid(view))
    }
    case 'failed':
      return state(view, { icon: 'failed', tone: 'bad', ...words.failed, ...late(view) }, reason(view))
    case 'timeout':
      return state(view, { icon: 'over', tone: 'wait', ...words.timeout, ...late(view) })
    case 'cancelled':
      return state(view, { icon: 'stopped', tone: 'wait', ...words.cancelled, ...late(view) })
  }
}

/** Names who processes the payment, and that nothing is left to do. */
function processing({ order, merchant, rails, language }: View): Content {
  const { words, formats } = language
  const names = { merchant: html`<bdi>${merchant.name}</bdi>`, rail: html`<bdi>${rails.processing}</bdi>` }
  if (order.walletId === undefined) return fill(words.confirming.rail, names)
  const amount = formats.money(order.paymentAmountMinor, order.currency)
  return fill(words.confirming.wallet, { ...names, amount })
}

function reserved({ order, merchant, language: { words, formats } }: View): Content {
  const { authorizedMinor = 0n, capturedMinor = 0n } = order.authorization ?? {}
  return fill(words.authorized.text, {
    amount: formats.money(authorizedMinor - capturedMinor, order.currency),
    merchant: html`<bdi>${merchant.name}</bdi>`,
  })
}

/** Replaces the sentence that no money was taken. */
function late({ rails, language }: View): Pick<Head, 'text'> {
  if (!rails.late) return {}
  const { name, status } = rails.late
  return { text: fill(language.words.late[status], { rail: html`<bdi>${name}</bdi>` }) }
}

interface Head {
  readonly icon: IconName
  readonly tone: 'good' | 'wait' | 'bad'
  readonly heading: string
  readonly text?: Content
  readonly next?: string
}

function state(view: View, head: Head, more?: Content): Html {
  const merchant = html`<bdi>${view.merchant.name}</bdi>`
  return html`<p class="status ${head.tone}">${head.icon === 'done' ? paidMark : icon(head.icon)}</p>
${notice(view)}
<h2 id="state" tabindex="-1">${fill(head.heading, { merchant })}</h2>
${head.text !== undefined && html`<p>${typeof head.text === 'string' ? fill(head.text, { merchant }) : head.text}</p>`}
${more}
${head.next !== undefined && html`<p class="quiet">${fill(head.next, { merchant })}</p>`}
${(isHeld(view.order) || isFinalOrderStatus(view.order.status)) && wayBack(view)}`
}

/** Animated once, unless reduced motion is preferred. */
const paidMark = html`<svg class="icon paid" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="m7 12.5 3.4 3.4L17 8.6" pathLength="1"/></svg>`

function paid({ order, language }: View): Content {
  const { success } = language.words
  const { formats } = language
  const { currency, refundedMinor, refundHeldMinor, completedAtMs, transactionId } = order
  return html`${
    refundedMinor > 0n &&
    html`<p>${fill(success.refunded, { amount: formats.money(refundedMinor, currency) })}</p>`
  }${
    refundHeldMinor > 0n &&
    html`<p>${fill(success.refunding, { amount: formats.money(refundHeldMinor, currency) })}</p>`
  }
<dl class="rows quiet">
${completedAtMs !== undefined && html`<div><dt>${success.time}</dt><dd>${time(completedAtMs, formats.time(completedAtMs))}</dd></div>`}
<div><dt>${success.transaction}</dt><dd><code>${transactionId}</code></dd></div>
</dl>
<p class="print"><button class="link" type="button" id="print" hidden>${success.print}</button></p>`
}

/** The script converts it to the reader's time zone. */
function time(timeMs: number, text: string): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}">${text}</time>`
}

/** Known reasons are translated; other texts of a rail are shown as they are. */
const knownReasons: Readonly<Record<string, (words: Words) => string>> = {
  'The wallet declined the payment.': (words) => words.failed.declined,
  'The authorization expired.': (words) => words.failed.expired,
  'The authorization was released.': (words) => words.failed.released,
}

function reason({ order, merchant, language }: View): Content {
  if (order.message === undefined) return undefined
  const known = Object.hasOwn(knownReasons, order.message) ? knownReasons[order.message] : undefined
  const said = known
    ? fill(known(language.words), { merchant: html`<bdi>${merchant.name}</bdi>` })
    : html`<bdi>${order.message}</bdi>`
  return html`<p>${fill(language.words.failed.reason, { reason: said })}</p>`
}

function wayBack(view: View): Html {
  const { order, merchant, language, path, nowMs } = view
  const { back } = language.words
  const name = html`<bdi>${merchant.name}</bdi>`
  // An unpaid order of a payment link can be tried again there.
  const again =
    order.link !== undefined &&
    order.status !== 'success' &&
    !isHeld(order) &&
    html`<p class="act"><a class="button wide" href="/l/${order.link.linkId}"><span>${back.again}</span></a></p>`
  if (returnUrlOf(order) === undefined)
    return html`${again}<div class="act">${!again && html`<p class="quiet">${back.close}</p>`}${receipt(view)}</div>`
  const isFresh = nowMs - (order.completedAtMs ?? 0) < returnsWithinMs
  const seconds = order.status === 'success' ? returnAfterSeconds.success : returnAfterSeconds.other
  return html`${again}<div class="act">
<a class="primary button" id="back" href="${path}/return" rel="noreferrer"><span>${fill(back.button, { merchant: name })}</span></a>
${
  isFresh &&
  html`<p class="returning small quiet" id="returning" hidden data-seconds="${seconds}" data-stayed="${back.staying}"><span>${fill(back.soon, { merchant: name, time: html`<bdi data-time></bdi>` })}</span> <button class="link" type="button">${back.stay}</button></p>`
}
${receipt(view)}
</div>`
}

/** Beside the link back. The page does not continue automatically while the consumer types. */
function receipt({ order, language, path, formToken, note, isReceiptOffered }: View): Content {
  if (order.status !== 'success' || !isReceiptOffered) return undefined
  const { offer, email, send, text } = language.words.receipt
  const typed = note?.code === 'receiptWrong' || note?.code === 'receiptBusy' ? note.login : undefined
  return html`<details class="fold receipt"${typed !== undefined && html` open`}><summary>${offer}</summary>
<form method="post" action="${path}/receipt">${tokenField(formToken)}
<label for="email">${email}</label>
<input id="email" name="email" type="email" value="${typed}" required maxlength="254" autocomplete="email" dir="ltr">
<button>${send}</button>
<p class="small quiet">${text}</p></form></details>`
}
