// The search: a section matches if it has every word of the question in its text, its heading or its page's title, as a
// prefix, with a typing error or as a synonym. Input and results are bounded, because the search is public.
import MiniSearch from 'minisearch'
import type { Section } from './sections.ts'

export interface Searchable extends Section {
  readonly slug: string
  readonly pageTitle: string
}

export interface Found {
  readonly section: Searchable
  /** The text around the first match, in parts; matches are marked. */
  readonly excerpt: readonly { readonly text: string; readonly isMarked: boolean }[]
}

export const searchLimits = { questionLength: 100, words: 8, results: 20, excerptLength: 180 } as const

/** Words for the same concept. Each finds the whole row, in the singular and in the plural. */
const synonyms = [
  ['callback', 'webhook', 'notification'],
  ['consumer', 'customer', 'buyer', 'payer'],
  ['merchant', 'seller', 'shop'],
  ['key', 'secret', 'credential'],
  ['wallet', 'account'],
  ['cancel', 'void'],
  ['refund', 'reimbursement'],
  ['payout', 'withdrawal'],
  ['sandbox', 'testing'],
  ['console', 'dashboard'],
  ['envelope', 'encryption'],
  ['signature', 'signing'],
  ['email', 'mail'],
  ['error', 'failure'],
] as const
/** Phrases of other payment systems, with ours. */
const phrases = [
  [/\btest (?:card|number|account)s?\b/gi, 'test wallets'],
  [/\bapi keys?\b/gi, 'keys'],
  [/\b(?:error|code) (?=\d{5}\b)/gi, ''],
  [/\bsign (?:a |the )?requests?\b/gi, 'signing'],
] as const
const namesOf = new Map<string, readonly string[]>(
  synonyms.flatMap((row) => row.flatMap((name) => [name, `${name}s`].map((each) => [each, row] as const))),
)

export type Search = (question: string) => readonly Found[]

export function makeSearch(sections: readonly Searchable[]): Search {
  const index = new MiniSearch({
    fields: ['title', 'heading', 'text'],
    tokenize: wordsOf,
    processTerm: (word) => [word, ...(namesOf.get(word) ?? [])],
    searchOptions: {
      processTerm: (word) => word,
      combineWith: 'AND',
      prefix: true,
      // The end of a query may be an incomplete word, so short words are matched exactly.
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
      maxFuzzy: 2,
      boost: { title: 8, heading: 4 },
      boostDocument: (id) => weightOf(sections[id]?.slug ?? ''),
      weights: { prefix: 0.5, fuzzy: 0.2 },
    },
  })
  // A page's title counts for its first section only.
  index.addAll(
    sections.map(({ level, pageTitle, heading, text }, id) => ({
      id,
      title: level === 1 ? pageTitle : '',
      heading,
      text,
    })),
  )
  return (question) => {
    const asked = phrases.reduce(
      (text, [phrase, ours]) => text.replace(phrase, ours),
      question.slice(0, searchLimits.questionLength),
    )
    const words = [...new Set(wordsOf(asked).map(singularOf))]
    return index
      .search(words.slice(0, searchLimits.words).join(' '))
      .slice(0, searchLimits.results)
      .flatMap(({ id, terms }) => {
        const section = sections[id]
        return section ? [{ section, excerpt: excerptOf(section.text, terms) }] : []
      })
  }
}

/** Readers look for guides more often than for the reference. */
function weightOf(slug: string): number {
  return slug.startsWith('api/sandbox-') ? 0.3 : slug.startsWith('api/') ? 0.7 : 1
}

/** For a word with synonyms, which the index has in the singular. */
function singularOf(word: string): string {
  return namesOf.get(word)?.find((name) => `${name}s` === word) ?? word
}

/** Letters and digits only, so that no character is special in a pattern. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function excerptOf(text: string, terms: readonly string[]): Found['excerpt'] {
  const words = terms.flatMap((term) => namesOf.get(term) ?? [term])
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'iu')
  const first = text.search(pattern)
  const from = first < 60 ? 0 : text.lastIndexOf(' ', first - 40) + 1
  const cut = text.slice(from, from + searchLimits.excerptLength)
  const parts = cut.split(pattern).map((part, index) => ({ text: part, isMarked: index % 2 === 1 }))
  return [
    ...(from > 0 ? [{ text: '… ', isMarked: false }] : []),
    ...parts.filter((part) => part.text !== ''),
    ...(from + cut.length < text.length ? [{ text: ' …', isMarked: false }] : []),
  ]
}
