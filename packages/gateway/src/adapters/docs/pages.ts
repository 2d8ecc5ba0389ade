// The documentation's pages: the list of papers on the left, the paper, and its sections on the right. On a narrow screen,
// buttons open both lists without a script.
import { assets } from '../kit/assets.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import type { Page } from '../kit/layout.ts'
import { decisionsTitle, pathOf } from './contents.ts'
import type { Library, Paper } from './library.ts'
import { type Found, searchLimits } from './search.ts'

export const searchPath = '/docs/search'

export function paperPage(library: Library, paper: Paper): Page {
  const at = library.papers.indexOf(paper)
  const contents = paper.sections.filter(({ level }) => level === 2 || level === 3)
  return docsPage(library, {
    title: `${paper.title} · Tillgate`,
    current: paper,
    content: html`<main id="content">
<p class="chapter">${paper.chapter}</p>
<article>
${library.render(paper)}
</article>
<nav class="around" aria-label="Next to this page">
${neighbour('Previous', library.papers[at - 1])}
${neighbour('Next', library.papers[at + 1])}
</nav>
<p class="source"><a href="/docs/${paper.slug}.md">This page as Markdown</a></p>
</main>
${
  contents.length > 1 &&
  html`<nav class="contents" id="contents" aria-label="On this page" popover>
<h2>On this page</h2>
<ul>
${contents.map(({ level, anchor, heading }) => html`<li class="level-${level}"><a href="#${anchor}">${heading}</a></li>\n`)}</ul>
</nav>`
}`,
    hasContents: contents.length > 1,
  })
}

/** Without results if there are too many searches at once. */
export function searchPage(
  library: Library,
  question: string,
  found: readonly Found[] | undefined,
  everything = false,
): Page {
  return docsPage(library, {
    title: `${question || 'Search'} · Tillgate`,
    question,
    content: html`<main id="content">
<h1>Search</h1>
<div id="results" role="status">
${found ? results(question, found) : html`<p>Too many searches at once. Wait a moment, then search again.</p>`}
</div>
${found && question !== '' && !everything && html`<p><a href="${searchPath}?all=yes&amp;q=${encodeURIComponent(question)}">Search decisions and the changelog too</a></p>`}
</main>`,
  })
}

export function missingPage(library: Library): Page {
  const isEmpty = library.papers.length === 0
  return docsPage(library, {
    title: 'Not found · Tillgate',
    content: html`<main id="content">
<h1>${isEmpty ? 'No documentation' : 'Page not found'}</h1>
<p>${
      isEmpty
        ? 'This gateway was installed without its docs folder.'
        : html`The address may be old. Search for the page, or start at <a href="/docs">the overview</a>.`
    }</p>
</main>`,
  })
}

function results(question: string, found: readonly Found[]): Html {
  if (question === '') return html`<p class="quiet">Enter a word to search for.</p>`
  if (found.length === 0) return html`<p>No results for “${question}”.</p>`
  return html`<ol class="found">
${found.map(
  ({ section, excerpt }) => html`<li>
<a href="${pathOf(section)}${section.level > 1 && `#${section.anchor}`}">${section.heading}</a>
<span class="quiet">${section.level > 1 && section.pageTitle}</span>
<p>${excerpt.map(({ text, isMarked }) => (isMarked ? html`<mark>${text}</mark>` : text))}</p>
</li>
`,
)}</ol>`
}

interface DocsPage {
  readonly title: string
  readonly content: Content
  readonly current?: Paper
  readonly question?: string
  readonly hasContents?: boolean
}

function docsPage(library: Library, { title, content, current, question = '', hasContents }: DocsPage): Page {
  return {
    title,
    bodyClass: 'docs',
    styles: [assets.docsStyle],
    script: assets.docsScript,
    content: html`<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="/docs">Tillgate <span>docs</span></a>
<form role="search" action="${searchPath}" method="get">
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search" value="${question}" maxlength="${searchLimits.questionLength}" autocomplete="off" spellcheck="false">
<button type="submit">Search</button>
</form>
<button class="fold" type="button" popovertarget="papers">Menu</button>
${hasContents && html`<button class="fold" type="button" popovertarget="contents">On this page</button>`}
<a class="home" href="/">This gateway</a>
</header>
<div class="columns">
<nav class="papers" id="papers" aria-label="Documentation" popover>
${chaptersOf(library).map(([chapter, papers]) => {
  const list = html`<ul>
${papers.map((paper) => html`<li><a href="${pathOf(paper)}"${paper === current && html` aria-current="page"`}>${paper.label ?? shortTitle(paper)}</a></li>\n`)}</ul>
`
  if (chapter !== decisionsTitle) return html`<h2>${chapter}</h2>\n${list}`
  return html`<details${papers.some((paper) => paper === current) && html` open`}><summary>${chapter}</summary>
${list}</details>`
})}
</nav>
${content}
</div>`,
  }
}

function chaptersOf(library: Library): [string, readonly Paper[]][] {
  return [...Map.groupBy(library.papers, ({ chapter }) => chapter)]
}

/** Decision records start with their number. */
function shortTitle({ title }: Paper): string {
  return title.replace(/^0*(\d+)[.:] /, '$1 · ')
}

function neighbour(words: string, paper: Paper | undefined): Html | undefined {
  if (paper === undefined) return undefined
  return html`<a class="${words.toLowerCase()}" href="${pathOf(paper)}"><span class="quiet">${words}</span> ${paper.title}</a>`
}
