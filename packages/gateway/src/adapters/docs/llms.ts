// The docs for language models: /llms.txt lists the pages with their addresses, and /llms-full.txt contains all of them
// (https://llmstxt.org).
import { decisionsTitle } from './contents.ts'
import type { Library } from './library.ts'

const about =
  'Tillgate is a self-hosted payment order gateway: merchants create payment orders over a signed, encrypted API, ' +
  'consumers pay on a hosted checkout page, and merchants learn the result by callbacks and by query.'

export function llmsText(library: Library, publicUrl: string): string {
  const chapters = [...Map.groupBy(library.papers, ({ chapter }) => chapter)].map(([chapter, papers]) => {
    // The format reserves this title for pages that may be omitted.
    const title = chapter === decisionsTitle ? 'Optional' : chapter
    const lines = papers.map(
      (paper) => `- [${paper.title}](${publicUrl}/docs/${paper.slug}.md): ${paper.summary}`,
    )
    return [`## ${title}`, '', ...lines, ''].join('\n')
  })
  return [
    '# Tillgate',
    '',
    `> ${about}`,
    '',
    `All of it in one text: ${publicUrl}/llms-full.txt`,
    '',
    ...chapters,
  ].join('\n')
}

export function llmsFullText(library: Library, publicUrl: string): string {
  const papers = library.papers.filter(({ chapter }) => chapter !== decisionsTitle)
  return papers
    .map((paper) => `<!-- ${publicUrl}/docs/${paper.slug}.md -->\n\n${paper.markdown.trim()}\n`)
    .join('\n')
}
