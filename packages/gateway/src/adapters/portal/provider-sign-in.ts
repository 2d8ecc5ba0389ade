// Signing in to the portal at an identity provider. Whoever has no account yet comes by the page of their invitation, to
// which the way leads back.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { redirect } from '../kit/layout.ts'
import type { Call, Door, DoorParts } from './door.ts'
import { pathTo } from './portal.ts'
import { actorOf, nextOf } from './visits.ts'

export const providerPath = '/sign-in/provider'
const callbackPath = `${providerPath}/callback`

export function serveProviderSignIn(
  listener: FastifyInstance,
  door: Door,
  { parts, visits }: DoorParts,
): void {
  const { running, clock } = parts

  listener.get(
    pathTo(providerPath),
    door.handle(async (call) => {
      const { request, reply, language } = call
      const { provider } = running()
      if (!provider || door.isTooMuch(request)) return refuse(call, language.words.signIn.busy)
      const begun = await provider.begin(urlOf(callbackPath))
      if (!begun) return refuse(call, language.words.provider.away)
      const flow = { ...begun.flow, next: nextOf(request) }
      reply.header('set-cookie', visits.leaveFlow(request, flow, { ...running(), nowMs: clock.now() }))
      return redirect(reply, begun.url)
    }),
  )

  listener.get(
    pathTo(callbackPath),
    door.handle(async (call) => {
      const { request, reply, language } = call
      const { away, refused, unknown } = language.words.provider
      const { provider, links } = running()
      const flow = visits.readFlow(request, { ...running(), nowMs: clock.now() })
      if (!provider || !flow || door.isTooMuch(request)) return refuse(call, refused)
      const outcome = await provider.finish(new URL(request.url, running().publicUrl), flow)
      if (outcome.kind !== 'proven') {
        note(call, outcome.reason)
        return refuse(call, outcome.kind === 'refused' ? refused : away)
      }
      const [, token] = /^\/merchant\/join\/([\w-]{43})$/.exec(flow.next) ?? []
      const access = await provider.signIn(outcome.claims, {
        invitation: token === undefined ? undefined : await links.findInvitation(token),
        actorOf: (login) => actorOf(request, login),
      })
      if (!access) {
        note(call, 'unknown')
        return refuse(call, unknown)
      }
      reply.header('set-cookie', visits.endFlow(request))
      return (await door.open(call, access, 'by the identity provider'))
        ? redirect(reply, flow.next)
        : door.fromBeginning(call)
    }),
  )

  const urlOf = (path: string): string => `${running().publicUrl}${pathTo(path)}`

  function note({ request }: Call, reason: string): void {
    const about = { requestId: request.id, address: request.ip, reason }
    parts.log.warn(about, 'a sign-in to the portal by the identity provider failed')
  }

  function refuse({ request, reply }: Call, text: string): FastifyReply {
    reply.header('set-cookie', [
      visits.endFlow(request),
      visits.leaveNote(request, { kind: 'bad', text }, running()),
    ])
    return redirect(reply, pathTo('/sign-in'))
  }
}
