// Signing in to the console at an identity provider: the browser is sent there and comes back with a code, which only the
// browser that began can use. What the provider says of roles is believed anew each time.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { originOf } from '../kit/forms/sign-in-cookies.ts'
import { redirect } from '../kit/layout.ts'
import type { ConsoleParts } from './parts.ts'
import { endFlow, leaveFlow, leaveNote, readFlow, sessionCookie } from './visits.ts'

export const providerPath = '/sign-in/provider'
const callbackPath = `${providerPath}/callback`
const rate = { perSecond: 0.5, burst: 20 } as const

export function serveProviderSignIn(
  listener: FastifyInstance,
  parts: ConsoleParts,
  nextOf: (request: FastifyRequest) => string,
): void {
  const { running, clock } = parts
  const tries = new RateLimiter({ rate, clock })

  listener.get(providerPath, async (request, reply) => {
    const { provider } = running()
    if (!provider || tries.take(addressKey(request.ip)) > 0)
      return refuse(request, reply, 'Please try again.')
    const begun = await provider.begin(`${originOf(request)}${callbackPath}`)
    if (!begun)
      return refuse(request, reply, 'Your identity provider does not answer. Try again in a moment.')
    reply.header(
      'set-cookie',
      leaveFlow(request, { ...begun.flow, next: nextOf(request) }, { ...running(), nowMs: clock.now() }),
    )
    return redirect(reply, begun.url)
  })

  listener.get(callbackPath, async (request, reply) => {
    const { provider, sessions } = running()
    const flow = readFlow(request, { ...running(), nowMs: clock.now() })
    if (!provider || !flow || tries.take(addressKey(request.ip)) > 0)
      return refuse(
        request,
        reply,
        'Signing in took too long, or began in another browser. Please try again.',
      )
    const outcome = await provider.finish(new URL(request.url, originOf(request)), flow)
    if (outcome.kind !== 'proven') {
      parts.log.warn(
        { requestId: request.id, address: request.ip, reason: outcome.reason },
        'a sign-in by the identity provider failed',
      )
      return refuse(
        request,
        reply,
        outcome.kind === 'refused'
          ? 'Your identity provider’s answer could not be accepted. Please try again.'
          : 'Your identity provider does not answer. Try again in a moment.',
      )
    }
    const actorOf = (login: string) => `console:${login}@${request.ip}`
    const signIn = await provider.signIn(outcome.claims, actorOf)
    if (signIn.kind !== 'right') {
      parts.log.warn(
        { requestId: request.id, address: request.ip, reason: signIn.kind },
        'nobody may sign in with this identity',
      )
      return refuse(
        request,
        reply,
        'Your identity provider knows you, but you may not work here. Ask an admin to add you with your e-mail address, or for a role.',
      )
    }
    const { access } = signIn
    const token = await sessions.open(access, { actor: actorOf(access.login), address: request.ip })
    if (token === undefined)
      return refuse(request, reply, 'Your access was ended just now. Please try again.')
    reply.header('set-cookie', [endFlow(request), sessionCookie(request, token)])
    return redirect(reply, flow.next)
  })

  function refuse(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
    reply.header('set-cookie', [endFlow(request), leaveNote(request, { kind: 'bad', text }, running())])
    return redirect(reply, '/sign-in')
  }
}
