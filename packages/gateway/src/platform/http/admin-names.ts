// The names that the admin listener answers to. A page of another site can have its own name lead to a private address
// (DNS rebinding): the operator's browser then lets that page read what the listener answers, and the one thing that
// gives it away is its name in the Host header. An address in numbers cannot be led elsewhere.
import { isIP } from 'node:net'
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import { isProbe } from './health.ts'

export function refuseOtherNames(listener: FastifyInstance, names: readonly string[]): void {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  const isKnown = (host: string) => {
    const name = URL.parse(`http://${host}`)?.hostname ?? ''
    return known.has(name) || isIP(name.replace(/^\[|\]$/g, '')) > 0
  }
  listener.addHook('onRequest', (request, _reply, done) => {
    // As it was sent: a script can claim any X-Forwarded-Host, but never another Host. A target in absolute form names
    // a host as well, and a proxy in front may have gone by that one.
    const { host = '' } = request.headers
    const { originalUrl: url } = request
    const asked = /^[/*]/.test(url) ? [host] : [host, URL.parse(url)?.host ?? url]
    const other = asked.find((each) => !isKnown(each))
    if (other !== undefined && !isProbe(request.routeOptions.url ?? ''))
      throw new Failure('not_allowed', {
        message: `The admin listener does not answer to the name "${other.slice(0, 100)}". Open it by its address or as localhost, or add the name to ADMIN_NAMES.`,
      })
    done()
  })
}
