// GET /metrics on the admin listener, for Prometheus. Live mode requires a token, because metrics reveal business
// volumes.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { expositionType, writeExposition } from '../observability/metrics/exposition.ts'
import type { Snapshot } from '../observability/metrics/registry.ts'

export interface MetricsParts {
  readonly read: () => Promise<Snapshot>
  readonly token: string | undefined
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

/** Compares hashes of equal length, so that timing reveals nothing. */
function isSame(one: string, another: string): boolean {
  const [a = Buffer.alloc(0), b = Buffer.alloc(1)] = [one, another].map((text) =>
    createHash('sha256').update(text).digest(),
  )
  return timingSafeEqual(a, b)
}
