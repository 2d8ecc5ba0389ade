import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fill, fillText } from '../../http/languages/words.ts'
import { chooseLanguage, languages } from './languages.ts'

/** Every text by its path; the forms of a plural too. */
function textsOf(words: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(words)) {
    if (typeof value === 'string') texts.set(path + name, value)
    else for (const [inner, text] of textsOf(value, `${path}${name}.`)) texts.set(inner, text)
  }
  return texts
}

const gapsOf = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()
const [english, ...others] = languages
const englishTexts = textsOf(english?.words ?? {})
const pluralPaths = /^(?:details\.items|signIn\.triesLeft)\./
/** Texts that are rightly the same in both languages. */
const sameAsEnglish: Record<string, readonly string[]> = {
  de: ['signIn.pin', 'details.each'],
  zh: ['details.each'],
  ja: ['details.each'],
  es: ['details.each'],
  fr: ['details.each'],
  pt: ['details.each'],
  ar: ['details.each'],
}

test('there are eight languages, one of them from right to left', () => {
  assert.deepEqual(
    languages.map(({ tag, direction }) => `${tag} ${direction}`),
    ['en ltr', 'zh ltr', 'ja ltr', 'es ltr', 'fr ltr', 'de ltr', 'pt ltr', 'ar rtl'],
  )
})

for (const { tag, words } of others) {
  test(`${tag} has every text, with the same gaps as in English, and none left in English`, () => {
    const texts = textsOf(words)
    const single = (paths: Iterable<string>) =>
      [...paths].filter((path) => !pluralPaths.test(path)).toSorted()
    assert.deepEqual(single(texts.keys()), single(englishTexts.keys()))
    for (const [path, text] of texts) {
      assert.notEqual(text.trim(), '', path)
      if (pluralPaths.test(path)) continue
      const inEnglish = englishTexts.get(path) ?? ''
      assert.deepEqual(gapsOf(text), gapsOf(inEnglish), path)
      const isSame = text === inEnglish
      assert.equal(isSame, sameAsEnglish[tag]?.includes(path) ?? false, `${path}: ${text}`)
    }
  })

  test(`${tag} has each plural form that its grammar uses`, () => {
    const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions()
    for (const forms of [words.details.items, words.signIn.triesLeft])
      assert.deepEqual(Object.keys(forms).toSorted(), pluralCategories.toSorted())
  })
}

test('a word without what fills its gap fails loudly', () => {
  assert.throws(() => fill('Pay {amount}', {}), /filled without amount/)
  assert.throws(() => fillText('Pay {amount}', {}), /filled without amount/)
})

const chosen = (asked: unknown, chosenBefore: string | undefined, acceptLanguage: string | undefined) =>
  chooseLanguage({ asked, chosenBefore, acceptLanguage }).tag

test('the link chooses before the cookie, the cookie before the browser', () => {
  assert.equal(chosen('de', 'fr', 'ja'), 'de')
  assert.equal(chosen(undefined, 'fr', 'ja'), 'fr')
  assert.equal(chosen(undefined, undefined, 'ja'), 'ja')
  assert.equal(chosen(undefined, undefined, undefined), 'en')
})

test('what is no language of ours is passed over', () => {
  assert.equal(chosen('xx', '__proto__', 'tlh, sv;q=0.9, pt-BR;q=0.5'), 'pt')
  assert.equal(chosen(['de', 'fr'], undefined, ''), 'en')
  assert.equal(chosen('constructor', 'toString', 'hasOwnProperty'), 'en')
})

test('the browser’s preferences are weighed by their quality, and a refused language is not taken', () => {
  assert.equal(chosen(undefined, undefined, 'fr;q=0.2, zh-Hant-TW;q=0.9, es;q=0.4'), 'zh')
  assert.equal(chosen(undefined, undefined, 'de;q=0, ar'), 'ar')
  assert.equal(chosen(undefined, undefined, 'de;q=0'), 'en')
  assert.equal(chosen(undefined, undefined, 'DE-at'), 'de')
  assert.equal(chosen(undefined, undefined, 'fr;q=banana, es;q=0.1'), 'es')
})
