// A page that forwards to the provider's page at once. It is not an HTTP redirect, because a provider may require the
// rail's own origin in the Referer.
import { randomBytes } from 'node:crypto'

export function leadingPage(url: string) {
  const nonce = randomBytes(16).toString('base64')
  const address = escaped(url)
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; script-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`,
    },
    html: `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>→</title><p><a id="next" href="${address}">${escaped(new URL(url).host)}</a>
<script nonce="${nonce}">location.replace(document.getElementById('next').href)</script>
`,
  }
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
