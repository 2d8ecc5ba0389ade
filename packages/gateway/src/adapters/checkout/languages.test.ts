import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fill, fillText } from '../kit/languages/words.ts'
import { chooseLanguage, languages } from './languages.ts'

test('there are eight languages, one of them right-to-left', () => {
  assert.deepEqual(
    languages.map(({ tag, direction }) => `${tag} ${direction}`),
    ['en ltr', 'zh ltr', 'ja ltr', 'es ltr', 'fr ltr', 'de ltr', 'pt ltr', 'ar rtl'],
  )
})

test('a text without a value for its placeholder throws', () => {
  assert.throws(() => fill('Pay {amount}', {}), /filled without amount/)
  assert.throws(() => fillText('Pay {amount}', {}), /filled without amount/)
})

const chosen = (asked: unknown, chosenBefore: string | undefined, acceptLanguage: string | undefined) =>
  chooseLanguage({ asked, chosenBefore, acceptLanguage }).tag

test('the link takes precedence over the cookie, and the cookie over the browser', () => {
  assert.equal(chosen('de', 'fr', 'ja'), 'de')
  assert.equal(chosen(undefined, 'fr', 'ja'), 'fr')
  assert.equal(chosen(undefined, undefined, 'ja'), 'ja')
  assert.equal(chosen(undefined, undefined, undefined), 'en')
})

test('unsupported languages are skipped', () => {
  assert.equal(chosen('xx', '__proto__', 'tlh, sv;q=0.9, pt-BR;q=0.5'), 'pt')
  assert.equal(chosen(['de', 'fr'], undefined, ''), 'en')
  assert.equal(chosen('constructor', 'toString', 'hasOwnProperty'), 'en')
})

test('browser preferences are weighted by quality, and a language with quality 0 is not used', () => {
  assert.equal(chosen(undefined, undefined, 'fr;q=0.2, zh-Hant-TW;q=0.9, es;q=0.4'), 'zh')
  assert.equal(chosen(undefined, undefined, 'de;q=0, ar'), 'ar')
  assert.equal(chosen(undefined, undefined, 'de;q=0'), 'en')
  assert.equal(chosen(undefined, undefined, 'DE-at'), 'de')
  assert.equal(chosen(undefined, undefined, 'fr;q=banana, es;q=0.1'), 'es')
})
