// The portal's frame: the shop's name, its areas, and the language switch.
import type { FastifyReply } from 'fastify'
import { assets } from '../kit/assets.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { type IconName, icon } from '../kit/icons.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { sendSmall, sendWorkspace } from '../kit/pages/frame.ts'
import { type Language, languages } from './languages.ts'
import { type AreaName, type PortalPage, pathTo, prefix, type Visit } from './portal.ts'

export interface FrameParts {
  readonly mode: 'sandbox' | 'live'
  /** An installation may have none. */
  readonly hasDocs: boolean
  readonly nonce: string
  readonly flash: Flash | undefined
}

const areas: Record<AreaName, { readonly path: string; readonly icon: IconName }> = {
  home: { path: '', icon: 'house' },
  orders: { path: '/orders', icon: 'receipt-text' },
  money: { path: '/money', icon: 'wallet' },
  developer: { path: '/keys', icon: 'code-xml' },
  shop: { path: '/settings', icon: 'store' },
}

export function sendPortalPage(
  reply: FastifyReply,
  page: PortalPage,
  { visit, mode, hasDocs, nonce, flash }: FrameParts & { readonly visit: Visit },
): FastifyReply {
  const { language, member } = visit
  const { words } = language
  return sendWorkspace(reply.header('x-robots-tag', 'noindex, nofollow'), {
    title: html`${page.title} · ${member.merchantName}`,
    heading: page.title,
    beside: beside(page, hasDocs ? page.docs : undefined, language),
    content: page.content,
    flash,
    language,
    nonce,
    scripts: scriptsOf(page),
    banner: banner(mode, language),
    brand: html`<a class="brand" href="${prefix}">${icon('store')}<bdi class="name">${member.merchantName}</bdi></a>`,
    navigation: [
      {
        // Safe: these are its own keys.
        areas: (Object.keys(areas) as AreaName[]).map((name) => ({
          path: pathTo(areas[name].path),
          label: words.nav[name],
          icon: areas[name].icon,
          isCurrent: name === page.area,
        })),
      },
    ],
    search: {
      path: pathTo('/orders'),
      label: words.orders.number,
      placeholder: words.orders.number,
      maxLength: 64,
    },
    account: visit.account.name ?? visit.account.login,
    signOut: { path: pathTo('/sign-out'), token: visit.formToken },
    words: {
      skip: words.skip,
      areas: words.nav.label,
      menu: words.nav.label,
      copy: words.common.copy,
      signOut: words.signIn.out,
    },
    footer: footer(language),
  })
}

function beside(page: PortalPage, docs: string | undefined, { words }: Language): Content {
  if (docs === undefined) return page.beside
  return html`<div class="acts"><a class="button plain" href="${docs}" target="_blank" rel="noopener" hreflang="en">${icon('book-open')}${words.common.docs}</a>${page.beside}</div>`
}

/** Without navigation, for visitors who are not signed in and for error pages. */
export function sendSmallPage(
  reply: FastifyReply,
  page: { readonly title: string; readonly content: Content; readonly language: Language } & FrameParts &
    Scripts,
): FastifyReply {
  const { language, nonce, flash } = page
  return sendSmall(reply.header('x-robots-tag', 'noindex, nofollow'), {
    title: html`${page.title} · ${language.words.title}`,
    heading: page.title,
    content: page.content,
    flash,
    language,
    nonce,
    scripts: scriptsOf(page),
    banner: banner(page.mode, language),
    brand: html`<p class="brand"><img class="mark" src="${assets.icon.path}" alt="" width="28" height="28"><span class="name">${language.words.title}</span></p>`,
    footer: footer(language),
  })
}

type Scripts = Pick<PortalPage, 'withFormScript' | 'withPasskeyScript'>

function scriptsOf({ withFormScript, withPasskeyScript }: Scripts) {
  return [
    assets.timesScript,
    assets.consoleScript,
    ...(withFormScript ? [assets.portalScript] : []),
    ...(withPasskeyScript ? [assets.passkeyScript] : []),
  ]
}

function banner(mode: FrameParts['mode'], { words }: Language): Html | undefined {
  return mode === 'sandbox' ? html`<p class="banner">${words.sandbox}</p>` : undefined
}

function footer(current: Language): Html {
  return html`<footer><details class="languages"><summary>${icon('globe')}<span class="hidden">${current.words.language}: </span>${current.name}</summary>
<ul>${languages.map(
    ({ tag, name }) =>
      html`<li><a href="?lang=${tag}" lang="${tag}" hreflang="${tag}"${tag === current.tag && html` aria-current="true"`}>${name}</a></li>`,
  )}</ul></details></footer>`
}
