// The frame of every checkout page: the sandbox's banner, the language switch, the style sheets and the script.
import type { FastifyReply } from 'fastify'
import { type Asset, assets } from '../../kit/assets.ts'
import { type Content, type Html, html, inReferences } from '../../kit/html.ts'
import { sendPage } from '../../kit/layout.ts'
import type { Brand } from '../brand.ts'
import { type Language, languages } from '../languages.ts'
import { icon } from './icons.ts'

/** The same on every page. */
export interface Site {
  readonly mode: 'sandbox' | 'live'
  readonly brand: Brand
}

export interface FramedPage extends Site {
  readonly language: Language
  readonly title: Content
  /** In place of the operator's mark. */
  readonly top?: Html
  /** The content of the main element. */
  readonly main: Html
  readonly isCompact?: boolean
  /** In addition to the checkout's own. */
  readonly styles?: readonly Asset[]
  readonly accentStyle?: string
  /** For pages with a changing state. */
  readonly withScript?: boolean
  readonly withPasskeys?: boolean
  /** Seconds until a browser without scripts refreshes. */
  readonly refreshSeconds?: number
  /** The address to which the browser continues automatically. */
  readonly goesTo?: string
  /** For a page without a nonce. */
  readonly script?: Asset
  readonly nonce?: string
}

export function sendFramed(reply: FastifyReply, page: FramedPage): FastifyReply {
  const { language, nonce } = page
  reply.header('x-robots-tag', 'noindex, nofollow')
  return sendPage(reply, {
    title: page.title,
    language,
    ...(nonce !== undefined && { nonce }),
    styles: [assets.checkoutStyle, ...(page.styles ?? [])],
    ...(page.script && { script: page.script }),
    bodyClass: page.isCompact ? 'checkout compact' : 'checkout',
    hasLateFont: true,
    head: html`${
      page.goesTo !== undefined &&
      html`<meta http-equiv="refresh" content="0; url=${page.goesTo}">
`
    }${
      page.refreshSeconds !== undefined &&
      html`<noscript><meta http-equiv="refresh" content="${page.refreshSeconds}"></noscript>
`
    }${
      page.accentStyle !== undefined &&
      html`<style nonce="${nonce}">${page.accentStyle}</style>
`
    }${page.withScript && html`<script nonce="${nonce}" type="module" src="${assets.checkoutScript.path}"></script>`}${page.withPasskeys && html`<script nonce="${nonce}" type="module" src="${assets.passkeyScript.path}"></script>`}`,
    content: html`${head(page)}
<div class="page">
${page.main}
<footer>
${brandLinks(page.brand, language)}
<details class="languages">
<summary>${icon('globe')}<span class="hidden">${language.words.language}: </span>${language.name}</summary>
${switches.get(language.tag)}
</details>
${page.withScript && html`<p id="live" class="hidden" role="status" data-offline="${language.words.notices.offline}"></p>`}
</footer>
</div>`,
  })
}

/** The sandbox's banner and the operator's brand. */
function head({ mode, brand, language, top }: FramedPage): Content {
  const sandbox = mode === 'sandbox' && html`<p class="banner">${language.words.sandbox}</p>`
  const operator = top ?? brandMark(brand)
  return (sandbox || operator) && html`<header>${sandbox}${operator}</header>`
}

function brandMark({ name, logo }: Brand): Html | undefined {
  if (name === undefined && !logo) return undefined
  return html`<p class="brand">${logo && html`<img src="${logo.path}" alt="" width="24" height="24">`}${name !== undefined && html`<bdi>${name}</bdi>`}</p>`
}

function brandLinks({ helpUrl, privacyUrl, imprintUrl }: Brand, { words }: Language): Content {
  const links = [
    [helpUrl, words.operator.help],
    [privacyUrl, words.operator.privacy],
    [imprintUrl, words.operator.imprint],
  ].filter(([url]) => url !== undefined)
  if (links.length === 0) return undefined
  return html`<ul class="about-operator">${links.map(([url, name]) => html`<li><a href="${url}" rel="noreferrer">${name}</a></li>`)}</ul>`
}

/** One per language, rendered once, because it is the same on every page. */
const switches: ReadonlyMap<string, Html> = new Map(
  languages.map((current) => [
    current.tag,
    html`<ul>${languages.map(
      ({ tag, name }) =>
        html`<li><a href="?lang=${tag}" lang="${tag}" hreflang="${tag}"${tag === current.tag && html` aria-current="true"`}>${inReferences(name)}</a></li>`,
    )}</ul>`,
  ]),
)
