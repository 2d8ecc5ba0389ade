// Checks packages/gateway/locales: each language has all texts of English, translated.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emailLanguages } from '../../../core/emails/rules/email.ts'
import { languages } from '../../checkout/languages.ts'
import { pluralForms } from './plural.ts'

const folder = join(import.meta.dirname, '../../../../locales')
const tags = languages.map(({ tag }) => tag)
/** Operators have no other language. */
const onlyInEnglish = ['console', 'operator-emails']
const translated = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !onlyInEnglish.includes(entry.name))
  .map(({ name }) => name)

/** Texts that are the same in English: abbreviations, names in the interface, shared words. */
const inEveryLanguage = [
  ...['BIC', 'IBAN', 'PIN', 'TEST', 'URL', 'paymentId', 'requestId'],
  ...['{ms} ms', '{quantity} × {amount}'],
]
const sameAsEnglish: Readonly<Record<string, readonly string[]>> = {
  de: [
    ...['Callbacks', 'Code', 'Details', 'Format', 'Name', 'Passkeys', 'Shop', 'Status', 'Wallet'],
    'Website',
  ],
  es: ['Callbacks', 'Endpoint', 'Manual', 'Total'],
  fr: ['Actions', 'Active', 'Callbacks', 'Code', 'Correction', 'Endpoint', 'Format', 'Message', 'Total'],
  pt: ['Callbacks', 'Endpoint', 'Manual', 'Total'],
}

test('every adapter has a file for each language, operator texts have English only', () => {
  const names = (adapter: string) => readdirSync(join(folder, adapter)).toSorted()
  assert.deepEqual(emailLanguages.toSorted(), tags.toSorted())
  assert.deepEqual(translated, ['checkout', 'emails', 'portal', 'wallet'])
  for (const adapter of translated)
    assert.deepEqual(names(adapter), tags.map((tag) => `${tag}.json`).toSorted())
  for (const adapter of onlyInEnglish) assert.deepEqual(names(adapter), ['en.json'])
})

for (const adapter of translated) {
  const english = textsOf(adapter, 'en')

  for (const tag of tags)
    test(`${adapter}/${tag} has the texts and placeholders of English, and none left in English`, () => {
      const texts = textsOf(adapter, tag)
      assert.deepEqual([...texts.keys()], [...english.keys()])
      for (const [path, text] of texts) {
        assert.notEqual(text.trim(), '', path)
        assert.deepEqual(placeholdersOf(text), placeholdersOf(english.get(path) ?? ''), path)
        assert.ok(isWellFormed(text, tag), `${path}: ${text}`)
      }
      if (tag === 'en') return
      const rightly = [...inEveryLanguage, ...(sameAsEnglish[tag] ?? [])]
      const same = [...texts].filter(([path, text]) => text === english.get(path) && !rightly.includes(text))
      assert.deepEqual(same, [])
      const halfEnglish = [...texts.values()].filter((text) => hasAnotherScript(tag) && englishRun.test(text))
      assert.deepEqual(halfEnglish, [])
    })
}

test('operator texts are well formed', () => {
  for (const adapter of onlyInEnglish)
    for (const [path, text] of textsOf(adapter, 'en')) assert.ok(isWellFormed(text, 'en'), path)
})

test('an extra brace, tag or plural form makes a text malformed', () => {
  for (const text of ['{amount', 'amount}', '{ amount }', '{{amount}}', '<b>{amount}</b>', 'a &amp; b'])
    assert.equal(isWellFormed(text, 'en'), false, text)
  assert.equal(isWellFormed('Pay {amount} & {tip}', 'en'), true)
  const items = '{count, plural, one {{count} item} other {{count} items}}'
  assert.equal(isWellFormed(items, 'en'), true)
  for (const tag of ['ja', 'ar']) assert.equal(isWellFormed(items, tag), false, tag)
  assert.throws(() => isWellFormed('{count, plural, one {{count} item} other {{count} items', 'en'))
})

/** Every text by its path. */
function textsOf(adapter: string, tag: string): Map<string, string> {
  const locale: unknown = JSON.parse(readFileSync(join(folder, adapter, `${tag}.json`), 'utf8'))
  return new Map(textsIn(locale, []))
}

function textsIn(value: unknown, path: readonly string[]): [string, string][] {
  if (typeof value === 'string') return [[path.join('.'), value]]
  assert(typeof value === 'object' && value !== null, path.join('.'))
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, [...path, name]))
}

const plural = /\{count, plural,/
const placeholder = /\{\w+\}/g
/** Names of products and formats have at most two words. */
const englishRun = /[a-z]+ [a-z]+ [a-z]+/i

function placeholdersOf(text: string): readonly string[] {
  return plural.test(text) ? ['{count, plural}'] : (text.match(placeholder) ?? []).toSorted()
}

/** Braces are placeholders or a plural with the forms of the language's grammar; markup comes only from the page. */
function isWellFormed(text: string, tag: string): boolean {
  if (/[<>]|&\w+;/.test(text)) return false
  if (!plural.test(text)) return !/[{}]/.test(text.replaceAll(placeholder, ''))
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions()
  return Object.keys(pluralForms(text)).toSorted().join() === pluralCategories.toSorted().join()
}

function hasAnotherScript(tag: string): boolean {
  return ['ar', 'ja', 'zh'].includes(tag)
}
