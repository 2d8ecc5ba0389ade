import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue } from '../../acts/catalogue.ts'
import { languages } from './languages.ts'

/** Every text by its path. */
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
/** Names of the interface, and words that other languages have too. */
const mayBeSame =
  /^(orders\.paymentId|requests\.number|callbacks\.took|requests\.code|account\.codes|keys\.aes)$/

test('every screen of an act has words, and every field on it', () => {
  const words = english?.words
  assert(words)
  for (const { portal, input } of catalogue)
    for (const { name, fields, hidden = [], fixed = {} } of portal) {
      assert.ok(Object.hasOwn(words.acts, name), name)
      const shown =
        fields ??
        Object.keys(input?.properties ?? {}).filter((each) => !hidden.includes(each) && !(each in fixed))
      for (const field of shown) assert.ok(Object.hasOwn(words.fields, field), `${name}: ${field}`)
    }
})

for (const { tag, words } of others)
  test(`${tag} has every text of the portal, with the same gaps as in English, and none left in English`, () => {
    const texts = textsOf(words)
    assert.deepEqual([...texts.keys()].toSorted(), [...englishTexts.keys()].toSorted())
    let same = 0
    for (const [path, text] of texts) {
      assert.notEqual(text.trim(), '', path)
      const inEnglish = englishTexts.get(path) ?? ''
      assert.deepEqual(gapsOf(text), gapsOf(inEnglish), path)
      // A long text that is the same was not translated; single words may well be.
      if (text === inEnglish && !mayBeSame.test(path)) {
        same++
        assert.ok(text.split(' ').length < 3, `${path}: ${text}`)
      }
    }
    assert.ok(same <= 12, `${same} texts are the same as in English`)
  })
