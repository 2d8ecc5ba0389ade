// The portal over HTTP: one guard before every page and every form. Whoever is not signed in sees the sign-in page; a form
// must come from our own page, bear the token of the session and the shop, and be allowed to the member's role. What is
// not the shop's is answered as what does not exist.
import { Failure, httpStatusOf, KeyError } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FieldError, toFieldError } from '../../actions/read-input.ts'
import { maxLogoBytes } from '../../core/merchants/rules/logo.ts'
import { pageStatusOf } from '../../platform/http/failures.ts'
import { acceptUploads, readSentForm, type SentForm } from '../kit/forms/uploads.ts'
import { html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { acceptForms, isFromElsewhere } from '../kit/requests.ts'
import { serveApply } from './apply.ts'
import { sendPortalPage, sendSmallPage } from './frame.ts'
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
import { portalRoutes } from './route-table.ts'
import { servePortalSignIn } from './sign-in.ts'
import { makeVisits } from './visits.ts'
import type { FieldName } from './words.ts'

/** A public key fits, and a list of callback hosts. */
const maxFormBytes = 32 * 1024
const nonceBytes = 16

interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visit: Visit
}

export function servePortal(listener: FastifyInstance, parts: PortalParts): void {
  const visits = makeVisits(parts)
  const newNonce = () => Buffer.from(parts.random(nonceBytes)).toString('base64url')
  const frame = (note?: Flash) => ({ mode: parts.mode, nonce: newNonce(), note })

  listener.register(async (portal) => {
    acceptForms(portal, { bodyLimit: maxFormBytes })
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
    const door = servePortalSignIn(portal, { parts, visits, frame })
    serveOneTimeLinks(portal, door, { parts, visits })
    if (parts.takesApplications) serveApply(portal, door, parts)
    for (const route of portalRoutes(parts.catalog)) {
      const path = prefix + route.path
      if ('act' in route) serveAct(portal, route)
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

  function serveAct(portal: FastifyInstance, route: PortalAct): void {
    const path = prefix + route.path
    const answer = guarded(route, (call) => take(call, route))
    if (!route.takesFile) return void portal.post(path, answer)
    portal.register(async (files) => {
      acceptUploads(files)
      files.post(path, { config: { acceptsMultipart: true } }, answer)
    })
  }

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
    const flash = visits.flash.read(request)
    if (flash) reply.header('set-cookie', visits.flash.end(request))
    return send(reply, page, visit, flash)
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
    const sent = isFromElsewhere(request, visits.originsOf(request))
      ? undefined
      : await readSentForm(request, {
          isRightToken: (token) => visits.isRightToken(token, visit.session, visit.member.merchantId),
          fileBytes: maxLogoBytes,
        })
    if (!sent)
      return sendTrouble(
        undefined,
        reply.status(403),
        { title: words.trouble.stale, text: words.trouble.staleText },
        visit.language,
      )
    const form = withPictures(sent)
    const tooLarge = [...sent.files].flatMap(([name, { isTooLarge }]) => (isTooLarge ? [name] : []))
    const done = await (tooLarge.length > 0
      ? Promise.resolve<Done>({ kind: 'refused', errors: tooLarge.map((field) => checkField(visit, field)) })
      : route.act(visit, form)
    ).catch((error: unknown): Done => {
      if (error instanceof Failure && isNothing(error)) throw error
      // What the member can mend is said at the form; the rest is handled as everywhere.
      if (error instanceof KeyError || (error instanceof Failure && httpStatusOf(error.code) < 500))
        return { kind: 'refused', errors: [toFieldError(error)] }
      throw error
    })
    if (done.kind === 'shown_once') return send(reply, done.page, visit)
    if (done.kind === 'go') {
      reply.header('set-cookie', visits.flash.leave(request, { kind: 'good', text: done.note }))
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

  function send(reply: FastifyReply, page: PortalPage, visit: Visit, note?: Flash): FastifyReply {
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

/** Files of the portal are small pictures, which actions take as base64. */
function withPictures({ fields, files }: SentForm): URLSearchParams {
  for (const [name, { chunks }] of files) fields.append(name, Buffer.concat(chunks).toString('base64'))
  return fields
}

function checkField({ language: { words } }: Visit, field: string): FieldError {
  const name = words.fields[field as FieldName] ?? field
  return { field, message: fillText(words.trouble.invalid, { field: name }) }
}

/** Of another merchant, or of nobody: the same to the letter. */
function isNothing({ failure }: Failure): boolean {
  return failure === 'not_found' || failure === 'order_not_found'
}
