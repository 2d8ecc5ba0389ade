// The search: every word of the question must begin a word of a section or of its heading; headings weigh more, and so
// does the question as a whole. Bounded in what it reads and answers, because anybody may ask.
import type { Section } from './sections.ts'

export interface Searchable extends Section {
  readonly slug: string
  readonly pageTitle: string
}

export interface Found {
  readonly section: Searchable
  /** The text around the first word found, cut into parts; those that were asked for are marked. */
  readonly excerpt: readonly { readonly text: string; readonly isMarked: boolean }[]
}

export const searchLimits = { questionLength: 100, words: 8, results: 20, excerptLength: 180 } as const

const weights = { title: 40, heading: 20, whole: 10, text: 1, textAtMost: 5 } as const

export type Search = (question: string) => readonly Found[]

export function makeSearch(sections: readonly Searchable[]): Search {
  return (question) => {
    const words = wordsOf(question)
    if (words.length === 0) return []
    const patterns = words.map((word) => new RegExp(beginning(word), 'giu'))
    const whole = new RegExp(beginning(words.join(' ')), 'iu')
    return sections
      .map((section) => ({ section, score: scoreOf(section, { patterns, whole }) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, searchLimits.results)
      .map(({ section }) => ({ section, excerpt: excerptOf(section.text, words) }))
  }
}

function wordsOf(question: string): string[] {
  const words =
    question
      .slice(0, searchLimits.questionLength)
      .toLowerCase()
      .match(/[\p{L}\p{N}_.-]+/gu) ?? []
  return [...new Set(words)].slice(0, searchLimits.words)
}

/** Words hold letters, digits and these three marks alone, of which one means something to a pattern. */
function beginning(words: string): string {
  return `(?<![\\p{L}\\p{N}])${words.replaceAll('.', '\\.')}`
}

function scoreOf(
  { level, pageTitle, heading, text }: Searchable,
  { patterns, whole }: { patterns: readonly RegExp[]; whole: RegExp },
): number {
  let score = whole.test(heading) || whole.test(text) ? weights.whole : 0
  for (const pattern of patterns) {
    const inText = Math.min(text.match(pattern)?.length ?? 0, weights.textAtMost)
    // A page's own name speaks for its beginning, not for each of its sections.
    const inTitle = level === 1 && pageTitle.match(pattern) !== null
    const inHeading = heading.match(pattern) !== null
    const gained = (inTitle ? weights.title : 0) + (inHeading ? weights.heading : 0) + inText * weights.text
    if (gained === 0) return 0
    score += gained
  }
  return score
}

function excerptOf(text: string, words: readonly string[]): Found['excerpt'] {
  const pattern = new RegExp(`(${words.map(beginning).join('|')})`, 'iu')
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
