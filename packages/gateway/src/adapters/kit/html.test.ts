import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html, inReferences } from './html.ts'

test('every value on a page is escaped', () => {
  const name = `<script>alert("1 & '2'")</script>`
  assert.equal(
    html`<p title="${name}">${name}</p>`.text,
    '<p title="&lt;script&gt;alert(&quot;1 &amp; &#39;2&#39;&quot;)&lt;/script&gt;">' +
      '&lt;script&gt;alert(&quot;1 &amp; &#39;2&#39;&quot;)&lt;/script&gt;</p>',
  )
})

test('nested HTML is not escaped twice, and lists are joined', () => {
  assert.equal(
    html`<ul>${['a', '<b>'].map((item) => html`<li>${item}</li>`)}</ul>`.text,
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>',
  )
})

test('false, null and undefined render as nothing, zero as 0', () => {
  assert.equal(html`[${false}${null}${undefined}${0}${0n}]`.text, '[00]')
})

test('letters outside Latin-1 are written as character references', () => {
  assert.equal(inReferences('Español').text, 'Español')
  assert.equal(inReferences('日本 & 𝄞').text, '&#26085;&#26412; &amp; &#119070;')
})
