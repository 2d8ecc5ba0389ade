import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadingPage } from './leading-page.ts'

test('a redirect page shows the URL as text and runs no other script', () => {
  const { headers, html } = leadingPage('https://pay.example.com/a?b=1&c="><script>alert(1)</script>')
  assert.equal(html.match(/<script/g)?.length, 1)
  assert.match(html, /b=1&#38;c=/)
  const [, nonce] = /'nonce-([^']+)'/.exec(headers['content-security-policy']) ?? []
  assert(nonce && html.includes(`<script nonce="${nonce}">`))
  assert.equal(headers['referrer-policy'], 'origin')
})
