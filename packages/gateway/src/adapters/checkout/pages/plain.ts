// Pages without an order: an invalid link, an internal error, too many requests. Each says what happened, that no money
// was taken as far as known, and what to do.
import { type Content, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { Language } from '../languages.ts'
import type { FramedPage } from './frame.ts'
import { type IconName, icon } from './icons.ts'
import { isolated } from './shop.ts'

type PlainPage = Pick<FramedPage, 'title' | 'main' | 'language'>

/** Identical for every kind of invalid link. */
export function notFoundPage(language: Language): PlainPage {
  const { notFound } = language.words
  return plain(language, { icon: 'link', ...notFound })
}

export function troublePage(language: Language): PlainPage {
  const { trouble } = language.words
  return plain(language, { icon: 'notice', ...trouble })
}

export function tooManyPage(language: Language, waitMs: number): PlainPage {
  const { tooMany } = language.words
  const time = language.formats.duration(Math.max(1, Math.ceil(waitMs / 1000)), 'second')
  return plain(language, {
    icon: 'clock',
    ...tooMany,
    text: fill(tooMany.text, { time }),
  })
}

/** Many unpaid orders were created from the visitor's address at a payment link. */
export function unfinishedPage(
  language: Language,
  { merchant, waitMs }: { readonly merchant: { readonly name: string }; readonly waitMs: number },
): PlainPage {
  const { unfinished } = language.words.link
  const time = language.formats.duration(Math.max(1, Math.ceil(waitMs / 60_000)), 'minute')
  return plain(language, {
    icon: 'clock',
    ...unfinished,
    text: fill(unfinished.text, { merchant: isolated(merchant.name), time }),
  })
}

interface PlainWords {
  readonly icon: IconName
  readonly heading: string
  readonly text: Content
  readonly next?: string
  /** The label of the reload button. */
  readonly again?: string
}

function plain(language: Language, { text, next, again, ...page }: PlainWords): PlainPage {
  const main = html`<main class="card plain">
${icon(page.icon)}
<h1>${page.heading}</h1>
<p>${text}</p>
${next !== undefined && html`<p class="quiet">${next}</p>`}
${again !== undefined && html`<p><a class="button" href="">${again}</a></p>`}
</main>`
  return { language, title: page.heading, main }
}
