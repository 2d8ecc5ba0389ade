// Checks the Host header on the admin listener against DNS rebinding: a foreign page may point its name at a private
// address, and only the Host header reveals it. Numeric addresses cannot be rebound.
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
    // A script can set X-Forwarded-Host but not Host. An absolute-form target also names a host, which a proxy may
    // have used.
    const { host = '' } = request.headers
    const { originalUrl: url } = request
    const asked = /^[/*]/.test(url) ? [host] : [host, URL.parse(url)?.host ?? url]
    const other = asked.find((each) => !isKnown(each))
    if (other !== undefined && !isProbe(request.routeOptions.url ?? ''))
      throw new Failure('not_allowed', {
        message: `The admin listener does not accept the host name "${other.slice(0, 100)}". Open it by its address or as localhost, or add the name to ADMIN_NAMES.`,
      })
    done()
  })
}
