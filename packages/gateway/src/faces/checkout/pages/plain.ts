// Pages without an order: a link that leads nowhere, trouble of ours, too many requests. Each says what happened,
// that no money was taken as far as we know it, and what to do now.
import { type Content, type Html, html } from '../../../http/html.ts'
import type { Language } from '../languages.ts'
import { fill } from '../words.ts'
import type { FramedPage } from './frame.ts'
import { icon } from './icons.ts'

type PlainPage = Pick<FramedPage, 'title' | 'main' | 'language'>

/** The same to the letter whatever is wrong with the link. */
export function notFoundPage(language: Language): PlainPage {
  const { title, notFound } = language.words
  return {
    language,
    title: title.notFound,
    main: plain('link', notFound.heading, [
      html`<p>${notFound.text}</p>`,
      html`<p class="quiet">${notFound.next}</p>`,
    ]),
  }
}

export function troublePage(language: Language): PlainPage {
  const { title, trouble } = language.words
  return {
    language,
    title: title.trouble,
    main: plain('notice', trouble.heading, [
      html`<p>${trouble.text}</p>`,
      html`<p><a class="button" href="">${trouble.again}</a></p>`,
    ]),
  }
}

export function tooManyPage(language: Language, waitMs: number): PlainPage {
  const { title, tooMany } = language.words
  const time = language.formats.duration(Math.max(1, Math.ceil(waitMs / 1000)), 'second')
  return {
    language,
    title: title.tooMany,
    main: plain('clock', tooMany.heading, [
      html`<p>${fill(tooMany.text, { time })}</p>`,
      html`<p><a class="button" href="">${tooMany.again}</a></p>`,
    ]),
  }
}

function plain(name: Parameters<typeof icon>[0], heading: string, content: Content): Html {
  return html`<main class="card plain">
${icon(name)}
<h1>${heading}</h1>
${content}
</main>`
}
