// What an order's page shows of its authorization: how much can still be captured, until when, and each capture.
import type { Capture } from '../../../core/orders/captures/rules/capture.ts'
import { isHeld, type Order } from '../../../core/orders/rules/order.ts'
import type { OrderDetails } from '../../../finance/overview/show-order.ts'
import { type Html, html } from '../../kit/html.ts'
import type { Language } from '../languages.ts'
import { shortId, time } from '../parts.ts'
import type { Visit } from '../portal.ts'
export function authorizationFacts(language: Language, { authorization, currency, ...order }: Order) {
  if (!authorization) return []
  const { words, formats } = language
  const { authorizedMinor, capturedMinor, heldUntilMs } = authorization
  const isOpen = isHeld({ ...order, authorization })
  return [
    [words.orders.authorized, formats.money(authorizedMinor, currency)] as const,
    [words.orders.captured, formats.money(capturedMinor, currency)] as const,
    isOpen && ([words.orders.remaining, formats.money(authorizedMinor - capturedMinor, currency)] as const),
    isOpen && heldUntilMs !== undefined && ([words.orders.heldUntil, time(heldUntilMs, language)] as const),
  ]
}

export function captureList({ language }: Visit, { order, captures }: OrderDetails): Html {
  return html`<ul class="list">${captures.map(
    (each) =>
      html`<li><strong>${language.formats.money(each.amountMinor, order.currency)}</strong><br><span class="quiet small">${progressOf(each, language)} · ${shortId(each.referCaptureNo)}</span></li>`,
  )}</ul>`
}

function progressOf({ capturedAtMs, failure }: Capture, language: Language): Html | string {
  const { orders } = language.words
  if (capturedAtMs !== undefined) return time(capturedAtMs, language)
  return failure === undefined ? orders.capturing : `${orders.captureFailed}: ${failure}`
}
