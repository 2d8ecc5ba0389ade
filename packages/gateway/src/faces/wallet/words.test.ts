import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordsOf } from './languages.ts'

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
const { en, ...others } = wordsOf
const english = textsOf(en)

for (const [tag, words] of Object.entries(others))
  test(`${tag} has every text of the wallet, with the same gaps as in English, and none left in English`, () => {
    for (const [path, text] of textsOf(words)) {
      assert.notEqual(text.trim(), '', path)
      assert.deepEqual(gapsOf(text), gapsOf(english.get(path) ?? ''), path)
      // A long text that is the same was not translated; single words may well be.
      assert.ok(text !== english.get(path) || text.split(' ').length < 3, `${path}: ${text}`)
    }
  })
