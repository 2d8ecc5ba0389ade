import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailLanguages, normaliseEmail } from './email.ts'
import { type EmailKind, emailKinds, kindOf } from './kinds.ts'
import { localize } from './localize.ts'
import { textOf } from './texts.ts'
import { writeMessage } from './write-message.ts'

// Safe: these are its own keys.
const kinds = Object.keys(emailKinds) as EmailKind[]

test('every text in every language uses exactly the declared placeholders', () => {
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

test('amounts and times are formatted in the recipient’s language', () => {
  const expected: Record<(typeof emailLanguages)[number], readonly [string, string]> = {
    en: ['€1,234.50', 'Nov 19, 2026, 3:17 PM UTC'],
    zh: ['€1,234.50', '2026年11月19日 15:17 UTC'],
    ja: ['€1,234.50', '2026/11/19 15:17 UTC'],
    es: ['1234,50 €', '19 nov 2026, 15:17 UTC'],
    fr: ['1 234,50 €', '19 nov. 2026, 15:17 UTC'],
    de: ['1.234,50 €', '19.11.2026, 15:17 UTC'],
    pt: ['€ 1.234,50', '19 de nov. de 2026, 15:17 UTC'],
    ar: ['1,234.50 €', '19/11/2026، 3:17 م UTC'],
  }
  const parameters = { merchant: 'Shop', amount: '1234.50 EUR', time: '2026-11-19 15:17 UTC' }
  const blank = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f]/g, '')
  for (const language of emailLanguages) {
    const [amount, time] = expected[language]
    const of = { language, link: undefined, unsubscribeUrl: undefined } as const
    const paid = writeMessage({ kind: 'payout-paid', ...of, parameters: { ...parameters, payoutId: 'P1' } })
    assert(blank(paid.text).includes(blank(amount)), `${language}: ${paid.text}`)
    const key = writeMessage({ kind: 'key-added', ...of, parameters: { ...parameters, key: 'AES 1' } })
    assert(blank(key.text).includes(blank(time)), `${language}: ${key.text}`)
  }
})

test('an amount keeps every digit, and values in another form are not changed', () => {
  assert.equal(localize('amount', '90071992547409931.25 USD', 'en'), '$90,071,992,547,409,931.25')
  assert.equal(localize('largest', '1000 JPY', 'ja'), '￥1,000')
  assert.equal(localize('amount', '12.50 XXZ', 'en'), '12.50 XXZ')
  assert.equal(localize('amount', '€12.50', 'en'), '€12.50')
  assert.equal(localize('since', 'yesterday', 'de'), 'yesterday')
  assert.equal(localize('reason', '12.50 EUR', 'de'), '12.50 EUR')
})

test('values are escaped in HTML and stay on one line', () => {
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

test('an email address is one mailbox in ASCII', () => {
  assert.equal(normaliseEmail(' Ann.Lee+till@Example.COM '), 'ann.lee+till@example.com')
  const others = ['', 'ann', '@example.com', 'ann@', 'a b@example.com', 'ann@example.com, eve@example.com']
  others.push('ann@example.com\r\nBcc: eve@example.com', '<ann@example.com>', '"a"@example.com', 'a..b@x.org')
  others.push(
    'ann@-x.org',
    'ann@x_y.org',
    'änn@example.com',
    `${'a'.repeat(65)}@x.org`,
    `a@${'b'.repeat(260)}.org`,
    // Lower-casing turns a Kelvin sign into k, upper-casing turns a long s into S.
    'ma\u212ae@example.com',
    'make@\u212aelvin.example',
    'ma\u017fe@example.com',
  )
  for (const text of others) assert.equal(normaliseEmail(text), undefined, text)
})
