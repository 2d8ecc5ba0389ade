// The frame that every page shares, and the headers that keep it safe: no script but our own, no frame around
// it, nothing of the address passed on.
import type { FastifyReply } from 'fastify'
import { type Asset, assets } from '../assets.ts'
import { type Html, html } from '../html.ts'

export interface Page {
  readonly title: string
  readonly content: Html
  /** English unless told otherwise. */
  readonly language?: { readonly tag: string; readonly direction: 'ltr' | 'rtl' }
  /** Beside the one with the tokens. */
  readonly styles?: readonly Asset[]
  readonly head?: Html
  readonly bodyClass?: string
  /** Lets scripts and styles that bear it work, and lets them speak to this origin; fresh for every answer. */
  readonly nonce?: string
}

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', contentSecurityPolicy(page.nonce))
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cross-origin-opener-policy', 'same-origin')
    .send(frame(page).text)
}

function contentSecurityPolicy(nonce: string | undefined): string {
  return [
    "default-src 'none'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    ...(nonce === undefined ? [] : [`script-src 'nonce-${nonce}'`, "connect-src 'self'"]),
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const english = { tag: 'en', direction: 'ltr' } as const

function frame({ title, content, language = english, styles = [], head, bodyClass }: Page): Html {
  return html`<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${assets.icon.path}">
${[assets.style, ...styles].map(
  ({ path }) => html`<link rel="stylesheet" href="${path}">
`,
)}${head}
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${content}
</body>
</html>
`
}
