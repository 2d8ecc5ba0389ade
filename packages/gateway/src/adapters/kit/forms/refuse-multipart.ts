// Rejects multipart/form-data by its headers, before session and body are read. Our pages never send forms without a
// file this way, and parsing is expensive.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendFailure } from '../../../platform/http/failures.ts'
import { html } from '../html.ts'
import { sendPage } from '../layout.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has a content type parser for multipart/form-data. */
    acceptsMultipart?: true
  }
}

export const multipartType = /^multipart\/form-data/i

/** All routes of the listener except those with `acceptsMultipart`. */
export function refuseMultipart(listener: FastifyInstance): void {
  listener.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.acceptsMultipart) return
    if (multipartType.test(request.headers['content-type'] ?? '')) return sendNoFiles(request, reply)
  })
}

function sendNoFiles(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const title = 'This form does not accept files'
  if (!request.headers.accept?.includes('text/html'))
    return sendFailure(
      request,
      reply,
      new Failure('not_json', { message: `${title}. Send it as application/x-www-form-urlencoded.` }),
    )
  return sendPage(reply.status(415), {
    title,
    content: html`<main>
<h1>${title}</h1>
<p>Nothing was changed. Open the page again and send the form from there.</p>
</main>`,
  })
}
