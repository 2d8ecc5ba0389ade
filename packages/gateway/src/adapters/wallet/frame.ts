// The frame of every wallet page: the checkout's frame, the navigation of a signed-in consumer, and the flash message.
import type { FastifyReply } from 'fastify'
import type { Language } from '../checkout/languages.ts'
import { type Site, sendFramed } from '../checkout/pages/frame.ts'
import { icon } from '../checkout/pages/icons.ts'
import { assets } from '../kit/assets.ts'
import { tokenField } from '../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../kit/html.ts'
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
  home: '',
  history: '/history',
  topUp: '/top-up',
  withdraw: '/withdraw',
  settings: '/settings',
} as const satisfies Record<PageName, string>

export function sendWalletPage(reply: FastifyReply, page: WalletPage, framing: Framing): FastifyReply {
  const { site, language, words, formToken } = framing
  return sendFramed(reply, {
    ...site,
    language,
    title: html`${page.title} · ${words.title}`,
    styles: [assets.walletStyle],
    ...(page.withPasskeyScript && { script: assets.passkeyScript }),
    main: html`${formToken !== undefined && navigation(page, words)}
<main class="wallet">
${shownFlash(framing.flash)}
${page.content}
${formToken !== undefined && html`<form class="leaving" method="post" action="${prefix}/sign-out">${tokenField(formToken)}<button class="link" type="submit">${words.nav.signOut}</button></form>`}
</main>`,
  })
}

function navigation({ at }: WalletPage, words: Words): Html {
  return html`<nav class="wallet-nav" aria-label="${words.nav.label}"><ul>${(
    Object.keys(places) as PageName[]
  ).map(
    (name) =>
      html`<li><a href="${prefix}${places[name]}"${name === at && html` aria-current="page"`}>${words.nav[name]}</a></li>`,
  )}</ul></nav>`
}

function shownFlash(flash: Flash | undefined): Content {
  if (!flash) return undefined
  if (flash.kind === 'good')
    return html`<p class="notice good" role="status">${icon('done')}<span>${flash.text}</span></p>`
  return html`<p class="notice" id="notice" role="alert">${icon('notice')}<span>${flash.text}</span></p>`
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
