// Signing in at an identity provider. The browser is sent there and returns with a code, which only the browser that
// started can use. What the provider says about roles is read again at each sign-in.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { redirect } from '../layout.ts'
import type { AccountDoor as Door } from './door.ts'
import type { Call } from './surface.ts'

export const providerPath = '/sign-in/provider'
const callbackPath = `${providerPath}/callback`

export function serveProviderSignIn(listener: FastifyInstance, door: Door): void {
  const { pathTo } = door.surface
  listener.get(
    pathTo(providerPath),
    door.handle((call) => begin(door, call)),
  )
  listener.get(
    pathTo(callbackPath),
    door.handle((call) => finish(door, call)),
  )
}

async function begin(door: Door, call: Call): Promise<FastifyReply> {
  const { request, reply, language } = call
  const { surface } = door
  const provider = surface.provider()
  if (!provider || door.isTooMuch(request)) return refuse(door, call, language.words.signIn.busy)
  const [origin] = surface.originsOf(request)
  const begun = await provider.begin(`${origin}${surface.pathTo(callbackPath)}`)
  if (!begun) return refuse(door, call, language.words.provider.away)
  const flow = { ...begun.flow, next: door.nextOf(request) }
  reply.header('set-cookie', surface.cookies.flow.leave(request, flow))
  return redirect(reply, begun.url)
}

async function finish(door: Door, call: Call): Promise<FastifyReply> {
  const { request, reply, language } = call
  const { surface } = door
  const { away, refused, unknown } = language.words.provider
  const provider = surface.provider()
  const flow = surface.cookies.flow.read(request)
  if (!provider || !flow || door.isTooMuch(request)) return refuse(door, call, refused)
  const [origin] = surface.originsOf(request)
  const outcome = await provider.finish(new URL(request.url, origin), flow)
  if (outcome.kind !== 'proven')
    return refuse(door, call, outcome.kind === 'refused' ? refused : away, outcome.reason)
  const access = await surface.signInAtProvider(outcome.claims, {
    next: flow.next,
    actorOf: (login) => surface.actorOf(request, login),
  })
  if (typeof access === 'string') return refuse(door, call, unknown, access)
  reply.header('set-cookie', surface.cookies.flow.end(request))
  return (await door.open(call, access, 'by the identity provider'))
    ? redirect(reply, flow.next)
    : door.fromBeginning(call)
}

/** A reason is logged. */
function refuse(
  { surface: { cookies, log, name, pathTo } }: Door,
  { request, reply }: Call,
  text: string,
  reason?: string,
): FastifyReply {
  const about = { requestId: request.id, address: request.ip, reason }
  if (reason !== undefined) log.warn(about, `a sign-in to the ${name} by the identity provider failed`)
  reply.header('set-cookie', [cookies.flow.end(request), cookies.flash.leave(request, { kind: 'bad', text })])
  return redirect(reply, pathTo('/sign-in'))
}
