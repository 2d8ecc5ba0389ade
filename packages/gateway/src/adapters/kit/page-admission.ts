// Limits for pages: home, documentation, sandbox, portal, wallet, checkout, console, assets and missing paths. A rate
// by address, generous because many people may share one, and for unknown addresses a turn once the body has arrived.
// Routes that must always respond, or have limits of their own, set `rateLimit: false`.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdmissionControl } from '../../platform/http/admission/admission-control.ts'
import { sendFailure } from '../../platform/http/failures.ts'
import { html } from './html.ts'
import { sendPage } from './layout.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    rateLimit?: false
  }
}

export function limitPages(listener: FastifyInstance, control: AdmissionControl): void {
  listener.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.rateLimit === false) return
    const admission = control.admit(request.raw)
    const waitMs = admission.takePageRate()
    if (waitMs === 0) return
    return sendTooMany(request, reply, Math.ceil(waitMs / 1_000))
  })
  const turns = new WeakMap<FastifyRequest, () => void>()
  listener.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.rateLimit === false) return
    const admission = control.admit(request.raw)
    const end = await admission.pageTurn()
    if (end) return void turns.set(request, end)
    return sendTooMany(request, reply, 1)
  })
  listener.addHook('onSend', async (request, reply) => {
    turns.get(request)?.()
    // Applies to every limit, because those of checkout, links and wallet come after this one.
    if (reply.statusCode === 429) await control.admit(request.raw).endLate()
  })
}

function sendTooMany(request: FastifyRequest, reply: FastifyReply, retryAfterSeconds: number): FastifyReply {
  const isBrowser = request.headers.accept?.includes('text/html')
  if (!isBrowser) return sendFailure(request, reply, new Failure('too_many_requests', { retryAfterSeconds }))
  return sendPage(reply.status(429).header('retry-after', retryAfterSeconds), {
    title: 'Too many requests',
    content: html`<main>
<h1>Too many requests</h1>
<p>Your network address asked for very many pages in a short time. Wait a few seconds, then load this page again.</p>
</main>`,
  })
}
