import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailLanguages, normaliseEmail } from './email.ts'
import { type EmailKind, emailKinds, kindOf } from './kinds.ts'
import { textOf } from './texts.ts'
import { writeMessage } from './write-message.ts'

// Safe: these are its own keys.
const kinds = Object.keys(emailKinds) as EmailKind[]

test('every text of every language fills exactly the gaps that its kind declares, and none stays open', () => {
  for (const kind of kinds) {
    const { gaps, hasLink } = kindOf(kind)
    for (const language of emailLanguages) {
      const { subject, body, link } = textOf(kind, language)
      const used = [subject, ...body].join(' ').matchAll(/\{(\w+)\}/g)
      const names = new Set([...used].map(([, name]) => name))
      assert.deepEqual([...names].sort(), [...gaps].sort(), `${kind} in ${language}`)
      assert.equal(link !== undefined, hasLink === true, `${kind} in ${language}`)
    }
  }
})

test('what fills a gap is escaped in HTML, and stays one line', () => {
  const parameters = { merchant: '<b>"A" & B</b>\r\nBcc: eve@example.com', inviter: 'x', until: 'y' }
  const { subject, html, text } = writeMessage({
    kind: 'member-invitation',
    language: 'en',
    parameters,
    unsubscribeUrl: undefined,
    link: 'https://pay.test/?a="><script>',
  })
  assert.doesNotMatch(subject, /[\r\n]/)
  assert.match(html, /&lt;b&gt;&quot;A&quot; &amp; B&lt;\/b&gt;/)
  assert.doesNotMatch(html, /<script|<b>/)
  assert.match(text, /https:\/\/pay\.test/)
})

test('an address is one mailbox in plain letters, and nothing besides', () => {
  assert.equal(normaliseEmail(' Ann.Lee+till@Example.COM '), 'ann.lee+till@example.com')
  const others = ['', 'ann', '@example.com', 'ann@', 'a b@example.com', 'ann@example.com, eve@example.com']
  others.push('ann@example.com\r\nBcc: eve@example.com', '<ann@example.com>', '"a"@example.com', 'a..b@x.org')
  others.push(
    'ann@-x.org',
    'ann@x_y.org',
    'änn@example.com',
    `${'a'.repeat(65)}@x.org`,
    `a@${'b'.repeat(260)}.org`,
    // In small letters a Kelvin sign is a k, and a long s in capital ones an S.
    'ma\u212ae@example.com',
    'make@\u212aelvin.example',
    'ma\u017fe@example.com',
  )
  for (const text of others) assert.equal(normaliseEmail(text), undefined, text)
})
