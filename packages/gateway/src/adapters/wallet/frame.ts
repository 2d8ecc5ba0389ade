// The frame of every wallet page: the checkout's frame, the navigation of a signed-in consumer, and the flash message.
import type { FastifyReply } from 'fastify'
import type { Language } from '../checkout/languages.ts'
import { type Site, sendFramed } from '../checkout/pages/frame.ts'
import { icon as mark } from '../checkout/pages/icons.ts'
import { assets } from '../kit/assets.ts'
import { tokenField } from '../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { type IconName, icon } from '../kit/icons.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { type PageName, prefix, type Visit, type WalletPage } from './wallet.ts'
import type { Words } from './words.ts'

export interface Framing {
  readonly site: Site
  readonly language: Language
  readonly words: Words
  readonly flash?: Flash | undefined
  /** Only for a signed-in consumer. */
  readonly formToken?: string | undefined
}

const places = {
  home: { path: '', icon: 'wallet' },
  history: { path: '/history', icon: 'receipt-text' },
  topUp: { path: '/top-up', icon: 'plus' },
  withdraw: { path: '/withdraw', icon: 'landmark' },
  settings: { path: '/settings', icon: 'settings' },
} as const satisfies Record<PageName, { path: string; icon: IconName }>

export function sendWalletPage(reply: FastifyReply, page: WalletPage, framing: Framing): FastifyReply {
  const { site, language, words, formToken } = framing
  return sendFramed(reply, {
    ...site,
    language,
    title: html`${page.title} · ${words.title}`,
    styles: [assets.walletStyle],
    script: page.withPasskeyScript ? assets.passkeyScript : (page.script ?? assets.timesScript),
    ...(page.refreshSeconds !== undefined && { refreshSeconds: page.refreshSeconds }),
    top: top(framing),
    main: html`${formToken !== undefined && navigation(page, words)}
<main class="wallet">
${shownFlash(framing.flash)}
${page.content}
</main>`,
  })
}

/** Whose wallet this is, and the way out. */
function top({ site: { brand }, words, formToken }: Framing): Html {
  const logo = brand.logo
    ? html`<img class="mark" src="${brand.logo.path}" alt="" width="32" height="32">`
    : html`<span class="mark">${icon('wallet')}</span>`
  return html`<div class="wallet-top"><a class="brand" href="${prefix}">${logo}<bdi>${brand.name ?? words.title}</bdi></a>${
    formToken !== undefined &&
    html`<form method="post" action="${prefix}/sign-out">${tokenField(formToken)}<button class="exit" type="submit">${icon('log-out')}<span>${words.nav.signOut}</span></button></form>`
  }</div>`
}

function navigation({ at }: WalletPage, words: Words): Html {
  return html`<nav class="wallet-nav" aria-label="${words.nav.label}"><ul>${(
    Object.keys(places) as PageName[]
  ).map(
    (name) =>
      html`<li><a href="${prefix}${places[name].path}"${name === at && html` aria-current="page"`}>${icon(places[name].icon)}<span>${words.nav[name]}</span></a></li>`,
  )}</ul></nav>`
}

function shownFlash(flash: Flash | undefined): Content {
  if (!flash) return undefined
  if (flash.kind === 'good')
    return html`<p class="notice good" role="status">${mark('done')}<span>${flash.text}</span></p>`
  return html`<p class="notice" id="notice" role="alert">${mark('notice')}<span>${flash.text}</span></p>`
}

/** A form of a signed-in consumer. */
export function walletForm({ formToken }: Pick<Visit, 'formToken'>, path: string, fields: Html): Html {
  return html`<form method="post" action="${prefix}${path}">
${tokenField(formToken)}
${fields}
</form>`
}

export function card(heading: Content, content: Html): Html {
  return html`<section class="card pane">
<h1>${heading}</h1>
${content}
</section>`
}
