// The unsubscribe link of an email: a page that asks, because mail scanners open every link, and the form behind it,
// which a mail program sends with one click (RFC 8058).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type EmailLanguage, emailLanguages } from '../../core/emails/rules/email.ts'
import { wordsOf } from '../../core/emails/rules/texts.ts'
import { type Unsubscribe, type UnsubscribeLink, unsubscribePath } from '../../core/emails/unsubscribe.ts'
import { type Html, html } from './html.ts'
import { sendPage } from './layout.ts'
import { acceptForms } from './requests.ts'

const maxFormBytes = 4 * 1024

export function serveUnsubscribe(
  listener: FastifyInstance,
  /** Throws while the gateway is still starting. */
  running: () => Pick<Unsubscribe, 'isRight' | 'optOut'>,
): void {
  listener.register(async (scope) => {
    acceptForms(scope, { bodyLimit: maxFormBytes })
    // The form's content is in its address.
    scope.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer', bodyLimit: maxFormBytes },
      async () => '',
    )
    scope.get(unsubscribePath, async (request, reply) => {
      const link = linkOf(request)
      if (!running().isRight(link)) return send(reply.status(404), request, nothing)
      const { unsubscribe } = wordsOf[languageOf(request)].frame
      return send(
        reply,
        request,
        html`<p><bdi>${link.email}</bdi></p>
<form method="post" action="${request.url}"><button class="primary">${unsubscribe}</button></form>`,
      )
    })
    scope.post(unsubscribePath, { config: { acceptsMultipart: true } }, async (request, reply) => {
      if (!(await running().optOut(linkOf(request)))) return send(reply.status(404), request, nothing)
      return send(
        reply,
        request,
        html`<p role="status">${wordsOf[languageOf(request)].frame.unsubscribed}</p>`,
      )
    })
  })
}

const nothing = html`<p>This link leads nowhere. It may be incomplete.</p>`

function send(reply: FastifyReply, request: FastifyRequest, content: Html): FastifyReply {
  const tag = languageOf(request)
  const title = wordsOf[tag].frame.unsubscribe
  return sendPage(reply.header('x-robots-tag', 'noindex, nofollow'), {
    title,
    language: { tag, direction: tag === 'ar' ? 'rtl' : 'ltr' },
    content: html`<main class="narrow"><h1>${title}</h1>${content}</main>`,
  })
}

function linkOf(request: FastifyRequest): UnsubscribeLink {
  const given = request.query as Readonly<Record<string, unknown>>
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '')
  return { kind: text('kind'), email: text('email'), token: text('token') }
}

function languageOf(request: FastifyRequest): EmailLanguage {
  const { lang } = request.query as { lang?: unknown }
  return emailLanguages.find((each) => each === lang) ?? 'en'
}
