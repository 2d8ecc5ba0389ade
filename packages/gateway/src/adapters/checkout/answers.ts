// What all pages for consumers share besides their content: the language, the allowed origins of forms, and the pages
// for errors.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageStatusOf } from '../../platform/http/failures.ts'
import type { CookieJar } from '../kit/cookies.ts'
import { chooseLanguage, type Language } from './languages.ts'
import { type Site, sendFramed } from './pages/frame.ts'
import { notFoundPage, tooManyPage, troublePage } from './pages/plain.ts'

/** After an internal error. */
const troubleSeconds = 5

export interface AnswerParts extends Site {
  readonly publicUrl: () => string
  readonly jar: CookieJar
  readonly isUnavailable: (error: unknown) => boolean
}

export function makeAnswers({ mode, brand, publicUrl, jar, isUnavailable }: AnswerParts) {
  const site: Site = { mode, brand }
  return { site, languageOf, originsOf, sendNotFound, sendTooMany, sendTrouble }

  function languageOf(request: FastifyRequest): Language {
    return chooseLanguage({
      asked: (request.query as { lang?: unknown }).lang,
      chosenBefore: jar.read(request.headers.cookie, 'checkout-lang'),
      acceptLanguage: request.headers['accept-language'],
    })
  }

  /** In the sandbox, a phone may use a different name of this machine. */
  function originsOf(request: FastifyRequest): string[] {
    const own = new URL(publicUrl()).origin
    return mode === 'live' ? [own] : [own, `${request.protocol}://${request.host}`]
  }

  function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendFramed(reply.status(404), { ...site, ...notFoundPage(languageOf(request)) })
  }

  function sendTooMany(request: FastifyRequest, reply: FastifyReply, waitMs: number): FastifyReply {
    const seconds = Math.ceil(waitMs / 1000)
    reply.status(429).header('retry-after', seconds)
    const page = tooManyPage(languageOf(request), waitMs)
    return sendFramed(reply, { ...site, ...page, ...looksAgain(request, seconds) })
  }

  function sendTrouble(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const httpStatus = pageStatusOf(error, isUnavailable)
    if (httpStatus === 500) request.log.error({ requestId: request.id, err: error }, 'internal error')
    if (httpStatus === 503) reply.header('retry-after', 1)
    const page = troublePage(languageOf(request))
    return sendFramed(reply.status(httpStatus), { ...site, ...page, ...looksAgain(request, troubleSeconds) })
  }
}

/**
 * Adds a refresh for browsers without scripts if the state ends soon. The response to a form cannot be refreshed at its
 * address.
 */
function looksAgain({ method }: FastifyRequest, refreshSeconds: number): { refreshSeconds?: number } {
  return method === 'GET' ? { refreshSeconds } : {}
}
