// The frame that every page shares, and the headers that keep it safe: no script but our own, no frame around
// it, nothing of the address passed on.
import type { FastifyReply } from 'fastify'
import { assets } from '../assets.ts'
import { type Html, html } from '../html.ts'

export function sendPage(reply: FastifyReply, page: { title: string; content: Html }): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(frame(page).text)
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

function frame({ title, content }: { title: string; content: Html }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${assets.icon.path}">
<link rel="stylesheet" href="${assets.style.path}">
</head>
<body>
${content}
</body>
</html>
`
}
