// The payee: the merchant's logo and name, on top of every page that takes a payment.

import type { Merchant } from '../../../core/merchants/rules/merchant.ts'
import { type Html, html } from '../../kit/html.ts'
import { logoPath } from '../../kit/pages/logos.ts'
import type { Language } from '../languages.ts'

export function shop(merchant: Pick<Merchant, 'merchantId' | 'name' | 'logoHash'>): Html {
  return html`<span class="shop">${mark(merchant)}<bdi>${merchant.name}</bdi></span>`
}

function mark({ merchantId, name, logoHash }: Parameters<typeof shop>[0]): Html {
  return logoHash === undefined
    ? html`<span class="mark" aria-hidden="true">${initialOf(name)}</span>`
    : html`<img class="mark" src="${logoPath(merchantId, logoHash)}" alt="" width="32" height="32">`
}

/** The one large amount. The font shrinks with its length, so that it fits on one line of a small phone. */
export function total({ formats }: Language, minor: bigint, currency: string): Html {
  const length = formats.moneyText(minor, currency).length
  const size = length <= 12 ? '' : length <= 18 ? ' long' : ' longer'
  return html`<span class="total${size}">${formats.money(minor, currency)}</span>`
}

/** The first grapheme, so that an emoji stays whole. */
export function initialOf(name: string): string {
  // A fast path for names that start with ASCII characters.
  const plain = /^\s*([A-Za-z0-9])[ -~]/.exec(name)?.[1]
  if (plain !== undefined) return plain.toUpperCase()
  const [first] = segmenter.segment(name.trim())
  return first?.segment.toLocaleUpperCase() ?? ''
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A title cannot contain elements, so the text is isolated by Unicode characters. */
export function isolated(text: string): Html {
  return html`&#x2068;${text}&#x2069;`
}
