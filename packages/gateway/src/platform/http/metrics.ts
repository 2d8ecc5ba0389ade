// GET /metrics on the admin listener, for Prometheus. It tells how much business is done, so it is never public, and
// live asks for a token.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { expositionType, writeExposition } from '../observability/metrics/exposition.ts'
import type { Snapshot } from '../observability/metrics/registry.ts'

export interface MetricsParts {
  readonly read: () => Promise<Snapshot>
  readonly token: string | undefined
  /** Without a token nobody may read; otherwise whoever reaches the admin listener may. */
  readonly isTokenNeeded: boolean
}

export function serveMetrics(listener: FastifyInstance, { read, token, isTokenNeeded }: MetricsParts): void {
  listener.get('/metrics', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    if (token === undefined && isTokenNeeded) {
      return reply
        .status(403)
        .type('text/plain; charset=utf-8')
        .send('In live, metrics are served with a token alone: set METRICS_TOKEN and restart.\n')
    }
    if (token !== undefined && !isSame(request.headers.authorization ?? '', `Bearer ${token}`)) {
      return reply
        .status(401)
        .header('www-authenticate', 'Bearer')
        .type('text/plain; charset=utf-8')
        .send('Send the token of METRICS_TOKEN as "Authorization: Bearer …".\n')
    }
    return reply.type(expositionType).send(writeExposition(await read()))
  })
}

/** By their hashes, which have one length, so that the time tells nothing. */
function isSame(one: string, another: string): boolean {
  const [a = Buffer.alloc(0), b = Buffer.alloc(1)] = [one, another].map((text) =>
    createHash('sha256').update(text).digest(),
  )
  return timingSafeEqual(a, b)
}
