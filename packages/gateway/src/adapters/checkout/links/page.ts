// The page of a payment link: payee, purpose, amount, and one button. Opening it creates no order; the button does, and
// leads to the checkout.
import type { LinkState } from '@tillgate/protocol'
import type { OpenedLink } from '../../../finance/links/open-link.ts'
import type { PaymentLink } from '../../../finance/links/rules/link.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { Language } from '../languages.ts'
import type { FramedPage, Site } from '../pages/frame.ts'
import { type IconName, icon } from '../pages/icons.ts'
import { isolated, shop, total } from '../pages/shop.ts'

export interface LinkView extends OpenedLink, Site {
  readonly language: Language
  readonly path: string
  /** A form sent twice creates one order. */
  readonly formNumber: string
  /** The rejected input and the reason. */
  readonly refused?: { readonly typed: string; readonly why: 'wrong' | 'tooLittle' | 'tooMuch' } | undefined
}

export function linkPage(view: LinkView): Omit<FramedPage, 'nonce' | 'accentStyle'> {
  const { language, mode, brand, link, merchant, state } = view
  const isPayable = state === 'active' && merchant.status === 'active'
  return {
    language,
    mode,
    brand,
    title: fill(language.words.title, { merchant: isolated(merchant.name) }),
    main: html`<main>
<div class="card">
<header class="due">
<h1>${shop(merchant)}
${link.amountMinor !== undefined && total(language, link.amountMinor, link.currency)}</h1>
<p class="quiet about"><bdi>${link.title}</bdi></p>
</header>
<section class="state link-${state}${!isPayable && ' result'}" aria-labelledby="state">
${isPayable ? payForm(view) : notPayable(view)}
</section>
</div>
${goods(view)}
</main>`,
  }
}

function payForm(view: LinkView): Html {
  const { language, link, path, formNumber, refused } = view
  const { words, formats } = language
  const { amountMinor, currency, expiresAtMs } = link
  return html`${refused && html`<p class="notice" role="alert">${icon('notice')}<span>${whyRefused(view)}</span></p>`}
<form method="post" action="${path}" class="pay-link">
<input type="hidden" name="number" value="${formNumber}">
${
  amountMinor === undefined
    ? html`<h2 id="state"><label for="amount">${words.link.amount}</label></h2>
<div class="amount"><input id="amount" name="amount" type="text" inputmode="decimal" autocomplete="off" maxlength="32" dir="ltr" required aria-describedby="bounds"${refused && html` aria-invalid="true" autofocus`} value="${refused?.typed}"><span>${currency}</span></div>
<p class="quiet small" id="bounds">${bounds(view)}</p>`
    : html`<h2 id="state">${words.link.heading}</h2>`
}
${expiresAtMs !== undefined && html`<p class="quiet small">${fill(words.link.until, { time: html`<time datetime="${new Date(expiresAtMs).toISOString()}">${formats.time(expiresAtMs)}</time>` })}</p>`}
<p class="quiet small">${words.link.next}</p>
<div class="act"><button class="primary" type="submit">${
    amountMinor === undefined
      ? words.link.submit
      : fill(words.confirm.pay, { amount: formats.money(amountMinor, currency) })
  }</button></div>
</form>`
}

function whyRefused({ language, link, refused }: LinkView): Content {
  const { words, formats } = language
  const { currency, leastMinor = 0n, mostMinor = 0n } = link
  switch (refused?.why) {
    case 'tooLittle':
      return fill(words.link.tooLittle, { least: formats.money(leastMinor, currency) })
    case 'tooMuch':
      return fill(words.link.tooMuch, { most: formats.money(mostMinor, currency) })
    default:
      return fill(words.link.wrong, { example: formats.money(exampleMinor(link), currency) })
  }
}

function exampleMinor({ leastMinor }: PaymentLink): bigint {
  return leastMinor ?? 1_250n
}

function bounds({ language, link: { leastMinor, mostMinor, currency } }: LinkView): Content {
  const { words, formats } = language
  const least = leastMinor !== undefined && formats.money(leastMinor, currency)
  const most = mostMinor !== undefined && formats.money(mostMinor, currency)
  if (least && most) return fill(words.link.between, { least, most })
  if (least) return fill(words.link.least, { least })
  return most ? fill(words.link.most, { most }) : undefined
}

const looks: Record<Exclude<LinkState, 'active'>, { icon: IconName; tone: string }> = {
  paused: { icon: 'clock', tone: 'wait' },
  closed: { icon: 'stopped', tone: 'wait' },
  expired: { icon: 'over', tone: 'wait' },
  paid: { icon: 'done', tone: 'good' },
}

function notPayable({ language, state, merchant }: LinkView): Html {
  const { words } = language
  const { icon: sign, tone } = state === 'active' ? looks.paused : looks[state]
  const said = state === 'active' ? words.suspended : words.link[state]
  return html`<p class="status ${tone}">${icon(sign)}<span>${said.status}</span></p>
<h2 id="state">${fill(said.heading, { merchant: html`<bdi>${merchant.name}</bdi>` })}</h2>
<p>${fill(said.text, { merchant: html`<bdi>${merchant.name}</bdi>` })}</p>`
}

interface ShownGood {
  readonly goodsName: string
  readonly goodsDesc?: string
  readonly goodsQuantity: number
}

function goods({ link, language }: LinkView): Content {
  // Safe: the gateway wrote it from validated goods.
  const listed = JSON.parse(link.goods) as readonly ShownGood[]
  if (listed.length === 0) return undefined
  return html`<details class="summary" open>
<summary><span>${language.words.details.heading}</span></summary>
<ul class="goods">${listed.map(
    ({
      goodsName,
      goodsDesc,
      goodsQuantity,
    }) => html`<li><div><bdi>${goodsName}</bdi>${goodsQuantity !== 1 && html` <span>× ${language.formats.number(goodsQuantity)}</span>`}</div>
${goodsDesc !== undefined && html`<p class="quiet small"><bdi>${goodsDesc}</bdi></p>`}</li>`,
  )}</ul>
</details>`
}
