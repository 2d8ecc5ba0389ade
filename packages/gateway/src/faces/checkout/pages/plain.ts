// Pages without an order: a link that leads nowhere, trouble of ours, too many requests. Each says what happened,
// that no money was taken as far as we know it, and what to do now.
import { type Content, html } from '../../../http/html.ts'
import { fill } from '../../../http/languages/words.ts'
import type { Language } from '../languages.ts'
import type { FramedPage } from './frame.ts'
import { type IconName, icon } from './icons.ts'

type PlainPage = Pick<FramedPage, 'title' | 'main' | 'language'>

/** The same to the letter whatever is wrong with the link. */
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

interface PlainWords {
  readonly icon: IconName
  readonly heading: string
  readonly text: Content
  readonly next?: string
  /** On the button that loads the page anew. */
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
