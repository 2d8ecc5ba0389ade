// Whether a form that was sent came from our own page. Two checks that fail apart: where the browser says the request
// comes from, and the token that our page carried.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseNul } from '../../platform/http/nul.ts'
import { refuseMultipart } from './forms/refuse-multipart.ts'

/**
 * Every current browser names the site over https and on localhost (Sec-Fetch-Site). Where it does not, Origin
 * decides; our pages send no referrer, for which browsers write Origin as "null", so that alone is no refusal.
 */
export function isFromElsewhere(request: FastifyRequest, ourOrigins: readonly string[]): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin } = request.headers
  return origin !== undefined && origin !== 'null' && !ourOrigins.includes(origin)
}

/** The listener takes forms, as the text that `readForm` reads. Those with a file are for routes that accept them. */
export function acceptForms(listener: FastifyInstance, { bodyLimit }: { bodyLimit: number }): void {
  refuseMultipart(listener)
  listener.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit },
    (_request, text, done) => done(null, text),
  )
}

export function readForm(body: unknown): URLSearchParams {
  const text = typeof body === 'string' ? body : ''
  refuseNul(text)
  return new URLSearchParams(text)
}

/** The name by which this very request came. */
export function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`
}
