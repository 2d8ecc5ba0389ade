// The frame of console and portal: areas on the left, search and account on top; and the small page for visitors who
// are not signed in, which the wallet shares.
import type { FastifyReply } from 'fastify'
import { type Asset, assets } from '../assets.ts'
import { tokenField } from '../forms/refused-form.ts'
import { type Content, type Html, html } from '../html.ts'
import { type IconName, icon } from '../icons.ts'
import { sendPage } from '../layout.ts'
import { type Flash, flashMessage } from './flash.ts'

export interface Shell {
  readonly title: Content
  readonly heading: Content
  /** At the end of the heading's line. */
  readonly beside?: Content
  readonly content: Content
  readonly flash?: Flash | undefined
  /** Undefined on a page without scripts. */
  readonly nonce?: string | undefined
  readonly language?: { readonly tag: string; readonly direction: 'ltr' | 'rtl' } | undefined
  readonly scripts?: readonly Asset[]
  readonly banner?: Content
  readonly footer?: Content
}

export interface NavigationGroup {
  readonly label?: Content
  readonly areas: readonly {
    readonly path: string
    readonly label: Content
    readonly icon: IconName
    readonly isCurrent: boolean
    readonly count?: Content
  }[]
}

export interface Workspace extends Shell {
  readonly brand: Html
  readonly navigation: readonly NavigationGroup[]
  readonly search: {
    readonly path: string
    readonly label: string
    readonly placeholder: string
    readonly maxLength: number
  }
  readonly account: Content
  readonly signOut: { readonly path: string; readonly token: string }
  readonly words: {
    readonly skip: string
    readonly areas: string
    readonly menu: string
    readonly copy?: string
    readonly signOut: string
  }
  /** Refreshed by the script while it is visible. */
  readonly isLive?: boolean | undefined
}

export function sendWorkspace(reply: FastifyReply, page: Workspace): FastifyReply {
  const { brand, search, words, navigation, signOut } = page
  return sendPage(reply, {
    ...shared(page),
    bodyClass: 'workspace',
    content: html`<a class="skip" href="#main">${words.skip}</a>
<header>
${page.banner}
<div class="side" id="areas" popover>
${brand}
<nav aria-label="${words.areas}">${navigation.map(
      ({ label, areas }) =>
        html`${label && html`<h2>${label}</h2>`}<ul>${areas.map(
          (area) =>
            html`<li><a href="${area.path}"${area.isCurrent && html` aria-current="page"`}>${icon(area.icon)}<span>${area.label}</span>${area.count}</a></li>`,
        )}</ul>`,
    )}</nav>
</div>
<div class="top">
<button class="menu plain" type="button" popovertarget="areas">${icon('menu')}<span class="hidden">${words.menu}</span></button>
${brand}
<form class="find" role="search" aria-label="${search.label}" action="${search.path}">${icon('search')}<input type="search" name="q" aria-label="${search.label}" placeholder="${search.placeholder}" maxlength="${search.maxLength}" autocomplete="off" spellcheck="false"></form>
<form class="who" method="post" action="${signOut.path}">${tokenField(signOut.token)}
<span class="quiet">${page.account}</span><button class="plain">${icon('log-out')}${words.signOut}</button></form>
</div>
</header>
<main id="main" tabindex="-1"${words.copy !== undefined && html` data-copy="${words.copy}"`}${page.isLive && html` data-live`}>
${page.flash && flashMessage(page.flash)}
${page.beside ? html`<div class="heading"><h1>${page.heading}</h1>${page.beside}</div>` : html`<h1>${page.heading}</h1>`}
${page.content}
</main>
${page.footer}`,
  })
}

export interface SmallPage extends Shell {
  readonly brand: Content
  readonly isWide?: boolean
}

export function sendSmall(reply: FastifyReply, page: SmallPage): FastifyReply {
  return sendPage(reply, {
    ...shared(page),
    bodyClass: page.isWide ? 'small-page wide' : 'small-page',
    content: html`${page.banner && html`<header>${page.banner}</header>`}
<main id="main">
${page.brand}
<div class="card">
<h1>${page.heading}</h1>
${page.flash && flashMessage(page.flash)}
${page.content}
</div>
</main>
${page.footer}`,
  })
}

function shared({ title, nonce, language, scripts = [] }: Shell) {
  return {
    title,
    ...(nonce !== undefined && { nonce }),
    ...(language && { language }),
    styles: [assets.workspaceStyle],
    head: html`${scripts.map(({ path }) => html`<script nonce="${nonce}" type="module" src="${path}"></script>`)}`,
  }
}

/** Tillgate's name, on pages that are not a merchant's or an operator's. */
export function wordmark(note?: Content): Html {
  return html`<a class="brand" href="/"><img class="mark" src="${assets.icon.path}" alt="" width="28" height="28"><span class="name">Tillgate</span>${note}</a>`
}
