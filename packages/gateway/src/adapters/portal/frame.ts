// What stands around every page of the portal: the shop's name, the areas, a note about what was just done, and the
// switch of languages.
import type { FastifyReply } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import { icon } from '../checkout/pages/icons.ts'
import { assets } from '../kit/assets.ts'
import { fieldId } from '../kit/forms/form-fields.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { type Language, languages } from './languages.ts'
import { type AreaName, type PortalPage, pathTo, prefix, type Visit } from './portal.ts'

export interface Note {
  readonly kind: 'good' | 'bad'
  readonly text: string
  readonly errors?: readonly FieldError[]
}

export interface FrameParts {
  readonly mode: 'sandbox' | 'live'
  readonly nonce: string
  readonly note: Note | undefined
}

const areas: Record<AreaName, { readonly path: string; readonly icon: Html }> = {
  home: { path: '', icon: html`<path d="M3 11l9-8 9 8M6 9v11h12V9"/>` },
  orders: { path: '/orders', icon: html`<path d="M5 3h14v18l-3-2-4 2-4-2-3 2z"/><path d="M9 8h6m-6 4h6"/>` },
  money: {
    path: '/money',
    icon: html`<rect x="3" y="6" width="18" height="13" rx="2"/><path d="M16 12.5h2M3 10h18"/>`,
  },
  developer: { path: '/keys', icon: html`<circle cx="8" cy="15" r="4"/><path d="M11 12l9-9m-4 4l3 3"/>` },
  shop: {
    path: '/settings',
    icon: html`<path d="M3 9l2-5h14l2 5v2H3zM5 11v9h14v-9"/><path d="M10 20v-5h4v5"/>`,
  },
}

export function sendPortalPage(
  reply: FastifyReply,
  page: PortalPage,
  { visit, mode, nonce, note }: FrameParts & { readonly visit: Visit },
): FastifyReply {
  const { language, member } = visit
  const { words } = language
  return sendPage(reply.header('x-robots-tag', 'noindex, nofollow'), {
    title: html`${page.title} · ${member.merchantName}`,
    language,
    nonce,
    styles: [assets.portalStyle],
    bodyClass: 'portal',
    head: scripts(page, nonce),
    content: html`<a class="skip" href="#main">${words.skip}</a>
<header class="whole">${banner(mode, language)}
<div class="top"><a class="shop" href="${prefix}"><bdi>${member.merchantName}</bdi></a>
<form method="post" action="${pathTo('/sign-out')}"><input type="hidden" name="token" value="${visit.formToken}"><button class="plain">${words.signIn.out}</button></form></div></header>
<nav class="areas" aria-label="${words.nav.label}"><ul>${Object.entries(areas).map(
      ([name, { path, icon }]) =>
        // Safe: these are its own keys.
        html`<li><a href="${pathTo(path)}"${name === page.area && html` aria-current="page"`}><svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${icon}</svg><span>${words.nav[name as AreaName]}</span></a></li>`,
    )}</ul></nav>
<main id="main" tabindex="-1">
${note && noteLine(note)}
<h1>${page.title}</h1>
${page.content}
</main>
${footer(language)}`,
  })
}

/** Without navigation: nobody is signed in, or nothing more can be said. */
export function sendSmallPage(
  reply: FastifyReply,
  page: { readonly title: string; readonly content: Content; readonly language: Language } & FrameParts &
    Scripts,
): FastifyReply {
  const { language, nonce } = page
  return sendPage(reply.header('x-robots-tag', 'noindex, nofollow'), {
    title: html`${page.title} · ${language.words.title}`,
    language,
    nonce,
    styles: [assets.portalStyle],
    bodyClass: 'portal small-page',
    head: scripts(page, nonce),
    content: html`${page.mode === 'sandbox' && html`<header class="whole">${banner(page.mode, language)}</header>`}
<main id="main">
${page.note && noteLine(page.note)}
<h1>${page.title}</h1>
${page.content}
</main>
${footer(language)}`,
  })
}

type Scripts = Pick<PortalPage, 'withKeyScript' | 'withPasskeyScript'>

function scripts({ withKeyScript, withPasskeyScript }: Scripts, nonce: string): Html {
  const needed = [
    ...(withKeyScript ? [assets.portalScript] : []),
    ...(withPasskeyScript ? [assets.passkeyScript] : []),
  ]
  return html`${needed.map(({ path }) => html`<script nonce="${nonce}" type="module" src="${path}"></script>`)}`
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

/** What was just done, or why it was not. What an operation says of it is in English. */
function noteLine({ kind, text, errors }: Note): Html {
  if (!errors) return html`<p class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
  return html`<div class="note ${kind}" role="alert">${text}<ul>${errors.map(
    ({ field, message }) =>
      html`<li>${field === undefined ? message : html`<a href="#${fieldId(field)}">${message}</a>`}</li>`,
  )}</ul></div>`
}
