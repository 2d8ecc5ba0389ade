// Rejects a few words and forms that make user-facing English hard to read. Everything else about prose is for people to
// judge: a rule is added here only if it has no false alarms.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TObject, TSchema } from 'typebox'
import { catalog } from '../packages/gateway/src/actions/catalog.ts'
import { displayOf } from '../packages/gateway/src/actions/fields.ts'
import { settings } from '../packages/gateway/src/app/settings/settings.ts'
import { commands } from '../packages/sdk/src/cli/till.ts'

/** A pattern, the better word, and the reason. */
const rules: readonly (readonly [pattern: RegExp, better: string, reason: string])[] = [
  [/\b(whoever|whosever|somebody|nobody)\b/i, 'you, or the role', 'it hides the actor'],
  [/\b(told|gives? out|given out)\b/i, 'shown, sent or returned', 'systems do not speak'],
  [/\b(hears? of|knows? of|answers? for)\b/i, 'receives, stores or responds', 'systems do not speak'],
  [/\bfor ever\b/i, 'permanently', 'it is outdated'],
  [/\bby itself\b/i, 'automatically', 'it is ambiguous'],
  [/\b(e-mails?|by mail)\b/i, 'email', 'one concept has one word'],
  [/\b(colour|behaviour|authoris|serialis)/i, 'American spelling', 'one spelling is used everywhere'],
  [/\bcanceled\b/i, 'cancelled', 'the specification spells it so'],
  [
    /\b(timed out orders?|payout plans?|callback endpoints?)\b/i,
    'the glossary’s word',
    'one concept has one word',
  ],
]

const root = join(import.meta.dirname, '..')
const maxLabelWords = 5
const maxSentenceWords = 30

interface Said {
  readonly at: string
  readonly text: string
}

/** Texts may hold placeholders, which count as one word. */
function wordsIn(text: string): number {
  return text
    .replace(/\([^)]*\)|\{[^}]*\}|`[^`]*`/g, 'x')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

function problemsOf({ at, text }: Said): string[] {
  const wrong = rules.flatMap(([pattern, better, reason]) => {
    const found = pattern.exec(text.replaceAll(/`[^`]*`/g, ''))?.[0]
    return found === undefined ? [] : [`${at}: “${found}” (${reason}). Use: ${better}.`]
  })
  const long = text
    .split(/(?<=[.!?:;])\s+|\n/)
    .filter((sentence) => wordsIn(sentence) > maxSentenceWords)
    .map((sentence) => `${at}: more than ${maxSentenceWords} words, split the sentence: “${sentence}”`)
  return [...wrong, ...long]
}

function labelProblem({ at, text }: Said): string[] {
  return wordsIn(text) > maxLabelWords
    ? [`${at}: a label of more than ${maxLabelWords} words, shorten it: “${text}”`]
    : []
}

/** One word per concept and language, and the words that it replaced. */
const glossary: {
  readonly words: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly avoid: Readonly<Record<string, readonly string[]>>
} = readJson('packages/gateway/locales/glossary.json')

const locales: Said[] = textsOf('en')

function textsOf(language: string): Said[] {
  const paths = globSync(`packages/gateway/locales/*/${language}.json`, { cwd: root })
  return paths.flatMap((path) => textsIn(readJson(path), path))
}

function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

function textsIn(value: unknown, at: string): Said[] {
  if (typeof value === 'string') return [{ at, text: value }]
  return Object.entries(value as object).flatMap(([name, inner]) => textsIn(inner, `${at} ${name}`))
}

const fields = catalog.flatMap(({ name, params, input }) =>
  [params, input].flatMap((schema: TObject | undefined) =>
    Object.entries<TSchema>(schema?.properties ?? {}).map(([field, of]) => ({
      at: `${name} ${field}`,
      schema: of,
    })),
  ),
)
const forms = catalog.flatMap(({ name, forms: all }) => all.map((form) => ({ at: `${name}, form`, form })))
const fixed = (at: string, text: unknown): Said[] => (typeof text === 'string' ? [{ at, text }] : [])

const labels: Said[] = [
  ...fields.flatMap(({ at, schema }) => fixed(at, displayOf(schema).label)),
  ...forms.flatMap(({ at, form }) => [...fixed(at, form.label), ...fixed(at, form.button)]),
]
const sentences: Said[] = [
  ...catalog.map(({ name, summary }) => ({ at: name, text: summary })),
  ...fields.flatMap(({ at, schema }) => fixed(at, (schema as { description?: string }).description)),
  ...forms.flatMap(({ at, form }) => fixed(at, form.explains)),
  ...Object.entries(settings).map(([name, { about }]) => ({ at: name, text: about })),
  ...commands.map(({ name, summary }) => ({ at: `till ${name}`, text: summary })),
]

test('texts of pages, emails, commands, actions and settings have none of the words that are ruled out', () => {
  assert.ok(locales.length > 500 && sentences.length > 500)
  assert.deepEqual([...locales, ...sentences, ...labels].flatMap(problemsOf), [])
})

test('the other languages use the words of the glossary', () => {
  const { words, avoid } = glossary
  const languages = Object.keys(avoid)
  assert.equal(languages.length, 7)
  for (const [word, translations] of Object.entries(words))
    assert.deepEqual(Object.keys(translations), languages, word)
  const found = languages.flatMap((language) =>
    textsOf(language).flatMap(({ at, text }) =>
      (avoid[language] ?? [])
        .filter((word) => text.toLowerCase().includes(word.toLowerCase()))
        .map((word) => `${at}: “${word}”, see packages/gateway/locales/glossary.json`),
    ),
  )
  assert.deepEqual(found, [])
})

test('labels of fields and buttons have at most five words', () => {
  assert.ok(labels.length > 100)
  assert.deepEqual(labels.flatMap(labelProblem), [])
})

test('the check finds what it rules out, and nothing else', () => {
  const found = (text: string) => problemsOf({ at: 'x', text }).length
  assert.deepEqual(
    ['Nobody pays', 'Told once', 'An e-mail', 'Closed for ever', 'The toldstone', '`told` is a field'].map(
      found,
    ),
    [1, 1, 1, 1, 0, 0],
  )
  assert.equal(found(`${'word '.repeat(31)}.`), 1)
  assert.equal(labelProblem({ at: 'x', text: 'Minimum amount (optional)' }).length, 0)
  assert.equal(labelProblem({ at: 'x', text: 'The least that a consumer may say' }).length, 1)
})
