// Checks that a form was sent from our own page, in two independent ways: the browser's information about the origin,
// and the token in our page.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseNul } from '../../platform/http/refuse-nul.ts'
import { refuseMultipart } from './forms/refuse-multipart.ts'

/**
 * All current browsers send Sec-Fetch-Site over https and on localhost. Without it, Origin decides. Our pages send no
 * referrer, for which browsers set Origin to "null", so "null" alone is accepted.
 */
export function isFromElsewhere(request: FastifyRequest, ourOrigins: readonly string[]): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin } = request.headers
  return origin !== undefined && origin !== 'null' && !ourOrigins.includes(origin)
}

/** Lets the listener accept forms, as text for `readForm`. Forms with a file need routes that accept them. */
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
