// The portal over HTTP: one guard before every page and every form. Whoever is not signed in sees the sign-in page; a form
// must come from our own page, bear the token of the session and the shop, and be allowed to the member's role. What is
// not the shop's is answered as what does not exist.
import { Failure, httpStatusOf, KeyError } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toFieldError } from '../../acts/read-input.ts'
import { pageStatusOf } from '../../http/failures.ts'
import { originOf } from '../../http/forms/sign-in-cookies.ts'
import { acceptUploads } from '../../http/forms/uploads.ts'
import { html } from '../../http/html.ts'
import { fillText } from '../../http/languages/words.ts'
import { redirect } from '../../http/layout.ts'
import { acceptForms, isFromElsewhere, readForm } from '../../http/requests.ts'
import { maxLogoBytes } from '../../merchants/rules/logo.ts'
import { serveApply } from './apply.ts'
import { makeDoor } from './door.ts'
import { type Note, sendPortalPage, sendSmallPage } from './frame.ts'
import type { Language } from './languages.ts'
import { serveOneTimeLinks } from './one-time-links.ts'
import {
  type Done,
  mayUse,
  type PortalAct,
  type PortalDownload,
  type PortalPage,
  type PortalParts,
  type PortalRoute,
  type PortalView,
  pathTo,
  prefix,
  type Visit,
} from './portal.ts'
import { serveProviderSignIn } from './provider-sign-in.ts'
import { portalRoutes } from './route-table.ts'
import { serveSignIn } from './sign-in.ts'
import { makeVisits } from './visits.ts'

/** A public key fits, and a list of callback hosts. */
const maxFormBytes = 32 * 1024
const maxUploadBytes = maxLogoBytes + 8 * 1024
const nonceBytes = 16

interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visit: Visit
}

export function servePortal(listener: FastifyInstance, parts: PortalParts): void {
  const { running } = parts
  const visits = makeVisits(parts)
  const newNonce = () => Buffer.from(parts.random(nonceBytes)).toString('base64url')
  const frame = (note?: Note) => ({ mode: parts.mode, nonce: newNonce(), note })

  listener.register(async (portal) => {
    acceptForms(portal, { bodyLimit: maxFormBytes })
    acceptUploads(portal, { bodyLimit: maxUploadBytes })
    portal.setErrorHandler((error: unknown, request, reply) => {
      const httpStatus = pageStatusOf(error, parts.isUnavailable)
      if (httpStatus === 500) parts.log.error({ requestId: request.id, err: error }, 'internal error')
      if (httpStatus === 503) reply.header('retry-after', 1)
      const { words } = visits.languageOf(request, reply)
      const { away, awayText, broken, brokenText } = words.trouble
      return sendTrouble(
        request,
        reply.status(httpStatus),
        httpStatus === 503
          ? { title: away, text: awayText }
          : { title: broken, text: fillText(brokenText, { id: request.id }) },
      )
    })
    const doorParts = { parts, visits, frame }
    const door = makeDoor(doorParts)
    serveSignIn(portal, door, doorParts)
    serveProviderSignIn(portal, door, doorParts)
    serveOneTimeLinks(portal, door, doorParts)
    if (parts.takesApplications) serveApply(portal, door, parts)
    for (const route of portalRoutes(parts.catalogue)) {
      const path = prefix + route.path
      if ('act' in route)
        portal.post(
          path,
          guarded(route, (call) => take(call, route)),
        )
      else if ('download' in route)
        portal.get(
          path,
          guarded(route, (call) => download(call, route)),
        )
      else
        portal.get(
          path,
          guarded(route, (call) => view(call, route)),
        )
    }
  })

  function guarded(route: PortalRoute, answer: (call: Call) => Promise<FastifyReply>) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const language = visits.languageOf(request, reply)
      const visit = await visits.readVisit(request, language)
      if (!visit) return goSignIn(request, reply)
      if (visit === 'nowhere') return sendNowhere(reply, language)
      if (!mayUse(route, visit.member)) return sendWrongRole({ request, reply, visit }, route)
      return answer({ request, reply, visit }).catch((error: unknown) => {
        if (error instanceof Failure && isNothing(error)) return sendNothingHere({ request, reply, visit })
        throw error
      })
    }
  }

  async function view({ request, reply, visit }: Call, { show }: PortalView): Promise<FastifyReply> {
    const page = await show(visit)
    if (!page) return sendNothingHere({ request, reply, visit })
    const taken = visits.takeNote(request, running())
    if (taken) reply.header('set-cookie', taken.cookie)
    return send(reply, page, visit, taken?.note)
  }

  async function download({ reply, visit }: Call, route: PortalDownload): Promise<FastifyReply> {
    const { fileName, content } = await route.download(visit)
    const stream = parts.downloads.start(content, visit.member)
    if (!stream) {
      const { away, tooMany } = visit.language.words.trouble
      return sendTrouble(
        undefined,
        reply.status(503).header('retry-after', 60),
        { title: away, text: tooMany },
        visit.language,
      )
    }
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${fileName}"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(stream)
  }

  async function take(call: Call, route: PortalAct): Promise<FastifyReply> {
    const { request, reply, visit } = call
    const { words } = visit.language
    const form = readForm(request.body)
    const isOurs =
      !isFromElsewhere(request, [originOf(request), new URL(running().publicUrl).origin]) &&
      visits.isRightToken(form.get('token') ?? '', visit.session, running(), visit.member.merchantId)
    if (!isOurs)
      return sendTrouble(
        undefined,
        reply.status(403),
        { title: words.trouble.stale, text: words.trouble.staleText },
        visit.language,
      )
    const done = await route.act(visit, form).catch((error: unknown): Done => {
      if (error instanceof Failure && isNothing(error)) throw error
      // What the member can mend is said at the form; the rest is handled as everywhere.
      if (error instanceof KeyError || (error instanceof Failure && httpStatusOf(error.code) < 500))
        return { kind: 'refused', errors: [toFieldError(error)] }
      throw error
    })
    if (done.kind === 'shown_once') return send(reply, done.page, visit)
    if (done.kind === 'go') {
      const note = visits.leaveNote(request, { kind: 'good', text: done.note }, running())
      reply.header('set-cookie', note)
      return redirect(reply, done.to)
    }
    if (done.kind === 'switch') {
      reply.header('set-cookie', visits.shopCookie(done.merchantId))
      return redirect(reply, prefix)
    }
    const errors = done.errors.map(({ field, message }) => ({
      field: field !== undefined && route.fields.includes(field) ? field : undefined,
      message,
    }))
    const page = await route.back({ ...visit, refused: { typed: form, errors } })
    if (!page) return sendNothingHere(call)
    return send(reply.status(422), page, visit, { kind: 'bad', text: words.trouble.refused, errors })
  }

  function send(reply: FastifyReply, page: PortalPage, visit: Visit, note?: Note): FastifyReply {
    return sendPortalPage(reply, page, { visit, ...frame(note) })
  }

  function goSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const isPage = request.method === 'GET' && request.url !== prefix
    const next = isPage ? `?next=${encodeURIComponent(request.url)}` : ''
    reply.header('set-cookie', visits.endSessionCookie(request))
    return redirect(reply, `${pathTo('/sign-in')}${next}`)
  }

  function sendWrongRole({ reply, visit }: Call, { roles = [] }: PortalRoute): FastifyReply {
    const { words } = visit.language
    const text = fillText(words.trouble.roleText, {
      roles: roles.map((role) => words.roles[role]).join(', '),
      role: words.roles[visit.member.role],
    })
    return sendTrouble(undefined, reply.status(403), { title: words.trouble.role, text }, visit.language)
  }

  function sendNothingHere({ reply, visit }: Call): FastifyReply {
    const { notFound, notFoundText } = visit.language.words.trouble
    return sendTrouble(undefined, reply.status(404), { title: notFound, text: notFoundText }, visit.language)
  }

  function sendNowhere(reply: FastifyReply, language: Language): FastifyReply {
    const { words } = language
    return sendTrouble(
      undefined,
      reply.status(403),
      { title: words.title, text: words.signIn.nowhere },
      language,
    )
  }

  function sendTrouble(
    request: FastifyRequest | undefined,
    reply: FastifyReply,
    { title, text }: { title: string; text: string },
    given?: Language,
  ): FastifyReply {
    const language = given ?? (request ? visits.languageOf(request, reply) : undefined)
    if (!language) throw new Error('a page has a language')
    return sendSmallPage(reply, {
      title,
      language,
      ...frame(),
      content: html`<p>${text}</p><p><a class="button" href="${prefix}">${language.words.trouble.toPortal}</a></p>`,
    })
  }
}

/** Of another merchant, or of nobody: the same to the letter. */
function isNothing({ failure }: Failure): boolean {
  return failure === 'not_found' || failure === 'order_not_found'
}
