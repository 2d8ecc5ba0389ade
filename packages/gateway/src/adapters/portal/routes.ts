// The portal over HTTP: its routes, who may use them, and the frame around every page. Another merchant's things are
// answered like things that do not exist.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { maxLogoBytes } from '../../core/merchants/rules/logo.ts'
import { pageStatusOf } from '../../platform/http/failures.ts'
import { html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { acceptForms } from '../kit/requests.ts'
import type { Trouble } from '../kit/routes.ts'
import { correctable, isMissing, serveRoutes } from '../kit/serve-routes.ts'
import { serveApply } from './apply.ts'
import { sendPortalPage, sendSmallPage } from './frame.ts'
import type { Language } from './languages.ts'
import { serveOneTimeLinks } from './one-time-links.ts'
import {
  mayUse,
  type PortalPage,
  type PortalParts,
  type PortalRoute,
  pathTo,
  prefix,
  type Visit,
} from './portal.ts'
import { portalRoutes } from './route-table.ts'
import { servePortalSignIn } from './sign-in.ts'
import { makeVisits } from './visits.ts'

/** Enough for a public key or a list of callback hosts. */
const maxFormBytes = 32 * 1024
const nonceBytes = 16

export function servePortal(listener: FastifyInstance, parts: PortalParts): void {
  const visits = makeVisits(parts)
  const newNonce = () => Buffer.from(parts.random(nonceBytes)).toString('base64url')
  const frame = (flash?: Flash) => ({ mode: parts.mode, hasDocs: parts.hasDocs, nonce: newNonce(), flash })

  listener.register(async (portal) => {
    acceptForms(portal, { bodyLimit: maxFormBytes })
    portal.setErrorHandler((error: unknown, request, reply) => {
      const httpStatus = pageStatusOf(error, parts.isUnavailable)
      if (httpStatus === 500) parts.log.error({ requestId: request.id, err: error }, 'internal error')
      const language = visits.languageOf(request, reply)
      const { away, awayText, broken, brokenText } = language.words.trouble
      reply.status(httpStatus)
      return httpStatus === 503
        ? sendSmall(reply.header('retry-after', 1), language, { title: away, text: awayText })
        : sendSmall(reply, language, { title: broken, text: fillText(brokenText, { id: request.id }) })
    })
    const door = servePortalSignIn(portal, { parts, visits, frame })
    serveOneTimeLinks(portal, door, { parts, visits })
    if (parts.takesApplications) serveApply(portal, door, parts)
    serveRoutes<Visit, PortalPage, PortalRoute>(portal, portalRoutes(parts.catalog), {
      prefix,
      cookies: visits,
      maxFileBytes: maxLogoBytes,
      downloads: parts.downloads,
      enter,
      mayUse: (route, { member }) => mayUse(route, member),
      originsOf: visits.originsOf,
      isRightToken: (token, { session, member }) => visits.isRightToken(token, session, member.merchantId),
      errorsOf: (error) => (isMissing(error) ? undefined : correctable(error)),
      ownerOf: ({ member }) => member,
      refusedText: ({ language }) => language.words.trouble.refused,
      send: ({ reply, visit }, page, flash) => sendPortalPage(reply, page, { visit, ...frame(flash) }),
      sendTrouble: ({ reply, visit }, trouble) =>
        sendSmall(statusOf(reply, trouble), visit.language, troubleOf(visit, trouble)),
    })
  })

  async function enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined> {
    const language = visits.languageOf(request, reply)
    const visit = await visits.readVisit(request, language)
    if (visit === 'nowhere') {
      const { title, signIn } = language.words
      sendSmall(reply.status(403), language, { title, text: signIn.nowhere })
      return undefined
    }
    if (visit) return visit
    const isPage = request.method === 'GET' && request.url !== prefix
    reply.header('set-cookie', visits.endSessionCookie(request))
    redirect(reply, pathTo('/sign-in') + (isPage ? `?next=${encodeURIComponent(request.url)}` : ''))
    return undefined
  }

  function sendSmall(
    reply: FastifyReply,
    language: Language,
    { title, text }: { title: string; text: string },
  ): FastifyReply {
    const content = html`<p>${text}</p><p><a class="button" href="${prefix}">${language.words.trouble.toPortal}</a></p>`
    return sendSmallPage(reply, { title, language, ...frame(), content })
  }
}

function statusOf(reply: FastifyReply, { kind }: Trouble<PortalRoute>): FastifyReply {
  if (kind === 'nothing_here' || kind === 'refused') return reply.status(404)
  return kind === 'wrong_role' ? reply.status(403) : reply
}

function troubleOf({ language: { words }, member }: Visit, trouble: Trouble<PortalRoute>) {
  const { notFound, notFoundText, stale, staleText, role, roleText, away, tooMany } = words.trouble
  switch (trouble.kind) {
    case 'nothing_here':
    case 'refused':
      return { title: notFound, text: notFoundText }
    case 'stale':
      return { title: stale, text: staleText }
    case 'too_many_downloads':
      return { title: away, text: tooMany }
    case 'wrong_role': {
      const roles = trouble.route.roles?.map((each) => words.roles[each]).join(', ') ?? ''
      return { title: role, text: fillText(roleText, { roles, role: words.roles[member.role] }) }
    }
  }
}
