// The frame of every page, and its security headers: only our own scripts, no framing, no referrer.
import type { FastifyReply } from 'fastify'
import { type Asset, assets } from './assets.ts'
import { type Content, type Html, html } from './html.ts'

export interface Page {
  readonly title: Content
  readonly content: Html
  /** English by default. */
  readonly language?: { readonly tag: string; readonly direction: 'ltr' | 'rtl' }
  /** In addition to the tokens. */
  readonly styles?: readonly Asset[]
  readonly head?: Html
  readonly bodyClass?: string
  /**
   * Loads the typeface only when the styles request it, so that it does not delay the first paint on a slow connection.
   */
  readonly hasLateFont?: boolean
  /** A script on a cacheable page, which has no nonce. */
  readonly script?: Asset
  /** Allows the scripts and styles with this nonce, and requests to this origin; new for every response. */
  readonly nonce?: string
}

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return (
    protect(reply, page)
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      // As bytes, because a string would be encoded twice, once for its length.
      .send(Buffer.from(pageText(page)))
  )
}

/** For a prepared page, which has no nonce. */
export function protect(reply: FastifyReply, page: Pick<Page, 'nonce' | 'script'>): FastifyReply {
  return reply
    .header('content-security-policy', contentSecurityPolicy(page))
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cross-origin-opener-policy', 'same-origin')
}

/** After a form, so that a reload does not send it again. */
export function redirect(reply: FastifyReply, to: string): FastifyReply {
  return reply
    .status(303)
    .header('location', to)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .send()
}

export function pageText(page: Page): string {
  return frame(page).text
}

function contentSecurityPolicy({ nonce, script }: Pick<Page, 'nonce' | 'script'>): string {
  const scriptSource = nonce === undefined ? script && "'self'" : `'nonce-${nonce}'`
  return [
    "default-src 'none'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    ...(scriptSource === undefined ? [] : [`script-src ${scriptSource}`, "connect-src 'self'"]),
    "img-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const english = { tag: 'en', direction: 'ltr' } as const

function frame({
  title,
  content,
  language = english,
  styles = [],
  script,
  head,
  bodyClass,
  hasLateFont = false,
}: Page): Html {
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${assets.icon.path}">
${
  !hasLateFont &&
  html`<link rel="preload" href="${assets.font.path}" as="font" type="font/woff2" crossorigin>
`
}${[assets.style, ...styles].map(
  ({ path }) => html`<link rel="stylesheet" href="${path}">
`,
)}${
  script &&
  html`<script src="${script.path}" defer></script>
`
}${head}
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${content}
</body>
</html>
`
}
