// The documentation over HTTP: pages, their Markdown, the search, the images, and the lists for language models.
// Everything except the search is rendered once and served from memory.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { assets } from '../kit/assets.ts'
import { type Page, pageText, protect, sendPage } from '../kit/layout.ts'
import { type Prepared, prepare, sendPrepared } from '../kit/prepared.ts'
import type { OwnAddresses } from './addresses.ts'
import { overviewSlug, pathOf } from './contents.ts'
import type { Library, LibraryOptions } from './library.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { missingPage, paperPage, searchPage, searchPath } from './pages.ts'
import { searchLimits } from './search.ts'

export interface DocsParts extends Omit<LibraryOptions, 'own'> {
  readonly own: () => OwnAddresses
  readonly clock: Clock
}

/** A search blocks the event loop for 6 ms, and it is public. */
export const searchRates = {
  /** Enough for typing, which causes a few requests per second. */
  address: { perSecond: 2, burst: 40 },
  /** At most an eighth of the event loop in total. */
  all: { perSecond: 20, burst: 100 },
} as const

const markdownType = 'text/markdown; charset=utf-8'
const textType = 'text/plain; charset=utf-8'
/** Cacheable with revalidation, so that a new version is seen at once. */
const keepAndAsk = 'public, no-cache'

export function serveDocs(listener: FastifyInstance, { own, clock, ...options }: DocsParts): void {
  // Loaded for the first reader, so that a gateway without readers spends nothing on it.
  let opened: Promise<Library> | undefined
  const openedLibrary = (): Promise<Library> => {
    opened ??= import('./library.ts')
      .then(({ openLibrary }) => openLibrary({ ...options, own: own() }))
      .catch((error: unknown) => {
        opened = undefined
        throw error
      })
    return opened
  }
  const addressSearches = new RateLimiter({ rate: searchRates.address, clock })
  const allSearches = new RateLimiter({ rate: searchRates.all, clock })
  const made = new Map<string, Prepared>()
  const once = (name: string, make: () => Prepared): Prepared => {
    const known = made.get(name) ?? make()
    made.set(name, known)
    return known
  }
  const send = (request: FastifyRequest, reply: FastifyReply, prepared: Prepared): FastifyReply =>
    sendPrepared(request, reply.header('cache-control', keepAndAsk), prepared)
  const serveText = (path: string, make: (library: Library, publicUrl: string) => string) =>
    listener.get(path, async (request, reply) => {
      const library = await openedLibrary()
      const text = once(path, () => prepare(textType, Buffer.from(make(library, own().publicUrl))))
      return send(request, reply, text)
    })
  const sendPaper = async (request: FastifyRequest, reply: FastifyReply, slug: string) => {
    const library = await openedLibrary()
    const isMarkdown = slug.endsWith('.md')
    const paper = library.find(isMarkdown ? slug.slice(0, -'.md'.length) : slug)
    if (!paper) return sendPage(reply.status(404), missingPage(library))
    if (isMarkdown)
      return send(
        request,
        reply,
        once(slug, () => prepare(markdownType, Buffer.from(paper.markdown))),
      )
    const page = once(slug, () => prepareHtml(paperPage(library, paper)))
    return send(request, protect(reply, { script: assets.docsScript }), page)
  }

  listener.get('/docs', (request, reply) => sendPaper(request, reply, overviewSlug))
  listener.get(searchPath, async (request, reply) => {
    const library = await openedLibrary()
    const { q, all } = request.query as { q?: string | string[]; all?: string }
    const question = (typeof q === 'string' ? q : '').trim().slice(0, searchLimits.questionLength)
    // An address beyond its limit does not use up the others'.
    const waitMs = addressSearches.take(addressKey(request.ip)) || allSearches.take('')
    if (waitMs > 0) {
      reply.status(429).header('retry-after', Math.ceil(waitMs / 1_000))
      return sendPage(reply, searchPage(library, question, undefined))
    }
    return sendPage(
      reply,
      searchPage(library, question, library.search(question, all !== undefined), all !== undefined),
    )
  })
  listener.get('/docs/*', async (request, reply) => {
    const { '*': wanted } = request.params as { '*': string }
    // One address per page.
    if (wanted === '' || wanted === overviewSlug) return reply.redirect(pathOf({ slug: overviewSlug }), 308)
    const library = await openedLibrary()
    const file = library.file(wanted)
    if (file === undefined) return sendPaper(request, reply, wanted)
    return send(request, reply.header('content-security-policy', filePolicy), file)
  })
  serveText('/llms.txt', llmsText)
  serveText('/llms-full.txt', llmsFullText)
}

/** A drawing contains only its own styles, also when opened separately. */
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

function prepareHtml(page: Page): Prepared {
  return prepare('text/html; charset=utf-8', Buffer.from(pageText(page)))
}
