// Signing in at an identity provider. The browser is sent there and returns with a code, which only the browser that
// started can use. What the provider says about roles is read again at each sign-in.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { redirect } from '../layout.ts'
import type { Door } from './door.ts'
import type { Call as CallWith, SignInSurface } from './surface.ts'
import type { AccountWords } from './words.ts'

export const providerPath = '/sign-in/provider'
const callbackPath = `${providerPath}/callback`

export function serveProviderSignIn<Words extends AccountWords>(
  listener: FastifyInstance,
  door: Door<Words>,
  surface: SignInSurface<Words>,
): void {
  type Call = CallWith<Words>
  const { cookies, pathTo } = surface

  listener.get(
    pathTo(providerPath),
    door.handle(async (call) => {
      const { request, reply, language } = call
      const provider = surface.provider()
      if (!provider || door.isTooMuch(request)) return refuse(call, language.words.signIn.busy)
      const [origin] = surface.originsOf(request)
      const begun = await provider.begin(`${origin}${pathTo(callbackPath)}`)
      if (!begun) return refuse(call, language.words.provider.away)
      const flow = { ...begun.flow, next: door.nextOf(request) }
      reply.header('set-cookie', cookies.flow.leave(request, flow))
      return redirect(reply, begun.url)
    }),
  )

  listener.get(
    pathTo(callbackPath),
    door.handle(async (call) => {
      const { request, reply, language } = call
      const { away, refused, unknown } = language.words.provider
      const provider = surface.provider()
      const flow = cookies.flow.read(request)
      if (!provider || !flow || door.isTooMuch(request)) return refuse(call, refused)
      const [origin] = surface.originsOf(request)
      const outcome = await provider.finish(new URL(request.url, origin), flow)
      if (outcome.kind !== 'proven')
        return refuse(call, outcome.kind === 'refused' ? refused : away, outcome.reason)
      const access = await surface.signInAtProvider(outcome.claims, {
        next: flow.next,
        actorOf: (login) => surface.actorOf(request, login),
      })
      if (typeof access === 'string') return refuse(call, unknown, access)
      reply.header('set-cookie', cookies.flow.end(request))
      return (await door.open(call, access, 'by the identity provider'))
        ? redirect(reply, flow.next)
        : door.fromBeginning(call)
    }),
  )

  /** A reason is logged. */
  function refuse({ request, reply }: Call, text: string, reason?: string): FastifyReply {
    const about = { requestId: request.id, address: request.ip, reason }
    if (reason !== undefined)
      surface.log.warn(about, `a sign-in to the ${surface.name} by the identity provider failed`)
    reply.header('set-cookie', [
      cookies.flow.end(request),
      cookies.flash.leave(request, { kind: 'bad', text }),
    ])
    return redirect(reply, pathTo('/sign-in'))
  }
}
