// The documentation over HTTP: pages, the same as Markdown, the search, the images, and the lists for programs. All but
// the search is made once and then answered from memory.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { assets } from '../assets.ts'
import { type Page, pageText, protect, sendPage } from '../pages/layout.ts'
import { type Prepared, prepare, sendPrepared } from '../prepared.ts'
import { overviewSlug } from './contents.ts'
import { type Library, type LibraryOptions, openLibrary, pathOf } from './library.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { missingPage, paperPage, searchPage, searchPath } from './pages.ts'
import { searchLimits } from './search.ts'

export interface DocsParts extends LibraryOptions {
  readonly publicUrl: () => string
}

const markdownType = 'text/markdown; charset=utf-8'
const textType = 'text/plain; charset=utf-8'
/** Kept by whoever likes, and asked for again each time: a new version is seen at once. */
const keepAndAsk = 'public, no-cache'

export function serveDocs(listener: FastifyInstance, { publicUrl, ...options }: DocsParts): void {
  // Opened by the first reader: a gateway that nobody reads pays nothing for it.
  let opened: Library | undefined
  const library = (): Library => {
    opened ??= openLibrary(options)
    return opened
  }
  const made = new Map<string, Prepared>()
  const once = (name: string, make: () => Prepared): Prepared => {
    const known = made.get(name) ?? make()
    made.set(name, known)
    return known
  }
  const send = (request: FastifyRequest, reply: FastifyReply, prepared: Prepared): FastifyReply =>
    sendPrepared(request, reply.header('cache-control', keepAndAsk), prepared)
  const sendText = (request: FastifyRequest, reply: FastifyReply, name: string, make: () => string) =>
    send(
      request,
      reply,
      once(name, () => prepare(textType, Buffer.from(make()))),
    )
  const sendPaper = (request: FastifyRequest, reply: FastifyReply, slug: string): FastifyReply => {
    const isMarkdown = slug.endsWith('.md')
    const paper = library().find(isMarkdown ? slug.slice(0, -'.md'.length) : slug)
    if (!paper) return sendPage(reply.status(404), missingPage(library()))
    if (isMarkdown) {
      return send(
        request,
        reply,
        once(slug, () => prepare(markdownType, Buffer.from(paper.markdown))),
      )
    }
    const page = once(slug, () => prepareHtml(paperPage(library(), paper)))
    return send(request, protect(reply, { script: assets.docsScript }), page)
  }

  listener.get('/docs', (request, reply) => sendPaper(request, reply, overviewSlug))
  listener.get(searchPath, (request, reply) => {
    const { q } = request.query as { q?: string | string[] }
    const question = (typeof q === 'string' ? q : '').trim().slice(0, searchLimits.questionLength)
    return sendPage(reply, searchPage(library(), question, library().search(question)))
  })
  listener.get('/docs/*', (request, reply) => {
    const { '*': wanted } = request.params as { '*': string }
    // One address for one page.
    if (wanted === '' || wanted === overviewSlug) return reply.redirect(pathOf({ slug: overviewSlug }), 308)
    const file = library().file(wanted)
    if (file === undefined) return sendPaper(request, reply, wanted)
    return send(request, reply.header('content-security-policy', filePolicy), file)
  })
  listener.get('/llms.txt', (request, reply) =>
    sendText(request, reply, 'llms.txt', () => llmsText(library(), publicUrl())),
  )
  listener.get('/llms-full.txt', (request, reply) =>
    sendText(request, reply, 'llms-full.txt', () => llmsFullText(library(), publicUrl())),
  )
}

/** A drawing brings its own styles and nothing else, also when it is opened by itself. */
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

function prepareHtml(page: Page): Prepared {
  return prepare('text/html; charset=utf-8', Buffer.from(pageText(page)))
}
